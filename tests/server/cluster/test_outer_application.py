"""A forwarded request goes in again at the outermost application that is known, or with the user that was verified."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware, get_access_token
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend, BaseUser, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from askback import Askback, wrap
from askback.stores import SQLiteStore
from examples.workers import staff
from tests.server.forwarding.crew import PATIENCE, Posting, serving, text_of
from tests.server.forwarding.travel import KEYS

pytestmark = pytest.mark.anyio


class Tokens:
    """A token is the name of its bearer; `asked` are all that were verified."""

    def __init__(self) -> None:
        self.bearers, self.asked = {"ada", "bob"}, list[str]()

    async def verify_token(self, token: str) -> AccessToken | None:
        self.asked.append(token)
        return (
            AccessToken(token=token, client_id="app", scopes=["read"], subject=token)
            if token in self.bearers
            else None
        )


def whoami() -> str:
    """The caller, as the SDK tells it."""
    token = get_access_token()
    return f"{token.subject} may {token.scopes}" if token is not None else "nobody"


def mcpserver(store: SQLiteStore) -> Starlette:
    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(whoami)
    Askback(server, keys=KEYS, store=store)
    return server.streamable_http_app()


def fastmcp(store: SQLiteStore) -> Starlette:
    server: FastMCP[Any] = FastMCP("bank")
    server.tool(whoami)
    Askback(server, keys=KEYS, store=store)
    return server.http_app()


def manager(store: SQLiteStore) -> Starlette:
    """A session manager of a low-level server, in an application of the author's own."""
    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(whoami)
    Askback(server, keys=KEYS, store=store)
    lowlevel: Server[Any] = vars(server)["_lowlevel_server"]
    sessions = StreamableHTTPSessionManager(app=lowlevel)
    return Starlette(routes=[Mount("/mcp", sessions.handle_request)], lifespan=lambda _app: sessions.run())


MAKES: dict[str, Callable[[SQLiteStore], Starlette]] = {
    "MCPServer": mcpserver,
    "FastMCP": fastmcp,
    "manager": manager,
}


class Worker(NamedTuple):
    url: str
    tokens: Tokens


def guarded(inner: Starlette, backend: AuthenticationBackend) -> Starlette:
    """An application that authenticates, around the one of a server."""
    return Starlette(
        routes=[Mount("/", RequireAuthMiddleware(inner, []))],
        middleware=[Middleware(AuthenticationMiddleware, backend=backend), Middleware(AuthContextMiddleware)],
        lifespan=inner.router.lifespan_context,
    )


@asynccontextmanager
async def workers(host: str, folder: Path, *, is_wrapped: bool) -> AsyncGenerator[list[Worker]]:
    """Two workers behind an application that authenticates."""
    async with AsyncExitStack() as stack:
        found: list[Worker] = []
        for _ in range(2):
            store = SQLiteStore(folder / "shared.db")
            stack.push_async_callback(store.close)
            tokens = Tokens()
            app: ASGIApp = guarded(MAKES[host](store), BearerAuthBackend(tokens))
            url = await stack.enter_async_context(serving(wrap(app) if is_wrapped else app))
            found.append(Worker(url.replace("/mcp", "/mcp/") if host == "manager" else url, tokens))
        yield found


@pytest.fixture
async def http() -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(timeout=PATIENCE) as client:
        yield client


@pytest.mark.parametrize("host", MAKES)
async def test_through_a_wrapped_application_a_forwarded_request_is_verified_again(
    host: str, tmp_path: Path, http: httpx2.AsyncClient
):
    async with workers(host, tmp_path, is_wrapped=True) as (first, second):
        ada = Posting(http, authorization="Bearer ada")
        await ada.begin(first.url)
        first.tokens.asked.clear()
        assert text_of(await ada.call(second.url, "whoami")) == "ada may ['read']"
        assert first.tokens.asked == second.tokens.asked == ["ada"]
        first.tokens.bearers.remove("ada")
        assert (await ada.call(second.url, "whoami")).status_code == 401


@pytest.mark.parametrize("host", MAKES)
async def test_without_wrap_a_tool_sees_the_user_whom_the_other_worker_verified(
    host: str, tmp_path: Path, http: httpx2.AsyncClient
):
    async with workers(host, tmp_path, is_wrapped=False) as (first, second):
        ada = Posting(http, authorization="Bearer ada")
        await ada.begin(first.url)
        first.tokens.asked.clear()
        assert text_of(await ada.call(second.url, "whoami")) == "ada may ['read']"
        assert (first.tokens.asked, second.tokens.asked) == ([], ["ada"])


@pytest.mark.parametrize("is_wrapped", [True, False])
async def test_who_is_not_let_in_gets_nowhere(is_wrapped: bool, tmp_path: Path, http: httpx2.AsyncClient):
    async with workers("MCPServer", tmp_path, is_wrapped=is_wrapped) as (first, second):
        ada = Posting(http, authorization="Bearer ada")
        await ada.begin(first.url)
        stolen = {"mcp-session-id": ada.headers["mcp-session-id"]}
        statuses = [
            (await Posting(http, **headers, **stolen).call(worker.url, "whoami")).status_code
            for headers in ({}, {"authorization": "Bearer eve"}, {"authorization": "Bearer bob"})
            for worker in (first, second)
        ]
    assert statuses == [401, 401, 401, 401, 404, 404]


class Guest(SimpleUser):
    """A user of a class that no other worker could make."""


class Backend(AuthenticationBackend):
    """Lets everybody in, as a user of the given class."""

    def __init__(self, user: type[SimpleUser]) -> None:
        self._user = user

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser]:
        return AuthCredentials(["guest"]), self._user(conn.headers["x-name"])


def named(user: type[SimpleUser], store: SQLiteStore, *, is_wrapped: bool) -> ASGIApp:
    """An application in which a tool says the name of its user, and what the application around it has noted."""
    server: FastMCP[Any] = FastMCP("bank")

    @server.tool
    def name() -> str:
        from fastmcp.server.dependencies import get_http_request

        request = get_http_request()
        return f"{request.user.display_name} {request.auth.scopes} {getattr(request.state, 'note', None)}"

    Askback(server, keys=KEYS, store=store)
    inner = server.http_app()
    outer = Starlette(
        routes=[Mount("/", Noting(inner))],
        middleware=[Middleware(AuthenticationMiddleware, backend=Backend(user))],
        lifespan=inner.router.lifespan_context,
    )
    return wrap(outer) if is_wrapped else outer


class Noting:
    """Notes in the state of each request whose it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["note"] = f"for {scope['user'].display_name}"
        await self._app(scope, receive, send)


@asynccontextmanager
async def two_named(user: type[SimpleUser], folder: Path, *, is_wrapped: bool) -> AsyncGenerator[list[str]]:
    async with AsyncExitStack() as stack:
        urls: list[str] = []
        for _ in range(2):
            store = SQLiteStore(folder / "shared.db")
            stack.push_async_callback(store.close)
            urls.append(await stack.enter_async_context(serving(named(user, store, is_wrapped=is_wrapped))))
        yield urls


async def test_a_user_with_a_name_alone_travels_too_and_no_state_of_the_request_that_began(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with two_named(SimpleUser, tmp_path, is_wrapped=False) as (first, second):
        client = Posting(http, **{"x-name": "Ada"})
        await client.begin(first)
        client.headers["x-name"] = "Bob"
        assert text_of(await client.call(first, "name")) == "Bob ['guest'] for Bob"
        assert text_of(await client.call(second, "name")) == "Bob ['guest'] None"


async def test_a_user_of_another_class_needs_wrap(
    tmp_path: Path, http: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
):
    async with two_named(Guest, tmp_path, is_wrapped=False) as (first, second):
        client = Posting(http, **{"x-name": "Ada"})
        await client.begin(first)
        refused = await client.call(second, "name")
        assert refused.status_code == 503 and "cannot pass it on" in refused.text
        assert "test_outer_application.Guest" in caplog.text and "app = askback.wrap(app)" in caplog.text
    async with two_named(Guest, tmp_path, is_wrapped=True) as (first, second):
        client = Posting(http, **{"x-name": "Ada"})
        await client.begin(first)
        assert text_of(await client.call(second, "name")) == "Ada ['guest'] for Ada"


async def test_the_state_of_the_lifespan_is_there_for_forwarded_requests(
    tmp_path: Path, http: httpx2.AsyncClient
):
    @asynccontextmanager
    async def lifespan(inner: Starlette) -> AsyncGenerator[dict[str, Any]]:
        async with inner.router.lifespan_context(inner):
            yield {"note": "from the lifespan"}

    async with AsyncExitStack() as stack:
        urls: list[str] = []
        for _ in range(2):
            store = SQLiteStore(tmp_path / "shared.db")
            stack.push_async_callback(store.close)
            server: FastMCP[Any] = FastMCP("bank")

            @server.tool
            def note() -> str:
                from fastmcp.server.dependencies import get_http_request

                return get_http_request().state.note

            Askback(server, keys=KEYS, store=store)
            inner = server.http_app()
            outer = Starlette(routes=[Mount("/", inner)], lifespan=lambda _app, inner=inner: lifespan(inner))
            urls.append(await stack.enter_async_context(serving(wrap(outer))))
        client = Posting(http)
        await client.begin(urls[0])
        assert text_of(await client.call(urls[1], "note")) == "from the lifespan"


async def test_the_example_with_a_sign_in_of_its_own_lets_employees_in(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with AsyncExitStack() as stack:
        first, second = [
            (
                await stack.enter_async_context(
                    serving(staff.make_app(KEYS, f"sqlite:///{tmp_path}/shared.db"))
                )
            ).replace("/mcp", "/tools/mcp")
            for _ in range(2)
        ]
        ada = Posting(http, authorization="Bearer token-of-ada")
        await ada.begin(first)
        assert text_of(await ada.call(second, "whoami")) == "ada"
        stolen = Posting(http, **{"mcp-session-id": ada.headers["mcp-session-id"]})
        assert (await stolen.call(second, "whoami")).status_code == 400
