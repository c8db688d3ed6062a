"""A server's room in the vault is found by its name, so a server that nobody named has none."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback import Askback
from askback.errors import VisitorUnknown
from askback.model.owners import LOCAL
from askback.testing import run_tool
from askback.vault.vault import Vault
from tests.support.callers import LOCAL_CALLER
from tests.vault.test_asked import WEATHER, forecast


class OfItsOwn(FastMCP[Any]):
    """As authors derive from it."""


DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Weather", "version": "1"},
    "servers": [{"url": "https://weather.example"}],
    "paths": {},
}

UNNAMED: Mapping[str, Callable[[], Any]] = {
    "MCPServer": MCPServer,
    "MCPServer, with nothing": lambda: MCPServer(""),
    "low-level, with nothing": lambda: Server(""),
    "low-level, with a blank": lambda: Server(" "),
    "FastMCP": FastMCP,
    "FastMCP, derived": OfItsOwn,
    "FastMCP, from a description": lambda: FastMCP.from_openapi(DESCRIPTION),
    "FastMCP, as from_fastapi names it": lambda: FastMCP("FastAPI"),
}

NAMED: Mapping[str, Callable[[], Any]] = {
    "MCPServer": lambda: MCPServer("weather"),
    "low-level": lambda: Server("weather"),
    "low-level, as the SDK would not": lambda: Server("mcp-server"),
    "FastMCP": lambda: FastMCP("weather"),
    "FastMCP, after its class": lambda: FastMCP("FastMCP-cafe-menu"),
    "FastMCP, from a description": lambda: FastMCP.from_openapi(DESCRIPTION, name="weather"),
}


@pytest.mark.verifies("T23", "R28")
@pytest.mark.parametrize("which", UNNAMED)
async def test_nothing_is_kept_for_a_server_that_nobody_named(vault: Vault, which: str):
    house = Askback(UNNAMED[which](), vault=vault).page_host
    for verb in ("secret(...)", "connect(...)"):
        with pytest.raises(VisitorUnknown, match=r'nobody named it.*Name it: MCPServer\("weather"\)'):
            await house.open_for(LOCAL_CALLER, verb)


@pytest.mark.parametrize("which", NAMED)
async def test_a_server_with_a_name_has_a_room(vault: Vault, which: str):
    house = Askback(NAMED[which](), vault=vault).page_host
    assert (await house.open_for(LOCAL_CALLER, "secret(...)")).vault is house.vault


@pytest.mark.verifies("T23")
async def test_what_was_typed_for_one_unnamed_server_is_not_read_by_another(vault: Vault):
    await vault.for_server("mcp-server").put(LOCAL, WEATHER, {"value": "the bank's"})
    server: MCPServer[Any] = MCPServer()
    server.add_tool(forecast, name="t")
    Askback(server, vault=vault)
    result = await run_tool(server, "t")
    assert result.is_error and "the bank's" not in result.text and "nobody named it" in result.text
