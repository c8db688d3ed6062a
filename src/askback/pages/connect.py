"""Connecting a person with a provider: consent here, sign-in there, and back; the same person at each step (R86)."""

import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from secrets import compare_digest, token_urlsafe
from typing import Any

import anyio
from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.errors import ProviderUnavailable
from askback.model.store import Granted, Store
from askback.model.visit import StoredVisit, VisitAborted, VisitDeclined
from askback.oauth.connector import Connector, MissingScopes
from askback.oauth.exchange import TokenRequestRejected
from askback.oauth.metadata import IssuerMismatch, require_issuer
from askback.pages.headers import origin_of
from askback.pages.requests import provider_answer
from askback.pages.sign_in import STATE_SECONDS
from askback.pages.visitors import Visitor, VisitorGate
from askback.runtime.visits import digest_of
from askback.vault.vault import ProvisionalEntry

logger = logging.getLogger("askback")

UNDER_WAY_OWNER, STATES_OWNER = "askback/under way", "askback/flows"
"""Owners in the store: of visits whose person has gone to a provider, and of the states they were sent with."""

Outcome = ProvisionalEntry | VisitDeclined | VisitAborted


class OAuthStates:
    """What each `state` of a sign-in stands for (R83). It is random, bound to a browser, and valid for ten minutes and
    one use."""

    def __init__(self, store: Store, *, base: str, clock: Callable[[], float]) -> None:
        self._store, self._base, self._clock = store, base, clock

    async def new(self, browser: str, facts: Mapping[str, Any], *, state: str) -> None:
        row, until = to_json([browser, facts]), self._clock() + STATE_SECONDS
        await self._store.put(STATES_OWNER, self._name(state), row, until=until)

    async def find(self, state: str, browser: str) -> Mapping[str, Any] | None:
        """The facts of a state; None for another browser, or if it is over. Changes nothing."""
        row = await self._store.get(STATES_OWNER, self._name(state))
        if row is None:
            return None
        for_browser, facts = from_json(row, cache_strings="none")
        return facts if compare_digest(for_browser.encode(), browser.encode()) else None

    async def is_known(self, state: str) -> bool:
        """Whether it was given to any browser."""
        return await self._store.get(STATES_OWNER, self._name(state)) is not None

    async def spend(self, state: str) -> bool:
        """Whether this is its one use."""
        return await self._store.delete(STATES_OWNER, self._name(state))

    def _name(self, state: str) -> str:
        """A digest with the address, so that a state of another address is not valid here."""
        return sha256(f"{self._base} {state}".encode("utf-8", "surrogatepass")).hexdigest()


class ConnectPage:
    """Each provider has its own callback, so that an answer cannot pass for another provider's (T22)."""

    def __init__(self, gate: VisitorGate, states: OAuthStates) -> None:
        self._gate, self._states = gate, states
        self._site, self._renderer = gate.site, gate.renderer

    @property
    def routes(self) -> list[Route]:
        return [Route("/callback/{provider}", self._return, methods=["GET"])]

    async def page(self, visit: StoredVisit, /, **shown: Any) -> Response:
        """What is asked for, by whom, and whether the person has already gone to the provider."""
        connector = self._connector(visit.about["provider"])
        try:
            metadata = await connector.metadata()
            origin = origin_of(metadata.authorization_endpoint, connector.provider.name)
        except ProviderUnavailable as error:
            return self._unavailable(error)
        under_way = await self._site.store.get(UNDER_WAY_OWNER, digest_of(visit.id))
        return self._renderer.page(
            "connect.html",
            may_go_to=[origin],
            provider=connector.title,
            host=origin.partition("://")[2],
            is_under_way=under_way is not None,
            **shown,
        )

    async def begin(self, visitor: Visitor, visit: StoredVisit) -> Response:
        """Send the person to the provider. They have agreed, and only now a state is made."""
        connector, state = self._connector(visit.about["provider"]), token_urlsafe(32)
        redirect_uri, scopes = self._redirect_uri(connector), visit.about["scopes"]
        try:
            begun = await connector.begin(redirect_uri=redirect_uri, scopes=scopes, state=state)
        except ProviderUnavailable as error:
            return self._unavailable(error)
        facts = {"visit": visit.id, "verifier": begun.verifier, "provider": connector.provider.name}
        await self._states.new(visitor.session.browser, facts, state=state)
        until = self._site.clock() + STATE_SECONDS
        await self._site.store.put(UNDER_WAY_OWNER, digest_of(visit.id), b"", until=until)
        return RedirectResponse(begun.url, 303)

    def _unavailable(self, error: ProviderUnavailable) -> Response:
        logger.warning("nobody can be connected: %s", error)
        return self._renderer.unavailable()

    async def _return(self, request: Request) -> Response:
        visitor = await self._gate.visitor(request)
        answer, name = provider_answer(request), request.path_params["provider"]
        state = answer.get("state", "")
        facts = await self._states.find(state, visitor.session.browser)
        if facts is None or facts["provider"] != name:
            return self._gate.stranger(request)
        visit = await self._site.find(facts["visit"])
        if visit is None:
            return self._renderer.gone()
        self._gate.require_same(visitor, visit, request)
        connector = self._connector(name)
        try:
            require_issuer(await connector.metadata(), answer.get("iss"))
        except IssuerMismatch as mismatch:
            logger.warning("a callback was refused: %s", mismatch)
            return self._gate.stranger(request)
        if not await self._states.spend(state):
            return self._renderer.refused(409)
        await self._finish(answer, visit, connector, facts["verifier"])
        return RedirectResponse(f"{self._site.base}/visit/{visit.id}", 303)

    async def _finish(
        self, answer: Mapping[str, str], visit: StoredVisit, connector: Connector, verifier: str
    ) -> None:
        """Once for each visit, even if the person signed in in several windows: the others show how it ended."""
        store = self._site.store
        claim = await store.claim(f"connect:{digest_of(visit.id)}", until=visit.until)
        if not isinstance(claim, Granted):
            return
        try:
            if await self._site.visits.ended(visit.id) is None:
                await self._end(visit, connector, await self._redeem(answer, visit, connector, verifier))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await store.release(claim)
            raise
        await store.record(claim, b"")

    async def _end(self, visit: StoredVisit, connector: Connector, outcome: Outcome) -> None:
        if not isinstance(outcome, ProvisionalEntry):
            await self._site.decline(visit, outcome)
        elif not await self._site.settle(visit):  # a no in another window came first, or it has expired
            await connector.for_owner(visit.owner).take_back(outcome)

    async def _redeem(
        self, answer: Mapping[str, str], visit: StoredVisit, connector: Connector, verifier: str
    ) -> Outcome:
        """The result of the provider's answer. Its own texts are not passed on."""
        if answer.get("error") == "access_denied":
            return VisitDeclined()
        if "code" not in answer:
            return VisitAborted(f"{connector.title} did not sign the person in.")
        try:
            return await connector.finish(
                visit.owner,
                code=answer["code"],
                verifier=verifier,
                redirect_uri=self._redirect_uri(connector),
                scopes=visit.about["scopes"],
            )
        except MissingScopes as granted:
            return VisitAborted(f"{connector.title} did not grant: {', '.join(granted.missing)}.")
        except (ProviderUnavailable, TokenRequestRejected) as error:
            logger.warning("a sign-in failed: %s", error)
            return VisitAborted(f"{connector.title} did not sign the person in.")

    def _connector(self, name: str) -> Connector:
        return self._site.connectors[name]

    def _redirect_uri(self, connector: Connector) -> str:
        return f"{self._site.registered}/callback/{connector.provider.name}"
