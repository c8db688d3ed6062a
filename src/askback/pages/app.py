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
from askback.pages.connecting import Connecting
from askback.pages.doors import ByFunction, ByLink, Door, OnThisMachine
from askback.pages.errands import Errands
from askback.pages.flows import Flows
from askback.pages.forgery import Forgery
from askback.pages.headers import Guarded
from askback.pages.keeping import KeptPage
from askback.pages.launches import OneLaunch
from askback.pages.reception import NotTheOne, Reception, Turned
from askback.pages.rendering import Renderer
from askback.pages.sessions import LASTS, Sessions
from askback.pages.settings import ROOT, Pages, SignIn
from askback.pages.signing_in import ByOpenID
from askback.pages.signing_out import SignOutPage
from askback.pages.site import Site
from askback.pages.texts import line
from askback.pages.visiting import VisitPage

logger = logging.getLogger("askback")

NO_PAGE = "a page was asked for at %s, where none is; pages are expected below %s"

MOST_PATH = 200
"""Characters of a path below the root: ids have 43, and names of providers at most 50."""

NOWHERE = "/"

MOST_WORD = 20
"""Characters of what is a name in a path; more may be an id."""

OTHER_NAME = "These pages answer to the address in their own links, and to no other name."


def make_app(site: Site, pages: Pages) -> ASGIApp:
    """For visitors from outside."""
    sessions = Sessions(site.base, site.key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    app = _app(site, _door(site, pages, sessions, renderer), sessions, renderer, site.key)
    logger.info("pages at %s", site.base)
    return Guarded(app, is_secure=site.is_secure)


def make_local_app(site: Site, *, owners: Collection[str]) -> ASGIApp:
    """For whoever sits at this machine, among these callers; its cookies end with this launch (R92)."""
    key = token_bytes(32)
    sessions = Sessions(site.base, key, clock=site.clock, path=urlsplit(site.base).path)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    door = OnThisMachine(
        base=site.base,
        sessions=sessions,
        find=site.find,
        renderer=renderer,
        store=site.store,
        owners=owners,
    )
    app = OneLaunch(_app(site, door, sessions, renderer, key), site, flows=_flows(site), owners=owners)
    return Guarded(OwnHost(app, urlsplit(site.base).netloc), is_secure=site.is_secure)


def _flows(site: Site) -> Flows:
    return Flows(site.store, base=site.base, clock=site.clock)


def _door(site: Site, pages: Pages, sessions: Sessions, renderer: Renderer) -> Door:
    match pages.door:
        case None:
            return ByLink(base=site.base, sessions=sessions, find=site.find, renderer=renderer)
        case SignIn() as sign_in:
            return ByOpenID(
                sign_in,
                pages=pages,
                base=site.base,
                sessions=sessions,
                errands=Errands(site.base, site.key, clock=site.clock),
                store=site.store,
                renderer=renderer,
                clock=site.clock,
            )
        case ask:
            return ByFunction(ask, pages=pages, renderer=renderer)


def _app(site: Site, door: Door, sessions: Sessions, renderer: Renderer, key: bytes) -> ASGIApp:
    forgery = Forgery(origin=site.origin, base=site.base, key=key, clock=site.clock, lasts=LASTS)
    reception = Reception(site, door, sessions=sessions, forgery=forgery, renderer=renderer)
    connecting = Connecting(reception, _flows(site))

    async def turned(_: Request, error: Exception) -> Response:
        assert isinstance(error, Turned)
        if isinstance(error, NotTheOne):
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
            *KeptPage(reception).routes,
            *SignOutPage(reception).routes,
            *door.routes,
            *renderer.routes,
        ],
        exception_handlers={
            Turned: turned,
            AskbackError: unable,
            ClientDisconnect: left,
            HTTPException: missing,
            Exception: broken,
        },
    )
    # It would lead to wherever the Host header says (T06).
    app.router.redirect_slashes = False
    return Rooted(app)


def _without_ids(path: str) -> str:
    """For a log."""
    return "/".join(line(part) if len(part) <= MOST_WORD else "…" for part in path.split("/"))


class Rooted:
    """Takes paths from where the pages begin: whoever mounts them, and proxies, have their own ideas of the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "path" not in scope:
            await self._app(scope, receive, send)
            return
        path = "/" + scope["path"].rpartition(f"{ROOT}/")[2].lstrip("/")
        path = path if len(path) <= MOST_PATH else NOWHERE
        await self._app({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, send)


class OwnHost:
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
