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
from askback.pages.flows import Flows
from askback.pages.forgery import Forgery
from askback.pages.headers import Guarded
from askback.pages.keeping import KeptPage
from askback.pages.reception import Reception, Turned
from askback.pages.rendering import Renderer
from askback.pages.sessions import LASTS, Sessions
from askback.pages.settings import ROOT, Pages, SignIn
from askback.pages.signing_in import ByOpenID
from askback.pages.site import Site
from askback.pages.visiting import VisitPage

logger = logging.getLogger("askback")

OTHER_NAME = "These pages answer to the address in their own links, and to no other name."


def make_app(site: Site, pages: Pages) -> ASGIApp:
    """For visitors from outside."""
    sessions = Sessions(site.base, site.key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    app = _app(site, _door(site, pages, sessions, renderer), sessions, renderer, site.key)
    return Guarded(app, is_secure=site.is_secure)


def make_local_app(site: Site, *, owners: Collection[str]) -> ASGIApp:
    """For whoever sits at this machine, among these callers; its cookies end with this launch (R92)."""
    key = token_bytes(32)
    sessions = Sessions(site.base, key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    door = OnThisMachine(
        base=site.base,
        sessions=sessions,
        find=site.find,
        renderer=renderer,
        store=site.store,
        owners=owners,
    )
    app = OwnHost(_app(site, door, sessions, renderer, key), urlsplit(site.base).netloc)
    return Guarded(app, is_secure=site.is_secure)


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
                flows=Flows(site.store, clock=site.clock),
                renderer=renderer,
                clock=site.clock,
            )
        case ask:
            return ByFunction(ask, pages=pages, renderer=renderer)


def _app(site: Site, door: Door, sessions: Sessions, renderer: Renderer, key: bytes) -> ASGIApp:
    forgery = Forgery(origin=site.origin, base=site.base, key=key, clock=site.clock, lasts=LASTS)
    reception = Reception(site, door, sessions=sessions, forgery=forgery, renderer=renderer)
    connecting = Connecting(reception, Flows(site.store, clock=site.clock))

    async def turned(_: Request, error: Exception) -> Response:
        assert isinstance(error, Turned)
        return error.response

    async def unable(request: Request, error: Exception) -> Response:
        logger.error("a page could not be served: %s", error)
        return renderer.unavailable(request)

    async def broken(request: Request, error: Exception) -> Response:
        return renderer.unavailable(request, 500)  # Starlette raises it again, for the log

    async def missing(_: Request, __: Exception) -> Response:
        return renderer.gone()

    async def left(_: Request, __: Exception) -> Response:
        return renderer.refused(400)  # for nobody: they went away in the middle of a post

    app = Starlette(
        routes=[
            *VisitPage(reception, connecting).routes,
            *connecting.routes,
            *KeptPage(reception).routes,
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


class Rooted:
    """Takes paths from where the pages begin: whoever mounts them, and proxies, have their own ideas of the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "path" not in scope:
            await self._app(scope, receive, send)
            return
        path = "/" + scope["path"].rpartition(f"{ROOT}/")[2].lstrip("/")
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
