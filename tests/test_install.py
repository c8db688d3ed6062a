"""Putting Askback into a server: what is checked, and what is said when it cannot be."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server

from askback import Askback
from askback.errors import AuthorError, InstalledTwice, UnsupportedHost

AnyServer = MCPServer[Any] | Server[Any]


@pytest.mark.parametrize("make", [lambda: MCPServer("one"), lambda: Server("one")])
def test_a_second_askback_on_one_server_is_an_authors_error(make: Callable[[], AnyServer]):
    server = make()
    Askback(server)
    with pytest.raises(InstalledTwice, match="'one'"):
        Askback(server)


@pytest.mark.parametrize("thing", [None, "server", object(), MCPServer])
def test_what_is_not_a_server_is_refused_by_name(thing: object):
    with pytest.raises(UnsupportedHost, match="MCPServer and the low-level Server"):
        Askback(cast("AnyServer", thing))


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"timeout": 0}, "timeout=0"),
        ({"think_time": -5}, "think_time=-5"),
        ({"again": -1}, "again=-1"),
        ({"keys": [b"short"]}, "32 bytes"),
        ({"keys": []}, "at least one key"),
        ({"clients_can": ["forms"]}, "'form' and 'url'"),
    ],
)
def test_options_that_make_no_sense_are_refused_with_advice(options: dict[str, Any], advice: str):
    with pytest.raises((AuthorError, ValueError), match=advice):
        Askback(MCPServer("one"), **options)


def test_a_refused_installation_leaves_the_server_as_it_was():
    server: Server[Any] = Server("one")
    before = list(server.middleware)
    with pytest.raises(ValueError, match="32 bytes"):
        Askback(server, keys=[b"short"])
    assert server.middleware == before
    Askback(server)


def test_an_sdk_that_lacks_what_we_rely_on_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(Server, "server_info_stamp")
    with pytest.raises(UnsupportedHost, match="server_info_stamp"):
        Askback(Server("one"))


def test_tracing_stays_outermost_and_the_authors_middleware_inside():
    async def own(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        return await call_next(ctx)

    server: MCPServer[Any] = MCPServer("one", middleware=[own])
    Askback(server)
    names = [getattr(item, "__name__", type(item).__name__) for item in server.middleware]
    assert names == ["OpenTelemetryMiddleware", "RequestStateBoundary", "Middleware", "own"]
