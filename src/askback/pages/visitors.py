"""What every page does first: who is there, what they want to see, and whether it is for them (R20, R21)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from askback.model.owners import NAME, describe_owner_claims
from askback.model.visit import StoredVisit
from askback.pages.authenticators import Authenticator
from askback.pages.csrf import FIELD, CSRFTokens
from askback.pages.posts import UnreadablePost, fields_of
from askback.pages.renderer import Renderer
from askback.pages.sessions import BrowserSession, BrowserSessions
from askback.pages.site import Site

logger = logging.getLogger("askback")

SIGN_OUT = "/sign-out"

UNLIKE = (
    "Pages(door=...) knows visitors by %s, and the server knows this caller by %s: those are compared, and never the "
    "same, so no visitor will ever be the caller. Return %s from the function at the door."
)
RETURN = {
    True: "the name that Askback(caller=...) gives to that person",
    False: 'the claims that make a person, such as {"iss": "https://…", "sub": "…"},',
}


class PageDenied(Exception):
    """Somebody is answered at the door."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__()


class WrongVisitor(PageDenied):
    """Somebody is, whom this visit is not for."""

    def __init__(self, response: Response, visiting: StoredVisit, owner: str) -> None:
        self.visiting, self.owner = visiting, owner
        super().__init__(response)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who was let in."""

    owner: str
    session: BrowserSession


class VisitorGate:
    """Lets people in, or turns them away."""

    def __init__(
        self,
        site: Site,
        door: Authenticator,
        *,
        sessions: BrowserSessions,
        forgery: CSRFTokens,
        renderer: Renderer,
    ) -> None:
        self.site, self.door, self.renderer = site, door, renderer
        self._sessions, self._forgery = sessions, forgery
        self._has_told = False

    async def guest(self, request: Request) -> Visitor:
        """Whoever is at the door, if it knows them."""
        owner = await self.door.visitor(request)
        if owner is None:
            raise PageDenied(await self.door.come_in(request))
        session = self._sessions.read(request) or BrowserSession.new()
        return Visitor(owner, session)

    async def guest_of(self, request: Request) -> tuple[Visitor, StoredVisit]:
        """The one that the visit is for. Anybody else learns nothing of it."""
        guest = await self.guest(request)
        visiting = await self.site.find(request.path_params["id"])
        if visiting is None:
            raise PageDenied(self.renderer.gone())
        self.require_same(guest, visiting, request)
        return guest, visiting

    def require_same(self, guest: Visitor, visiting: StoredVisit, request: Request) -> None:
        """Whoever finishes is whoever was asked; looked at again at every step (T01)."""
        if guest.owner != visiting.owner:
            logger.warning("somebody else was at the door of a visit, and was turned away")
            self._tell_unlike(describe_owner_claims(guest.owner), describe_owner_claims(visiting.owner))
            raise WrongVisitor(self.stranger(request), visiting, guest.owner)

    def _tell_unlike(self, visitor: str, caller: str) -> None:
        """Once: at such a door nobody will ever be the caller."""
        if visitor == caller or self._has_told:
            return
        self._has_told = True
        logger.warning(UNLIKE, visitor, caller, RETURN[caller == NAME])

    def stranger(self, request: Request) -> Response:
        """For whoever a page is not for. Who has signed in may do so as somebody else, whatever the page was."""
        session = self._sessions.read(request)
        if not self.door.signs_in or session is None or session.owner is None:
            return self.renderer.stranger(request)
        token = self._forgery.token(session.browser, session.owner, SIGN_OUT)
        return self.renderer.stranger(request, token=token)

    def sign_out(self, response: Response) -> Response:
        """Nobody is known here any more, and the next sign-in asks who it is."""
        self._sessions.write(response, BrowserSession.new(asks_who=True))
        return response

    async def posted(self, request: Request, guest: Visitor) -> Mapping[str, str]:
        """What was typed, if it was typed on a page of ours, by this guest, in this browser."""
        self._require(self._forgery.objection_to_headers(request))
        try:
            fields = await fields_of(request)
        except UnreadablePost as unreadable:
            logger.warning("a post was refused: %s", unreadable)
            raise PageDenied(self.renderer.refused(unreadable.status, unreadable.why)) from unreadable
        token, browser, page = fields.get(FIELD, ""), guest.session.browser, request.scope["path"]
        self._require(self._forgery.objection_to_token(token, browser, guest.owner, page))
        return fields

    def _require(self, objection: str | None) -> None:
        if objection is not None:
            logger.warning("a post was refused: %s", objection)
            raise PageDenied(self.renderer.refused(403))

    def token(self, request: Request, guest: Visitor) -> str:
        """For the form on this page."""
        return self._forgery.token(guest.session.browser, guest.owner, request.scope["path"])

    def with_session(self, response: Response, guest: Visitor) -> Response:
        """So that the browser can be told from others when it posts."""
        self._sessions.write(response, guest.session)
        return response
