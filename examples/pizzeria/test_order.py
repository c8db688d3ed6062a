"""Tests of the pizzeria, as the author of any server writes them."""

import pytest

from askback.testing import (
    REVISIONS,
    Asked,
    accept,
    cancel,
    decline,
    raw,
    run_tool,
)
from askback.testing.plugin import RunTool
from askback.testing.script import Reply
from examples.pizzeria.server import mcp, orders

MARGHERITA = {"pizza": "Margherita"}

# --8<-- [start:backend]
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# --8<-- [end:backend]


@pytest.fixture(autouse=True)
def empty_book() -> None:
    orders.clear()


# --8<-- [start:run_tool]
async def test_an_order_is_placed_once():
    run = await run_tool(mcp, "order", MARGHERITA, [accept(drink="cola"), accept(yes=True)])
    assert run.text == "Order 1: Margherita, cola, tip 0"
    assert orders == ["Margherita with cola"]


# --8<-- [end:run_tool]


# --8<-- [start:asked]
async def test_what_the_guest_is_asked():
    run = await run_tool(mcp, "order", MARGHERITA, [accept(drink="cola"), accept(yes=False)])
    extras, sure = run.asked
    assert extras.fields == ["drink", "tip"]
    assert extras.schema["properties"]["tip"]["maximum"] == 20
    assert sure.message == "Order Margherita with cola?"


# --8<-- [end:asked]


# --8<-- [start:to]
async def test_second_thoughts():
    answers = [accept(drink="cola", to="Anything with"), decline(to="Order Margherita")]
    assert (await run_tool(mcp, "order", MARGHERITA, answers)).text == "Nothing ordered."


# --8<-- [end:to]


# --8<-- [start:function]
def hurried_guest(asked: Asked) -> Reply:
    return accept(yes=True) if "yes" in asked.fields else accept()


async def test_a_guest_who_changes_nothing():
    run = await run_tool(mcp, "order", MARGHERITA, hurried_guest)
    assert run.text == "Order 1: Margherita, none, tip 0"


# --8<-- [end:function]


# --8<-- [start:key]
async def test_by_key_on_the_newest_revision():
    answers = {"ask-2": accept(yes=True), "ask-1": accept(drink="water")}
    assert (await run_tool(mcp, "order", MARGHERITA, answers)).text == "Order 1: Margherita, water, tip 0"


# --8<-- [end:key]


# --8<-- [start:raw]
async def test_a_tip_that_does_not_fit_is_asked_again():
    too_much = raw({"action": "accept", "content": {"tip": 99}})
    run = await run_tool(mcp, "order", MARGHERITA, [too_much, accept(tip=20), accept(yes=True)])
    assert "Tip in euro should be 20 or less." in run.asked[1].message


# --8<-- [end:raw]


# --8<-- [start:revisions]
@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_text_is_the_same_on_every_revision(revision: str):
    run = await run_tool(mcp, "order", MARGHERITA, [cancel()], revision=revision)
    assert run.text == "Ask me again when you like."


# --8<-- [end:revisions]


# --8<-- [start:fixture]
async def test_the_same_with_the_fixture(askback_run_tool: RunTool):
    run = await askback_run_tool(mcp, "order", MARGHERITA, [decline()])
    assert run.text == "Ordered Margherita without extras."


# --8<-- [end:fixture]


# --8<-- [start:transcript]
async def test_the_order_takes_three_calls_in_rounds():
    run = await run_tool(mcp, "order", MARGHERITA, hurried_guest, revision="2026-07-28")
    calls = [line for line in run.transcript if line.what == "tools/call"]
    assert len(calls) == 3
    assert "requestState" in calls[1].body


# --8<-- [end:transcript]


# --8<-- [start:incapable]
async def test_a_client_without_forms(askback_revision: str):
    if askback_revision.startswith("2025"):
        run = await run_tool(mcp, "order", MARGHERITA, revision=askback_revision, capabilities={})
        assert run.is_error and "catch CannotAsk" in run.text


# --8<-- [end:incapable]
