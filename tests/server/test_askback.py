"""Putting Askback into a server: what is checked, and what is said when it cannot be."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server

from askback import Askback
from askback.errors import AuthorError, InstalledTwice, UnsupportedHost
from askback.server.hosts import fastmcp as adapter

AnyServer = MCPServer[Any] | Server[Any] | FastMCP[Any]


@pytest.mark.parametrize("make", [lambda: MCPServer("one"), lambda: Server("one"), lambda: FastMCP("one")])
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
        ({"reply_retries": -1}, "reply_retries=-1"),
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


def test_a_refused_installation_leaves_a_fastmcp_server_as_it_was():
    server: FastMCP[Any] = FastMCP("one")
    before = list(server.middleware)
    with pytest.raises(ValueError, match="32 bytes"):
        Askback(server, keys=[b"short"])
    assert server.middleware == before
    Askback(server)


@dataclass
class MovedContext:
    """A request context that no longer knows the protocol version."""

    session: object


class MovedResult:
    """A result with questions that keeps them under another name."""

    model_fields: tuple[str, ...] = ("questions",)


MOVED: dict[str, tuple[object, str, object, str]] = {
    "request context": (adapter, "FastMCPRequestContext", MovedContext, "holds the protocol version"),
    "returned rounds": (adapter, "RETURNED", (MovedResult,), "MovedResult holds the questions"),
}
"""What a later FastMCP might do: what is changed where, to what, and what is said to it."""


@pytest.mark.parametrize("moved", MOVED)
def test_a_fastmcp_that_moved_what_we_rely_on_is_told_so(moved: str, monkeypatch: pytest.MonkeyPatch):
    where, name, other, told = MOVED[moved]
    monkeypatch.setattr(where, name, other)
    server: FastMCP[Any] = FastMCP("one")
    before = list(server.middleware)
    with pytest.raises(UnsupportedHost, match=f"in the fastmcp package: .*{told}.*Install a version"):
        Askback(server)
    assert server.middleware == before


def test_a_fastmcp_whose_middleware_moved_is_told_so():
    server: FastMCP[Any] = FastMCP("one")
    del server.middleware
    with pytest.raises(UnsupportedHost, match=r"in the fastmcp package: FastMCP\.middleware is a list"):
        Askback(server)


def test_a_fastmcp_whose_inner_server_moved_is_told_so(monkeypatch: pytest.MonkeyPatch):
    server: FastMCP[Any] = FastMCP("one")
    monkeypatch.delattr(server, "_mcp_server")
    with pytest.raises(UnsupportedHost, match=r"in the fastmcp package: .*Install a version"):
        Askback(server)


def test_a_fastmcp_that_lacks_a_name_we_import_is_told_so(monkeypatch: pytest.MonkeyPatch):
    dependencies = importlib.import_module("fastmcp.server.dependencies")
    monkeypatch.delitem(sys.modules, adapter.__name__)
    monkeypatch.delattr(importlib.import_module("askback.server.hosts"), "fastmcp")
    monkeypatch.delattr(dependencies, "fastmcp_request_ctx")
    with pytest.raises(UnsupportedHost, match="fastmcp package"):
        Askback(FastMCP("one"))


def test_a_kind_of_fastmcp_is_one_too():
    class Shop(FastMCP[Any]):
        """Somebody's own."""

    Askback(Shop("one"))


def test_in_fastmcp_the_boundary_stays_inside_its_root():
    server: FastMCP[Any] = FastMCP("one")
    Askback(server)
    inner = cast("Server[Any]", vars(server)["_mcp_server"])
    names = [type(item).__name__ for item in inner.middleware]
    assert names == ["FastMCPServerMiddleware", "RequestStateBoundary", "Middleware"]


def test_tracing_stays_outermost_and_the_authors_middleware_inside():
    async def own(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        return await call_next(ctx)

    server: MCPServer[Any] = MCPServer("one", middleware=[own])
    Askback(server)
    names = [getattr(item, "__name__", type(item).__name__) for item in server.middleware]
    assert names == ["OpenTelemetryMiddleware", "RequestStateBoundary", "Middleware", "own"]
