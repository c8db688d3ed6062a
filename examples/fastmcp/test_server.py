"""Tests of the pizzeria on FastMCP: the same kit, whatever the server is made with."""

import pytest

from askback.testing import accept, cancel, decline, get_prompt, read_resource, run_tool
from examples.fastmcp.server import mcp
from examples.pizzeria.server import orders

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def empty_book() -> None:
    orders.clear()


async def test_an_order_is_placed_once(askback_revision: str):
    answers = [accept(drink="cola"), accept(yes=True)]
    run = await run_tool(mcp, "order", {"pizza": "Margherita"}, answers, revision=askback_revision)
    assert run.text == "Order 1: Margherita, cola, tip 0"
    assert orders == ["Margherita with cola"]


async def test_the_cellar_asks_through_the_pizzeria(askback_revision: str):
    red = await run_tool(mcp, "wine", None, [accept("red")], revision=askback_revision)
    assert red.text == "A glass of red."
    water = await run_tool(mcp, "wine", None, [decline()], revision=askback_revision)
    assert water.text == "Water, then."


async def test_a_prompt_asks_before_it_is_written(askback_revision: str):
    run = await get_prompt(
        mcp, "pairing", {"pizza": "Marinara"}, [accept("quiet")], revision=askback_revision
    )
    assert run.text == "Which wine goes with Marinara on a quiet evening?"


async def test_a_resource_asks_before_it_is_read(askback_revision: str):
    run = await read_resource(mcp, "bottle://7/label", [accept("it")], revision=askback_revision)
    assert run.text == "Shelf 7, label in it"
    left = await read_resource(mcp, "bottle://7/label", [cancel()], revision=askback_revision)
    assert left.text == "(no label)"
