"""The pages of one address as an ASGI application, to be served beside /mcp or on this machine."""

import logging
from collections.abc import Collection
from dataclasses import replace
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.errors import AskbackError
from askback.model.safe import safe_line
from askback.pages.authenticators import (
    Authenticator,
    FunctionAuthenticator,
    LinkAuthenticator,
    LoopbackAuthenticator,
)
from askback.pages.connect import ConnectPage, OAuthStates
from askback.pages.csrf import CSRFTokens
from askback.pages.headers import SecurityHeaders
from askback.pages.loopback import LaunchPath
from askback.pages.renderer import Renderer
from askback.pages.sessions import BrowserSessions
from askback.pages.settings import ROOT, Pages, SignIn
from askback.pages.sign_in import OpenIDAuthenticator
from askback.pages.site import Site
from askback.pages.stored import SignOutPage, StoredPage
from askback.pages.visit import VisitPage
from askback.pages.visitors import PageDenied, VisitorGate, WrongVisitor

logger = logging.getLogger("askback")

NO_PAGE = "a page was requested at %s, where none is; pages are below %s"

MAX_PATH_LENGTH = 200
"""Characters below the root: ids have 43, and names of providers at most 50."""

MAX_LOGGED_LENGTH = 20
"""Characters of a part of a path that is written into a log: a longer one may be an id."""


def make_app(site: Site, pages: Pages) -> ASGIApp:
    """The pages for visitors from outside."""
    sessions = BrowserSessions(site.base, site.key, clock=site.clock)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    app = _app(site, _authenticator(site, pages, sessions, renderer), sessions, renderer)
    logger.info("pages at %s", site.base)
    return SecurityHeaders(app, is_secure=site.is_secure)


def make_local_app(site: Site, *, owners: Collection[str]) -> ASGIApp:
    """The pages for the person at this machine, who is one of these owners. Its cookies end with this launch (R92)."""
    site = replace(site, key=token_bytes(32))
    sessions = BrowserSessions(site.base, site.key, clock=site.clock, path=urlsplit(site.base).path)
    renderer = Renderer(server=site.server, base=site.base, brand=site.brand)
    authenticator = LoopbackAuthenticator(site, sessions=sessions, renderer=renderer, owners=owners)
    app = LaunchPath(_app(site, authenticator, sessions, renderer), site, states=_states(site), owners=owners)
    return SecurityHeaders(app, is_secure=site.is_secure)


def _states(site: Site) -> OAuthStates:
    return OAuthStates(site.store, base=site.base, clock=site.clock)


def _authenticator(site: Site, pages: Pages, sessions: BrowserSessions, renderer: Renderer) -> Authenticator:
    match pages.door:
        case None:
            return LinkAuthenticator(site, sessions=sessions, renderer=renderer)
        case SignIn() as sign_in:
            return OpenIDAuthenticator(sign_in, site, pages=pages, sessions=sessions, renderer=renderer)
        case ask:
            return FunctionAuthenticator(ask, pages=pages, renderer=renderer)


def _app(site: Site, authenticator: Authenticator, sessions: BrowserSessions, renderer: Renderer) -> ASGIApp:
    csrf = CSRFTokens(origin=site.origin, base=site.base, key=site.key, clock=site.clock)
    gate = VisitorGate(site, authenticator, sessions=sessions, csrf=csrf, renderer=renderer)
    connect = ConnectPage(gate, _states(site))
    app = Starlette(
        routes=[
            *VisitPage(gate, connect).routes,
            *connect.routes,
            *StoredPage(gate).routes,
            *SignOutPage(gate).routes,
            *authenticator.routes,
            *renderer.routes,
        ],
        exception_handlers=_exception_handlers(site, renderer),
    )
    # Starlette would redirect to the host in the Host header (T06).
    app.router.redirect_slashes = False
    return RootPath(app)


def _exception_handlers(site: Site, renderer: Renderer) -> dict[Any, Any]:
    async def deny(_: Request, error: PageDenied) -> Response:
        if isinstance(error, WrongVisitor) and (audit := site.audit()) is not None:
            await audit.record_page_refused(error.visit, owner=error.owner)
        return error.response

    async def report_unavailable(_: Request, error: AskbackError) -> Response:
        logger.error("a page could not be served: %s", error)
        return renderer.unavailable()

    async def report_broken(_: Request, __: Exception) -> Response:
        return renderer.unavailable(500)  # Starlette raises the error again, for the log

    async def report_missing(request: Request, _: HTTPException) -> Response:
        logger.info(NO_PAGE, _without_ids(request.scope["path"]), site.registered)
        return renderer.gone()

    async def end_post(_: Request, __: ClientDisconnect) -> Response:
        return renderer.refused(400)  # the client has gone: nobody reads this

    return {
        PageDenied: deny,
        AskbackError: report_unavailable,
        ClientDisconnect: end_post,
        HTTPException: report_missing,
        Exception: report_broken,
    }


def _without_ids(path: str) -> str:
    return "/".join(safe_line(part) if len(part) <= MAX_LOGGED_LENGTH else "…" for part in path.split("/"))


class RootPath:
    """Cuts off what stands before the root of the pages: mounts and proxies put different things there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "path" in scope:
            path = "/" + scope["path"].rpartition(f"{ROOT}/")[2].lstrip("/")
            path = path if len(path) <= MAX_PATH_LENGTH else "/"
            scope = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self._app(scope, receive, send)
