"""FastMCP's response cache beside Askback: what it keeps, and when it answers instead of asking."""

from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware.caching import CallToolSettings, ResponseCachingMiddleware

from askback import Askback, ask
from askback.testing import REVISIONS, accept, decline, get_prompt, read_resource, run_tool
from tests.server.hosts.fastmcp.cafe import Order
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio


where_results_are_kept = pytest.mark.parametrize("revision", REVISIONS[:2])
"""A result that took rounds is not kept, as FastMCP keeps none of its own rounds."""


def cafe(**settings: Any) -> tuple[FastMCP[Any], ResponseCachingMiddleware]:
    """A server that keeps what it has answered."""
    cache = ResponseCachingMiddleware(**settings)
    mcp: FastMCP[Any] = FastMCP("cafe", middleware=[cache])
    Askback(mcp)

    @mcp.tool
    async def order(table: int = 1) -> str:
        return (await ask("What would you like?", Order)).or_stop(f"Nothing for table {table}.").drink

    @mcp.tool
    async def receipt() -> dict[str, Any]:
        """No drink, no receipt."""
        return {"drink": (await ask("What was it?", Order)).or_stop("No receipt.").drink}

    async def usual() -> str:
        return (await ask("The usual?", Order)).or_stop("Nothing, then.").drink

    mcp.prompt(usual)
    mcp.resource("cafe://usual")(usual)
    return mcp, cache


@pytest.mark.verifies("R44")
async def test_a_question_is_never_kept():
    mcp, cache = cafe()
    async with raw_client(mcp) as client:
        for _ in range(2):
            asked = await client.call("order")
            assert asked["resultType"] == "input_required"
            assert not {"ttlMs", "cacheScope"} & asked.keys()
    kept = cache.statistics().call_tool
    assert kept is None or kept.put.count == 0


@where_results_are_kept
async def test_a_finished_result_is_kept_and_answers_without_asking(revision: str):
    mcp, _ = cafe()
    for number, answers in enumerate(([accept(drink="tea")], [])):
        run = await run_tool(mcp, "order", None, answers, revision=revision)
        assert (run.text, len(run.asked)) == ("tea", 1 - number)
    other = await run_tool(mcp, "order", {"table": 2}, [accept(drink="coffee")], revision=revision)
    assert other.text == "coffee"


@where_results_are_kept
async def test_prompts_and_resources_are_kept_alike(revision: str):
    mcp, _ = cafe()
    for answers in ([accept(drink="tea")], []):
        prompt = await get_prompt(mcp, "usual", None, answers, revision=revision)
        resource = await read_resource(mcp, "cafe://usual", answers, revision=revision)
        assert (prompt.text, resource.text) == ("tea", "tea")


async def test_a_polite_end_is_not_kept(askback_revision: str):
    mcp, _ = cafe()
    for _ in range(2):
        run = await run_tool(mcp, "order", None, [decline()], revision=askback_revision)
        assert (run.text, run.is_error) == ("Nothing for table 1.", False)
        end = await run_tool(mcp, "receipt", None, [decline()], revision=askback_revision)
        assert (end.text, end.is_error) == ("No receipt.", True)


async def test_a_tool_that_is_left_out_of_the_cache_asks_every_time(askback_revision: str):
    mcp, _ = cafe(call_tool_settings=CallToolSettings(excluded_tools=["order"]))
    for drink in ("tea", "coffee"):
        run = await run_tool(mcp, "order", None, [accept(drink=drink)], revision=askback_revision)
        assert run.text == drink


async def test_whoever_was_asked_gets_their_own_result_and_not_that_of_another():
    mcp, _ = cafe()
    async with raw_client(mcp) as ada, raw_client(mcp) as grace:
        asked_ada, asked_grace = await ada.call("order"), await grace.call("order")
        tea = await ada.call("order", **answering(asked_ada, ask_1=accepting(drink="tea")))
        assert tea["content"][0]["text"] == "tea"
        nothing = await grace.call("order", **answering(asked_grace, ask_1={"action": "decline"}))
        assert nothing["content"][0]["text"] == "Nothing for table 1."
