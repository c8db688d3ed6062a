"""The pages of one address as an application, to be served beside /mcp or on this machine."""

import logging
from collections.abc import Collection
from secrets import token_bytes
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.errors import AskbackError
from askback.model.safe import safe_line
from askback.pages.authenticators import (
    Authenticator,
    FunctionAuthenticator,
    LinkAuthenticator,
    LoopbackAuthenticator,
)
from askback.pages.connect import ConnectPage
from askback.pages.csrf import CSRFTokens
from askback.pages.headers import SecurityHeaders
from askback.pages.launch_path import LaunchPath
from askback.pages.oauth_states import OAuthStates
from askback.pages.renderer import Renderer
from askback.pages.sessions import LASTS, BrowserSessions
from askback.pages.settings import ROOT, Pages, SignIn
from askback.pages.sign_in import OpenIDAuthenticator
from askback.pages.sign_in_attempts import SignInAttempts
from askback.pages.sign_out import SignOutPage
from askback.pages.site import Site
from askback.pages.stored import StoredPage
from askback.pages.visit import VisitPage
from askback.pages.visitors import PageDenied, VisitorGate, WrongVisitor

logger = logging.getLogger("askback")

NO_PAGE = "a page was asked for at %s, where none is; pages are expected below %s"

MAX_PATH = 200
"""Characters of a path below the root: ids have 43, and names of providers at most 50."""

NOWHERE = "/"

MAX_WORD = 20
"""Characters of what is a name in a path; more may be an id."""

OTHER_NAME = "These pages answer to the address in their own links, and to no other name."


def make_app(site: Site, pages: Pages) -> ASGIApp:
    """For visitors from outside."""
    sessions = BrowserSessions(site.base, site.key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    app = _app(site, _door(site, pages, sessions, renderer), sessions, renderer, site.key)
    logger.info("pages at %s", site.base)
    return SecurityHeaders(app, is_secure=site.is_secure)


def make_local_app(site: Site, *, owners: Collection[str]) -> ASGIApp:
    """For whoever sits at this machine, among these callers; its cookies end with this launch (R92)."""
    key = token_bytes(32)
    sessions = BrowserSessions(site.base, key, clock=site.clock, path=urlsplit(site.base).path)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    door = LoopbackAuthenticator(
        base=site.base,
        sessions=sessions,
        find=site.find,
        renderer=renderer,
        store=site.store,
        owners=owners,
    )
    app = LaunchPath(_app(site, door, sessions, renderer, key), site, flows=_flows(site), owners=owners)
    return SecurityHeaders(HostCheck(app, urlsplit(site.base).netloc), is_secure=site.is_secure)


def _flows(site: Site) -> OAuthStates:
    return OAuthStates(site.store, base=site.base, clock=site.clock)


def _door(site: Site, pages: Pages, sessions: BrowserSessions, renderer: Renderer) -> Authenticator:
    match pages.door:
        case None:
            return LinkAuthenticator(base=site.base, sessions=sessions, find=site.find, renderer=renderer)
        case SignIn() as sign_in:
            return OpenIDAuthenticator(
                sign_in,
                pages=pages,
                base=site.base,
                sessions=sessions,
                errands=SignInAttempts(site.base, site.key, clock=site.clock),
                store=site.store,
                renderer=renderer,
                clock=site.clock,
            )
        case ask:
            return FunctionAuthenticator(ask, pages=pages, renderer=renderer)


def _app(
    site: Site, door: Authenticator, sessions: BrowserSessions, renderer: Renderer, key: bytes
) -> ASGIApp:
    forgery = CSRFTokens(origin=site.origin, base=site.base, key=key, clock=site.clock, lasts=LASTS)
    reception = VisitorGate(site, door, sessions=sessions, forgery=forgery, renderer=renderer)
    connecting = ConnectPage(reception, _flows(site))

    async def turned(_: Request, error: Exception) -> Response:
        assert isinstance(error, PageDenied)
        if isinstance(error, WrongVisitor):
            await site.tell_turned_away(error.visiting, error.owner)
        return error.response

    async def unable(request: Request, error: Exception) -> Response:
        logger.error("a page could not be served: %s", error)
        return renderer.unavailable(request)

    async def broken(request: Request, error: Exception) -> Response:
        return renderer.unavailable(request, 500)  # Starlette raises it again, for the log

    async def missing(request: Request, _: Exception) -> Response:
        logger.info(NO_PAGE, _without_ids(request.scope["path"]), site.registered)
        return renderer.gone()

    async def left(_: Request, __: Exception) -> Response:
        return renderer.refused(400)  # for nobody: they went away in the middle of a post

    app = Starlette(
        routes=[
            *VisitPage(reception, connecting).routes,
            *connecting.routes,
            *StoredPage(reception).routes,
            *SignOutPage(reception).routes,
            *door.routes,
            *renderer.routes,
        ],
        exception_handlers={
            PageDenied: turned,
            AskbackError: unable,
            ClientDisconnect: left,
            HTTPException: missing,
            Exception: broken,
        },
    )
    # It would lead to wherever the Host header says (T06).
    app.router.redirect_slashes = False
    return RootPath(app)


def _without_ids(path: str) -> str:
    """For a log."""
    return "/".join(safe_line(part) if len(part) <= MAX_WORD else "…" for part in path.split("/"))


class RootPath:
    """Takes paths from where the pages begin: whoever mounts them, and proxies, have their own ideas of the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "path" not in scope:
            await self._app(scope, receive, send)
            return
        path = "/" + scope["path"].rpartition(f"{ROOT}/")[2].lstrip("/")
        path = path if len(path) <= MAX_PATH else NOWHERE
        await self._app({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, send)


class HostCheck:
    """Answers to its own name alone: a page elsewhere that had its name lead here gets nothing."""

    def __init__(self, app: ASGIApp, authority: str) -> None:
        self._app, self._authority = app, authority.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosts = [value for name, value in scope.get("headers", []) if name == b"host"]
        if scope["type"] != "http":
            return
        if hosts != [self._authority]:
            await PlainTextResponse(OTHER_NAME, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)
