"""Clients by others as they come: the SDK's and FastMCP's, on both eras, sent to pages by either host."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client as FastClient
from fastmcp import FastMCP
from fastmcp.client.elicitation import ElicitResult as FastElicitResult
from mcp import Client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestURLParams, ElicitResult

from askback.server.hosts import lowlevel_of
from tests.end_to_end.secrets.scene import MODES
from tests.support.secret_shop.process import PATIENCE
from tests.support.secret_shop.shop import Plan, open_shop
from tests.support.secret_shop.visitor import SAVED, Visitor

pytestmark = pytest.mark.slow

KEY = "a key for the weather"

Go = Callable[[str], Awaitable[None]] | None
"""What the person does with a link; None for a client that shows none."""


async def said_by(call: Awaitable[Any]) -> tuple[str, bool]:
    """The text of a result, or of the error that a revision has for it; and whether it went wrong."""
    try:
        result = await call
    except MCPError as error:
        return error.message, True
    return result.content[0].text, bool(result.is_error)


async def by_sdk(server: Any, mode: str, go: Go, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    async def consent(context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams) and go is not None
        await go(params.url)
        return ElicitResult(action="accept")

    callback = None if go is None else consent
    async with Client(lowlevel_of(server), mode=mode, elicitation_callback=callback) as client:
        return await said_by(client.call_tool(tool, arguments))


async def by_fastmcp(
    server: Any, mode: str, go: Go, tool: str, arguments: dict[str, Any]
) -> tuple[str, bool]:
    async def consent(_: str, __: Any, params: Any, ___: Any) -> Any:
        assert isinstance(params, ElicitRequestURLParams) and go is not None
        await go(params.url)
        return FastElicitResult(action="accept")

    handler = None if go is None else consent
    async with FastClient(server, mode=mode, elicitation_handler=handler) as client:
        return await said_by(client.call_tool(tool, arguments, raise_on_error=False))


CLIENTS = {"the SDK's": by_sdk, "FastMCP's": by_fastmcp}


@pytest.fixture(params=["MCPServer", "FastMCP"])
def server(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MCPServer[Any] | FastMCP[Any]:
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    return open_shop(Plan(folder=str(tmp_path), host=request.param))[0]


@pytest.mark.verifies("R30")
@pytest.mark.parametrize("revision", MODES)
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_key_is_typed_and_then_known(client: str, revision: str, server: Any):
    links: list[str] = []
    async with Visitor() as visitor, anyio.create_task_group() as tasks:

        async def type_in(url: str) -> None:
            assert await visitor.type(url, KEY) == SAVED

        async def go(url: str) -> None:
            links.append(url)
            tasks.start_soon(type_in, url)

        with anyio.fail_after(PATIENCE):
            for _ in range(2):
                used = await CLIENTS[client](server, MODES[revision], go, "use", {"how": "well"})
                assert used == (f"{len(KEY)} signs", False)
    assert len(links) == 1


@pytest.mark.verifies("R45")
@pytest.mark.parametrize("revision", MODES)
@pytest.mark.parametrize(("tool", "arguments"), [("use", {"how": "well"}), ("pay", {})], ids=["key", "pay"])
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_that_shows_no_links_is_told_what_would_help(
    client: str, tool: str, arguments: dict[str, Any], revision: str, server: Any
):
    with anyio.fail_after(PATIENCE):
        said, is_error = await CLIENTS[client](server, MODES[revision], None, tool, arguments)
    assert is_error
    assert "link" in said and "client" in said, said
