"""Connecting somebody with a provider: consent here, sign-in there, and back; the same person at each step (R86)."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.errors import ProviderUnavailable
from askback.oauth.connector import Connector
from askback.oauth.exchange import Refused
from askback.oauth.metadata import IssuerMismatch, require_issuer
from askback.pages.flows import LASTS, Flows, answer_in
from askback.pages.reception import Guest, Reception
from askback.visits import Ending, Failed, Settled, TurnedDown, Visiting, digest_of

logger = logging.getLogger("askback")

_UNDER_WAY = "askback/under way"


class Connecting:
    """One callback for each provider, so that an answer cannot be taken for another's (T22)."""

    def __init__(self, reception: Reception, flows: Flows) -> None:
        self._reception, self._flows = reception, flows
        self._site, self._renderer = reception.site, reception.renderer

    @property
    def routes(self) -> list[Route]:
        return [Route("/callback/{provider}", self._return, methods=["GET"])]

    async def page(self, visiting: Visiting, **shown: Any) -> Response:
        """What is asked for, and of whom; if they are on their way, that too."""
        connector = self._connector(visiting.about["provider"])
        try:
            metadata = await connector.metadata()
        except ProviderUnavailable as error:
            logger.warning("nobody can be connected: %s", error)
            return self._renderer.page("unavailable.html", 503)
        parts = urlsplit(metadata.authorization_endpoint)
        under_way = await self._site.store.get(_UNDER_WAY, digest_of(visiting.id))
        return self._renderer.page(
            "connect.html",
            may_go_to=[f"{parts.scheme}://{parts.netloc}"],
            provider=connector.title,
            host=parts.netloc,
            is_under_way=under_way is not None,
            **shown,
        )

    async def begin(self, guest: Guest, visiting: Visiting) -> Response:
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
        await self._flows.keep("connect", state, guest.session.browser, facts)
        until = self._site.clock() + LASTS
        await self._site.store.put(_UNDER_WAY, digest_of(visiting.id), b"", until=until)
        return RedirectResponse(begun.url, 303)

    async def _return(self, request: Request) -> Response:
        guest = await self._reception.guest(request)
        answer, name = answer_in(request), request.path_params["provider"]
        state = answer.get("state", "")
        facts = await self._flows.look("connect", state, guest.session.browser)
        if facts is None or facts["provider"] != name:
            return self._renderer.stranger(request)
        visiting = await self._site.find(facts["visit"])
        if visiting is None:
            return self._renderer.gone()
        self._reception.require_same(guest, visiting, request)
        connector = self._connector(name)
        try:
            require_issuer(await connector.metadata(), answer.get("iss"))
        except IssuerMismatch as mismatch:
            logger.warning("a callback was refused: %s", mismatch)
            return self._renderer.stranger(request)
        if not await self._flows.finish(state):
            return self._renderer.page("refused.html", 409)
        if await self._site.visits.ended(visiting.id) is None:
            await self._end(visiting, await self._outcome(answer, visiting, connector, facts["verifier"]))
        return RedirectResponse(f"{self._site.base}/visit/{visiting.id}", 303)

    async def _end(self, visiting: Visiting, outcome: Ending) -> None:
        match outcome:
            case Settled():
                if not await self._site.settle(visiting):
                    # A no in another window came first, and stands.
                    await self._connector(visiting.about["provider"]).of(visiting.owner).disconnect()
            case TurnedDown() | Failed():
                await self._site.turn_down(visiting, outcome)

    async def _outcome(
        self, answer: Mapping[str, str], visiting: Visiting, connector: Connector, verifier: str
    ) -> Ending:
        """What the provider's answer comes to. Its own words are not passed on."""
        scopes = visiting.about["scopes"]
        if answer.get("error") == "access_denied":
            return TurnedDown()
        if "code" not in answer:
            return Failed(f"{connector.title} did not sign the person in.")
        try:
            granted = await connector.finish(
                visiting.owner,
                code=answer["code"],
                verifier=verifier,
                redirect_uri=self._redirect_uri(connector),
                scopes=scopes,
            )
        except (ProviderUnavailable, Refused) as error:
            logger.warning("a sign-in did not work out: %s", error)
            return Failed(f"{connector.title} did not sign the person in.")
        missing = [scope for scope in scopes if scope not in granted]
        return Failed(f"{connector.title} did not grant: {', '.join(missing)}.") if missing else Settled()

    def _connector(self, name: str) -> Connector:
        return self._site.connectors[name]

    def _redirect_uri(self, connector: Connector) -> str:
        return f"{self._site.base}/callback/{connector.provider.name}"
