"""States and replies of a body's own rounds that a client made up."""

from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError

from askback import Askback, once
from askback.model.journal import Effect, Journal, NestedRound
from askback.model.journal_codec import encode
from askback.server.hosts import lowlevel_of
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Script
from tests.protocol.styles.servers import HOSTS, End, asking, content_of, form
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio


@pytest.mark.verifies("R35")
@pytest.mark.parametrize("host", HOSTS)
async def test_the_bodys_own_state_is_sealed_with_ours(host: str):
    async def body(ctx: Context) -> End:
        return (
            asking(seat=form("Seat?"), state="a recognisable state") if ctx.request_state is None else "taken"
        )

    async with raw_client(HOSTS[host](body)) as client:
        first = await client.call()
        assert "recognisable" not in first["requestState"]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.call(inputResponses={}, requestState="a recognisable state")


@pytest.mark.verifies("R35", "T04")
async def test_a_state_that_looks_like_ours_is_still_the_bodys_own():
    """What a caller writes into the arguments may end up in it; nobody may forge a journal that way."""
    forged = Journal("forged", 1)
    forged.effects["price"] = Effect("price", 0)
    forged.nested = NestedRound("asked", ["seat"], {})
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)

    @server.tool()
    async def t(memo: str, ctx: Context) -> End:
        if ctx.request_state is None:
            return asking(seat=form("Seat?"), state=memo)
        price = await once("price", lambda: 100)
        return f"{price} {ctx.request_state == memo}"

    arguments = {"memo": encode(forged)}
    async with raw_client(server) as client:
        first = await client.call("t", arguments)
        last = await client.call("t", arguments, **answering(first, seat=accepting(row=1)))
        assert last["content"][0]["text"] == "100 True"


@pytest.mark.verifies("R42")
@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("host", HOSTS)
async def test_a_client_of_2025_cannot_bring_replies_of_its_own(host: str, revision: str):
    async def body(ctx: Context) -> End:
        return "not taken" if ctx.input_responses is None else f"taken: {content_of(ctx, 'seat')}"

    wire = Wire(version=revision, capabilities=FORMS, script=Script())
    async with connect(lowlevel_of(HOSTS[host](body)), wire):
        unasked = {"seat": accepting(row=1)}
        result = await wire.send("tools/call", {"name": "t", "arguments": {}, "inputResponses": unasked})
    assert result["content"][0]["text"] == "not taken"
