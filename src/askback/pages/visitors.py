"""What every page checks first: who the visitor is, which visit they want, and whether it is theirs (R20, R21)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from askback.model.owners import NAME, describe_owner_claims
from askback.model.visit import StoredVisit
from askback.pages.authenticators import Authenticator
from askback.pages.csrf import FIELD, CSRFTokens
from askback.pages.renderer import Renderer
from askback.pages.requests import UnreadablePost, read_form
from askback.pages.sessions import BrowserSession, BrowserSessions
from askback.pages.site import Site

logger = logging.getLogger("askback")

SIGN_OUT = "/sign-out"

INCOMPARABLE = (
    "Pages(door=...) knows visitors by %s, and the server knows this caller by %s. The two are never equal, so no "
    "visitor will ever be the caller. Return %s from the function at the door."
)
RETURN = {
    True: "the name that Askback(caller=...) gives to that person",
    False: 'the claims that make a person, such as {"iss": "https://…", "sub": "…"},',
}


class PageDenied(Exception):
    """A request is answered before it reaches its page."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__()


class WrongVisitor(PageDenied):
    """A visitor is known, and the visit belongs to another person."""

    def __init__(self, response: Response, visit: StoredVisit, owner: str) -> None:
        self.visit, self.owner = visit, owner
        super().__init__(response)


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person who was let in."""

    owner: str
    session: BrowserSession


class VisitorGate:
    """Lets visitors in, or turns them away."""

    def __init__(
        self,
        site: Site,
        authenticator: Authenticator,
        *,
        sessions: BrowserSessions,
        csrf: CSRFTokens,
        renderer: Renderer,
    ) -> None:
        self.site, self.authenticator, self.renderer = site, authenticator, renderer
        self._sessions, self._csrf = sessions, csrf
        self._has_warned = False

    async def visitor(self, request: Request) -> Visitor:
        """The visitor; raises `PageDenied` if nobody is known yet."""
        owner = await self.authenticator.identify(request)
        if owner is None:
            raise PageDenied(await self.authenticator.admit(request))
        return Visitor(owner, self._sessions.read(request) or BrowserSession.new())

    async def visitor_of(self, request: Request) -> tuple[Visitor, StoredVisit]:
        """The visitor, and the visit of this address if it is theirs. Anybody else learns nothing about it."""
        visitor = await self.visitor(request)
        visit = await self.site.find(request.path_params["id"])
        if visit is None:
            raise PageDenied(self.renderer.gone())
        self.require_same(visitor, visit, request)
        return visitor, visit

    def require_same(self, visitor: Visitor, visit: StoredVisit, request: Request) -> None:
        """Check at every step that the visitor is the person who was asked (T01)."""
        if visitor.owner == visit.owner:
            return
        logger.warning("a visitor was turned away: the visit belongs to another person")
        known, asked = describe_owner_claims(visitor.owner), describe_owner_claims(visit.owner)
        if known != asked and not self._has_warned:
            self._has_warned = True
            logger.warning(INCOMPARABLE, known, asked, RETURN[asked == NAME])
        raise WrongVisitor(self.stranger(request), visit, visitor.owner)

    def stranger(self, request: Request) -> Response:
        """The page for a person whom the wanted page is not for. If they have signed in, they may do so as another."""
        session = self._sessions.read(request)
        if not self.authenticator.signs_in or session is None or session.owner is None:
            return self.renderer.stranger(request)
        token = self._csrf.token(session.browser, session.owner, SIGN_OUT)
        return self.renderer.stranger(request, token=token)

    def sign_out(self, response: Response) -> Response:
        """Give the browser a session without an owner. The next sign-in asks for the account."""
        self._sessions.write(response, BrowserSession.new(asks_who=True))
        return response

    async def read_post(self, request: Request, visitor: Visitor) -> Mapping[str, str]:
        """The fields of a form; raises `PageDenied` unless it was on a page of ours, for this visitor and browser."""
        self._require(self._csrf.objection_to_headers(request))
        try:
            fields = await read_form(request)
        except UnreadablePost as unreadable:
            logger.warning("a post was refused: %s", unreadable)
            raise PageDenied(self.renderer.refused(unreadable.status, unreadable.why)) from unreadable
        token, browser, page = fields.get(FIELD, ""), visitor.session.browser, request.scope["path"]
        self._require(self._csrf.objection_to_token(token, browser, visitor.owner, page))
        return fields

    def _require(self, objection: str | None) -> None:
        if objection is not None:
            logger.warning("a post was refused: %s", objection)
            raise PageDenied(self.renderer.refused(403))

    def token(self, request: Request, visitor: Visitor) -> str:
        """The CSRF token for the form on this page."""
        return self._csrf.token(visitor.session.browser, visitor.owner, request.scope["path"])

    def with_session(self, response: Response, visitor: Visitor) -> Response:
        """The response with the session cookie, by which the browser is recognized when it posts."""
        self._sessions.write(response, visitor.session)
        return response
