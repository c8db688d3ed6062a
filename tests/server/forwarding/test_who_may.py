"""Whichever worker a request reaches, it gets what it would get at the one that its session lives with."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from askback import wrap
from askback.stores import SQLiteStore
from tests.server.forwarding.crew import Posting, crew, serving, text_of
from tests.server.forwarding.travel import Host, travel

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("host", ["MCPServer", "FastMCP"])
async def test_a_session_is_its_bearers_alone(host: Host, tmp_path: Path, http: httpx2.AsyncClient):
    async with crew(host, tmp_path, is_protected=True) as (first, second, third):
        ada = Posting(http, authorization="Bearer ada")
        await ada.begin(first)
        assert [text_of(await ada.call(url, "bell")) for url in (second, third)] == ["rung", "rung"]
        stolen = {"mcp-session-id": ada.headers["mcp-session-id"]}
        for thief in (
            Posting(http, authorization="Bearer bob", **stolen),
            Posting(http, authorization="Bearer eve", **stolen),
            Posting(http, **stolen),
        ):
            answers = [await thief.call(url, "bell") for url in (first, second)]
            assert len({(answer.status_code, answer.content) for answer in answers}) == 1
            assert answers[0].status_code in {401, 404}
            assert (await thief.end(third)).status_code == answers[0].status_code
        assert text_of(await ada.call(third, "bell")) == "rung"


class Doorkeeper:
    """Stands before everything, and writes down whom it let in, as what."""

    def __init__(self, app: ASGIApp, *, seen: list[dict[str, Any]]) -> None:
        self._app, self._seen = app, seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            kept = ("method", "path", "root_path", "query_string", "client", "scheme")
            headers = {
                name.decode(): value for name, value in scope["headers"] if name in {b"host", b"x-told"}
            }
            self._seen.append({name: scope[name] for name in kept} | headers)
        await self._app(scope, receive, send)


async def test_whatever_stands_before_a_server_sees_the_request_as_it_came_in(
    tmp_path: Path, http: httpx2.AsyncClient
):
    seen: list[list[dict[str, Any]]] = [[], []]

    def app(place: int) -> Any:
        server: Server[Any] = travel("Server", store=SQLiteStore(tmp_path / "shared.db"))
        inner = server.streamable_http_app()
        outer = Starlette(
            routes=[Mount("/tools", inner)],
            middleware=[Middleware(Doorkeeper, seen=seen[place])],
            lifespan=inner.router.lifespan_context,
        )
        return wrap(outer)

    async with serving(app(0)) as first, serving(app(1)) as second:
        here, there = (url.replace("/mcp", "/tools/mcp?of=mine") for url in (first, second))
        client = Posting(http, **{"x-told": "word for word"})
        await client.begin(here)
        seen[0].clear()
        assert text_of(await client.call(there, "bell")) == "rung"
    assert seen[0] == seen[1] and len(seen[0]) == 1
    assert seen[0][0]["path"] == "/tools/mcp" and seen[0][0]["x-told"] == b"word for word"
