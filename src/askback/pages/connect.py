"""Connecting somebody with a provider: consent here, sign-in there, and back; the same person at each step (R86)."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.errors import ProviderUnavailable, VisitUnknown
from askback.model.store import Granted
from askback.model.visit import StoredVisit, VisitAborted, VisitDeclined
from askback.oauth.connector import Connector, MissingScopes
from askback.oauth.exchange import TokenRequestRejected
from askback.oauth.metadata import IssuerMismatch, require_issuer
from askback.pages.headers import origin_of
from askback.pages.oauth_states import LASTS, OAuthStates, answer_in
from askback.pages.visitors import Visitor, VisitorGate
from askback.runtime.visits import digest_of
from askback.vault.vault import ProvisionalEntry

logger = logging.getLogger("askback")

_UNDER_WAY = "askback/under way"


class ConnectPage:
    """One callback for each provider, so that an answer cannot be taken for another's (T22)."""

    def __init__(self, reception: VisitorGate, flows: OAuthStates) -> None:
        self._reception, self._flows = reception, flows
        self._site, self._renderer = reception.site, reception.renderer

    @property
    def routes(self) -> list[Route]:
        return [Route("/callback/{provider}", self._return, methods=["GET"])]

    async def page(self, visiting: StoredVisit, **shown: Any) -> Response:
        """What is asked for, and of whom; if they are on their way, that too."""
        connector = self._connector(visiting.about["provider"])
        try:
            metadata = await connector.metadata()
            origin = origin_of(metadata.authorization_endpoint, connector.provider.name)
        except ProviderUnavailable as error:
            logger.warning("nobody can be connected: %s", error)
            return self._renderer.page("unavailable.html", 503)
        under_way = await self._site.store.get(_UNDER_WAY, digest_of(visiting.id))
        return self._renderer.page(
            "connect.html",
            may_go_to=[origin],
            provider=connector.title,
            host=origin.partition("://")[2],
            is_under_way=under_way is not None,
            **shown,
        )

    async def begin(self, guest: Visitor, visiting: StoredVisit) -> Response:
        """The person has agreed: only now is there a state, and they go."""
        connector = self._connector(visiting.about["provider"])
        state, scopes = self._flows.new_state(), visiting.about["scopes"]
        try:
            begun = await connector.begin(
                redirect_uri=self._redirect_uri(connector), scopes=scopes, state=state
            )
        except ProviderUnavailable as error:
            logger.warning("nobody can be connected: %s", error)
            return self._renderer.page("unavailable.html", 503)
        facts = {"visit": visiting.id, "verifier": begun.verifier, "provider": connector.provider.name}
        await self._flows.keep(state, guest.session.browser, facts)
        until = self._site.clock() + LASTS
        await self._site.store.put(_UNDER_WAY, digest_of(visiting.id), b"", until=until)
        return RedirectResponse(begun.url, 303)

    async def _return(self, request: Request) -> Response:
        guest = await self._reception.guest(request)
        answer, name = answer_in(request), request.path_params["provider"]
        state = answer.get("state", "")
        facts = await self._flows.look(state, guest.session.browser)
        if facts is None or facts["provider"] != name:
            return self._reception.stranger(request)
        visiting = await self._site.find(facts["visit"])
        if visiting is None:
            return self._renderer.gone()
        self._reception.require_same(guest, visiting, request)
        connector = self._connector(name)
        try:
            require_issuer(await connector.metadata(), answer.get("iss"))
        except IssuerMismatch as mismatch:
            logger.warning("a callback was refused: %s", mismatch)
            return self._reception.stranger(request)
        if not await self._flows.finish(state):
            return self._renderer.page("refused.html", 409)
        await self._finish(answer, visiting, connector, facts["verifier"])
        return RedirectResponse(f"{self._site.base}/visit/{visiting.id}", 303)

    async def _finish(
        self, answer: Mapping[str, str], visiting: StoredVisit, connector: Connector, verifier: str
    ) -> None:
        """Once for each visit, in however many windows somebody went: the others see how it ended."""
        store = self._site.store
        claim = await store.claim(f"connect:{digest_of(visiting.id)}", until=visiting.until)
        if not isinstance(claim, Granted):
            return
        try:
            if await self._site.visits.ended(visiting.id) is None:
                await self._end(visiting, await self._outcome(answer, visiting, connector, verifier))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await store.release(claim)
            raise
        await store.record(claim, b"")

    async def _end(
        self, visiting: StoredVisit, outcome: ProvisionalEntry | VisitDeclined | VisitAborted
    ) -> None:
        is_settled = False
        with suppress(VisitUnknown):  # its time was over just now
            match outcome:
                case ProvisionalEntry():
                    is_settled = await self._site.settle(visiting)
                case VisitDeclined() | VisitAborted():
                    await self._site.turn_down(visiting, outcome)
        if isinstance(outcome, ProvisionalEntry) and not is_settled:
            # Or a no in another window came first, and stands.
            await self._connector(visiting.about["provider"]).for_owner(visiting.owner).take_back(outcome)

    async def _outcome(
        self, answer: Mapping[str, str], visiting: StoredVisit, connector: Connector, verifier: str
    ) -> ProvisionalEntry | VisitDeclined | VisitAborted:
        """What the provider's answer comes to. Its own words are not passed on."""
        if answer.get("error") == "access_denied":
            return VisitDeclined()
        if "code" not in answer:
            return VisitAborted(f"{connector.title} did not sign the person in.")
        try:
            return await connector.finish(
                visiting.owner,
                code=answer["code"],
                verifier=verifier,
                redirect_uri=self._redirect_uri(connector),
                scopes=visiting.about["scopes"],
            )
        except MissingScopes as granted:
            return VisitAborted(f"{connector.title} did not grant: {', '.join(granted.missing)}.")
        except (ProviderUnavailable, TokenRequestRejected) as error:
            logger.warning("a sign-in did not work out: %s", error)
            return VisitAborted(f"{connector.title} did not sign the person in.")

    def _connector(self, name: str) -> Connector:
        return self._site.connectors[name]

    def _redirect_uri(self, connector: Connector) -> str:
        return f"{self._site.registered}/callback/{connector.provider.name}"
