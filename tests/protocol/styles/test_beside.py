"""Sampling and roots are not ours: they pass beside what is asked as they did before."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import SamplingMessage, TextContent

from askback import ask
from askback.testing import accept
from tests.protocol.styles.conftest import LATEST, WAYS, Way
from tests.protocol.styles.people import run_well_equipped
from tests.protocol.styles.servers import Seat, mcpserver

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:The (sampling|roots) capability is deprecated"),
]

PLEASE = [SamplingMessage(role="user", content=TextContent(text="Write a haiku."))]


@pytest.fixture(params=[way for way in WAYS if way.revision != LATEST], ids=str)
def way(request: pytest.FixtureRequest) -> Way:
    """Where a server can send requests of its own accord."""
    return request.param


async def sample_and_list(ctx: Context) -> tuple[str, int]:
    sampled = await ctx.session.create_message(PLEASE, max_tokens=10)  # pyright: ignore[reportDeprecated]
    listed = await ctx.session.list_roots()  # pyright: ignore[reportDeprecated]
    assert isinstance(sampled.content, TextContent)
    return sampled.content.text, len(listed.roots)


async def test_they_pass_before_between_and_after_what_is_asked(host: Callable[..., Any], way: Way):
    async def body(ctx: Context) -> str:
        before = await sample_and_list(ctx)
        seat = await ctx.elicit("Seat?", Seat)
        between = await sample_and_list(ctx)
        row = await ask("Row?", int)
        after = await sample_and_list(ctx)
        return f"{before} {seat.action} {between} {row} {after}"

    with anyio.fail_after(20):
        result = await run_well_equipped(host(body), [accept(row=1), accept(2)], way=way)
    assert result.text == "('a haiku', 1) accept ('a haiku', 1) Accepted(value=2) ('a haiku', 1)"


async def test_they_reach_the_client_unchanged(host: Callable[..., Any], way: Way):
    async def body(ctx: Context) -> str:
        return str(await sample_and_list(ctx))

    with anyio.fail_after(20):
        result = await run_well_equipped(host(body), way=way)
    asked: dict[str, dict[str, Any] | None] = {
        line.what: line.body for line in result.transcript if "/" in line.what and line.direction == "<-"
    }
    message = {"role": "user", "content": {"type": "text", "text": "Write a haiku."}}
    for params in asked.values():
        assert params is None or not params.pop("_meta", None)  # older dispatchers add an empty one
    assert asked["sampling/createMessage"] == {"messages": [message], "maxTokens": 10}
    assert not asked["roots/list"]


async def test_on_the_newest_revision_they_end_as_they_did_without_askback():
    async def body(ctx: Context) -> str:
        await ask("Row?", int)
        try:
            await ctx.session.list_roots()  # pyright: ignore[reportDeprecated]
        except MCPError as error:
            return f"no way back: {error.code}"
        return "never"

    with anyio.fail_after(20):
        result = await run_well_equipped(mcpserver(body), [accept(1)], way=Way(LATEST))
    assert result.text.startswith("no way back: ")
