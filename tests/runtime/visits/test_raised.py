"""Visits that an existing body demands by itself: a raised error, `elicit_url`; on both hosts and both eras."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from fastmcp import Context as FastMCPContext
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from tests.support.visit_shops import JULY, NOVEMBER, Host, Shop, Traveller, fastmcp, mcpserver, text_of

pytestmark = pytest.mark.anyio
Reached = Callable[[Shop], AbstractAsyncContextManager[Any]]

URL = "https://pay.example/checkout/7"
MESSAGE = "Please pay first."


@pytest.mark.verifies("R09", "R79")
async def test_a_raised_demand_is_an_error_or_a_question_and_the_call_then_succeeds(
    revision: str, host: Host, reached: Reached
):
    paid: list[str] = []

    async def order() -> str:
        if not paid:
            visit = ElicitRequestURLParams(message=MESSAGE, url=URL, elicitation_id="7")
            raise UrlElicitationRequiredError([visit])
        return "ordered"

    async def pay(_id: str) -> None:
        paid.append("by card")

    shop, person = host(order), Traveller(then=pay)
    async with reached(shop) as target, person.at(revision, target) as client:
        if revision == NOVEMBER:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("t", {})
            assert raised.value.code == -32042
            (listed,) = raised.value.data["elicitations"]
            assert (listed["elicitationId"], listed["url"]) == ("7", URL)
            paid.append("by card")
        assert text_of(await client.call_tool("t", {})) == "ordered"
    assert person.urls == ([] if revision == NOVEMBER else [URL])


async def of_mcpserver(ctx: Context[Any, Any]) -> str:
    return (await ctx.elicit_url(MESSAGE, URL, "7")).action


async def of_fastmcp(ctx: FastMCPContext) -> str:
    return (await ctx.session.elicit_url(MESSAGE, URL, "7")).action


SHOPS: dict[str, Callable[[], Shop]] = {
    "MCPServer": lambda: mcpserver(of_mcpserver),
    "FastMCP": lambda: fastmcp(of_fastmcp),
}


@pytest.mark.parametrize("revision", ["2025-06-18", NOVEMBER, JULY])
@pytest.mark.parametrize("host", SHOPS)
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_elicit_url_gives_the_word_of_the_person(
    revision: str, host: str, reached: Reached, action: Any
):
    shop, person = SHOPS[host](), Traveller(action)
    async with reached(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == action
    assert person.messages == [MESSAGE]
