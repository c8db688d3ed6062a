"""What can ask on FastMCP, and how its results look: tools, prompts, resources and templates."""

from typing import Any

import pytest
from fastmcp import Context, FastMCP
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.tools import ToolResult
from mcp_types import TextContent
from pydantic import BaseModel

from askback import Askback, ask, ask_all, once, sync
from askback.testing import accept, cancel, decline, get_prompt, read_resource, run_tool
from tests.server.hosts.fastmcp.cafe import Order

pytestmark = pytest.mark.anyio


class Receipt(BaseModel):
    number: int
    drink: str


@pytest.fixture
def cafe() -> FastMCP[Any]:
    """Filled in by the tests."""
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)
    return mcp


async def drink() -> str:
    """Asks, and ends politely on a no."""
    return (await ask("What would you like?", Order)).or_stop("Nothing, then.").drink


async def elicited_drink(ctx: Context) -> str:
    """The same, written for FastMCP alone."""
    answer = await ctx.elicit("What would you like?", Order)
    return answer.data.drink if answer.action == "accept" else "Nothing, then."


BODIES = {"ask": drink, "ctx.elicit": elicited_drink}


@pytest.mark.parametrize("body", BODIES)
async def test_a_tool_asks(cafe: FastMCP[Any], body: str, askback_revision: str):
    cafe.tool(BODIES[body], name="order")
    taken = await run_tool(cafe, "order", None, [accept(drink="tea")], revision=askback_revision)
    assert (taken.text, taken.structured, taken.is_error) == ("tea", {"result": "tea"}, False)
    left = await run_tool(cafe, "order", None, [decline()], revision=askback_revision)
    assert (left.text, left.structured, left.is_error) == (
        "Nothing, then.",
        {"result": "Nothing, then."},
        False,
    )


@pytest.mark.parametrize("body", BODIES)
async def test_a_prompt_asks(cafe: FastMCP[Any], body: str, askback_revision: str):
    cafe.prompt(BODIES[body], name="order")
    taken = await get_prompt(cafe, "order", None, [accept(drink="tea")], revision=askback_revision)
    assert taken.text == "tea"
    left = await get_prompt(cafe, "order", None, [cancel()], revision=askback_revision)
    assert left.text == "Nothing, then."


@pytest.mark.parametrize("body", BODIES)
async def test_a_resource_asks(cafe: FastMCP[Any], body: str, askback_revision: str):
    cafe.resource("cafe://order")(BODIES[body])
    taken = await read_resource(cafe, "cafe://order", [accept(drink="tea")], revision=askback_revision)
    assert taken.text == "tea"
    left = await read_resource(cafe, "cafe://order", [decline()], revision=askback_revision)
    assert (left.text, left.result["contents"][0]["uri"]) == ("Nothing, then.", "cafe://order")


async def test_a_resource_template_asks_with_what_its_uri_says(cafe: FastMCP[Any], askback_revision: str):
    @cafe.resource("cafe://tables/{table}/order")
    async def order(table: int) -> str:
        drink = (await ask(f"What for table {table}?", Order)).or_stop("Nothing, then.").drink
        return f"{drink} for table {table}"

    uri = "cafe://tables/7/order"
    taken = await read_resource(cafe, uri, [accept(drink="tea", to="table 7")], revision=askback_revision)
    assert (taken.text, taken.result["contents"][0]["uri"]) == ("tea for table 7", uri)
    left = await read_resource(cafe, uri, [decline()], revision=askback_revision)
    assert (left.text, left.result["contents"][0]["uri"]) == ("Nothing, then.", uri)


async def test_several_questions_and_an_effect_in_one_prompt(cafe: FastMCP[Any], askback_revision: str):
    brewed: list[str] = []

    def brew(drink: str) -> int:
        brewed.append(drink)
        return len(brewed)

    @cafe.prompt
    async def order(guests: int) -> str:
        answers = await ask_all({f"guest-{n}": (f"Guest {n}?", Order) for n in range(1, guests + 1)})
        drinks = [answer.or_stop("Nothing, then.").drink for answer in answers.values()]
        number = await once("brew", brew, " and ".join(drinks))
        sure = (await ask("Anything else?", bool)).or_stop("Nothing, then.")
        return f"{number}: {drinks}, {sure}"

    answers = [accept(drink="tea"), accept(drink="coffee"), accept(False)]
    run = await get_prompt(cafe, "order", {"guests": "2"}, answers, revision=askback_revision)
    assert run.text == "1: ['tea', 'coffee'], False"
    assert brewed == ["tea and coffee"]


async def as_model() -> Receipt:
    return Receipt(number=1, drink=await drink())


async def as_dict() -> dict[str, Any]:
    return {"number": 1, "drink": await drink()}


async def as_result() -> ToolResult:
    content = {"number": 1, "drink": await drink()}
    return ToolResult(content=[TextContent(type="text", text="served")], structured_content=content)


@pytest.mark.parametrize("body", [as_model, as_dict, as_result])
async def test_structured_results_are_what_the_body_gives(
    cafe: FastMCP[Any], body: Any, askback_revision: str
):
    cafe.tool(body, name="order")
    run = await run_tool(cafe, "order", None, [accept(drink="tea")], revision=askback_revision)
    assert run.structured == {"number": 1, "drink": "tea"}


@pytest.mark.parametrize("body", [as_model, as_dict])
async def test_where_the_output_has_a_schema_stopping_is_an_error_with_the_authors_words(
    cafe: FastMCP[Any], body: Any, askback_revision: str
):
    cafe.tool(body, name="order")
    run = await run_tool(cafe, "order", None, [decline()], revision=askback_revision)
    assert (run.text, run.structured, run.is_error) == ("Nothing, then.", None, True)


async def test_where_the_output_has_none_stopping_is_plain_text(cafe: FastMCP[Any], askback_revision: str):
    cafe.tool(drink, name="order", output_schema=None)
    cafe.tool(as_result, name="result")
    for tool in ("order", "result"):
        run = await run_tool(cafe, tool, None, [decline()], revision=askback_revision)
        assert (run.text, run.structured, run.is_error) == ("Nothing, then.", None, False)


async def test_stopping_fits_the_schema_of_a_tool_on_a_later_page(askback_revision: str):
    mcp: FastMCP[Any] = FastMCP("cafe", list_page_size=2)
    Askback(mcp)
    for number in range(5):
        mcp.tool(drink, name=f"order_{number}")
    run = await run_tool(mcp, "order_4", None, [decline()], revision=askback_revision)
    assert run.structured == {"result": "Nothing, then."}


async def test_a_body_written_with_def_asks_in_its_thread(cafe: FastMCP[Any], askback_revision: str):
    def drink_in_a_thread() -> str:
        return sync.ask("What would you like?", Order).or_stop("Nothing, then.").drink

    cafe.tool(drink_in_a_thread, name="order")
    cafe.prompt(drink_in_a_thread, name="order")
    cafe.resource("cafe://order")(drink_in_a_thread)
    yes, no, on = [accept(drink="tea")], [decline()], askback_revision
    assert (await run_tool(cafe, "order", None, yes, revision=on)).text == "tea"
    assert (await run_tool(cafe, "order", None, no, revision=on)).text == "Nothing, then."
    assert (await get_prompt(cafe, "order", None, yes, revision=on)).text == "tea"
    assert (await read_resource(cafe, "cafe://order", yes, revision=on)).text == "tea"


async def test_a_resource_of_several_parts_asks_once(cafe: FastMCP[Any], askback_revision: str):
    @cafe.resource("cafe://menu")
    async def menu() -> ResourceResult:
        chosen = (await ask("What would you like?", Order)).or_stop("Nothing, then.")
        return ResourceResult([ResourceContent(chosen.drink), ResourceContent(str(chosen.sugar))])

    run = await read_resource(cafe, "cafe://menu", [accept(drink="tea")], revision=askback_revision)
    assert run.text == "tea\n0"
