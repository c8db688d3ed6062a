"""The pages of one address as an application, to be served beside /mcp or on this machine."""

import logging
from collections.abc import Collection
from secrets import token_bytes
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
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


def make_app(site: Site, pages: Pages) -> ASGIApp:
    """For visitors from outside."""
    sessions = Sessions(site.base, site.key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    return _app(site, _door(site, pages, sessions, renderer), sessions, renderer, site.key)


def make_local_app(site: Site, *, owners: Collection[str]) -> ASGIApp:
    """For whoever sits at this machine, among these callers; its cookies end with this launch (R92)."""
    key = token_bytes(32)
    sessions = Sessions(site.base, key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    door = OnThisMachine(
        base=site.base,
        sessions=sessions,
        visits=site.visits,
        renderer=renderer,
        store=site.store,
        owners=owners,
    )
    return OwnHost(_app(site, door, sessions, renderer, key), urlsplit(site.base).netloc, renderer)


def _door(site: Site, pages: Pages, sessions: Sessions, renderer: Renderer) -> Door:
    match pages.door:
        case None:
            return ByLink(base=site.base, sessions=sessions, visits=site.visits, renderer=renderer)
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

    async def missing(_: Request, __: Exception) -> Response:
        return renderer.gone()

    app = Starlette(
        routes=[
            *VisitPage(reception, connecting).routes,
            *connecting.routes,
            *KeptPage(reception).routes,
            *door.routes,
            *renderer.routes,
        ],
        exception_handlers={Turned: turned, AskbackError: unable, 404: missing, 405: missing},
    )
    return Guarded(Rooted(app), is_secure=site.is_secure)


class Rooted:
    """Takes paths from where the pages begin: whoever mounts them, and proxies, have their own ideas of the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = "/" + scope["path"].rpartition(f"{ROOT}/")[2].lstrip("/")
        await self._app({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, send)


class OwnHost:
    """Answers to its own name alone: a page elsewhere that had its name lead here gets nothing."""

    def __init__(self, app: ASGIApp, authority: str, renderer: Renderer) -> None:
        self._app, self._authority, self._renderer = app, authority.encode(), renderer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosts = [value for name, value in scope.get("headers", []) if name == b"host"]
        if scope["type"] != "http":
            return
        if hosts != [self._authority]:
            await self._renderer.stranger(Request(scope))(scope, receive, send)
            return
        await self._app(scope, receive, send)
