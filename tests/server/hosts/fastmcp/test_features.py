"""What FastMCP brings by itself, beside questions: dependencies, transforms, versions, visibility, limits, state."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from fastmcp import Context, FastMCP
from fastmcp.dependencies import CurrentContext, Depends
from fastmcp.server.transforms import PromptsAsTools, ResourcesAsTools, ToolTransform
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig, forward
from mcp_types import InputRequiredResult

from askback import Askback, ask, confirm
from askback.testing import Asked, accept, decline, run_tool
from askback.testing.script import Reply
from tests.server.hosts.fastmcp.cafe import Order, question, tea
from tests.server.hosts.fastmcp.guests import MODES, Guest, say

pytestmark = pytest.mark.anyio


@pytest.fixture
def cafe() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)
    return mcp


async def order(table: int) -> str:
    """Order at a table."""
    drink = (await ask(f"What for table {table}?", Order)).or_stop("Nothing, then.").drink
    return f"{drink} for table {table}"


# Dependencies.

CURRENT: Context = CurrentContext()


async def guest_name() -> str:
    return (await ask("Who are you?", str, key="name")).or_stop("Nobody, then.")


async def test_a_dependency_asks_before_the_body_does(cafe: FastMCP[Any], askback_revision: str):
    @cafe.tool
    async def greet(name: str = Depends(guest_name), ctx: Context = CURRENT) -> str:
        answer = await ctx.elicit(f"What would you like, {name}?", Order)
        return f"{name}: {answer.action}"

    def reply(asked: Asked) -> Reply:
        return accept("Ada") if "Who" in asked.message else tea(asked)

    run = await run_tool(cafe, "greet", None, reply, revision=askback_revision)
    assert run.text == "Ada: accept"
    assert [asked.message for asked in run.asked] == ["Who are you?", "What would you like, Ada?"]
    left = await run_tool(cafe, "greet", None, [decline()], revision=askback_revision)
    assert left.text == "Nobody, then."


async def test_what_a_dependency_opens_is_closed_on_every_pass(cafe: FastMCP[Any], askback_revision: str):
    opened, closed = list[str](), list[str]()

    @asynccontextmanager
    async def till() -> AsyncGenerator[str]:
        opened.append("till")
        try:
            yield "till"
        finally:
            await anyio.lowlevel.checkpoint()
            closed.append("till")

    @cafe.tool
    async def pay(till: str = Depends(till)) -> str:
        first = (await ask("First?", Order)).or_stop("Nothing, then.").drink
        return f"{first} {(await ask('Second?', Order)).or_stop('Nothing, then.').drink} at the {till}"

    run = await run_tool(cafe, "pay", None, tea, revision=askback_revision)
    assert run.text == "tea tea at the till"
    assert opened == closed == ["till"] * 3


# Transforms.


async def test_a_tool_with_renamed_arguments_asks_as_the_tool_that_it_was(
    cafe: FastMCP[Any], askback_revision: str
):
    renamed = Tool.from_tool(
        Tool.from_function(order), name="bestel", transform_args={"table": ArgTransform(name="tafel")}
    )
    cafe.add_tool(renamed)
    run = await run_tool(cafe, "bestel", {"tafel": 7}, tea, revision=askback_revision)
    assert run.text == "tea for table 7"
    left = await run_tool(cafe, "bestel", {"tafel": 7}, [decline()], revision=askback_revision)
    assert left.structured == {"result": "Nothing, then."}


async def test_a_transform_asks_around_the_tool(cafe: FastMCP[Any], askback_revision: str):
    async def carefully(table: int) -> ToolResult:
        if not await confirm(f"Is table {table} yours?", key="yours"):
            return ToolResult("Find your table first.")
        return await forward(table=table)

    cafe.add_tool(Tool.from_tool(Tool.from_function(order), name="careful", transform_fn=carefully))

    def reply(asked: Asked) -> Reply:
        return accept(yes=True) if "yes" in asked.fields else tea(asked)

    run = await run_tool(cafe, "careful", {"table": 7}, reply, revision=askback_revision)
    assert run.text == "tea for table 7"
    lost = await run_tool(cafe, "careful", {"table": 7}, [accept(yes=False)], revision=askback_revision)
    assert lost.text == "Find your table first."


@pytest.mark.parametrize("is_mounted", [False, True], ids=["top", "mounted"])
async def test_a_server_wide_transform_changes_nothing_for_the_person(
    is_mounted: bool, askback_revision: str
):
    mcp: FastMCP[Any] = FastMCP("cafe")
    mcp.tool(order)
    renamed = ToolTransformConfig(name="bestel", arguments={"table": ArgTransformConfig(name="tafel")})
    mcp.add_transform(ToolTransform({"order": renamed}))
    if is_mounted:
        parent: FastMCP[Any] = FastMCP("mall")
        parent.mount(mcp)
        mcp = parent
    Askback(mcp)
    run = await run_tool(mcp, "bestel", {"tafel": 7}, tea, revision=askback_revision)
    assert (run.text, run.asked[0].message) == ("tea for table 7", "What for table 7?")


async def test_prompts_and_resources_that_are_offered_as_tools_ask_too(
    cafe: FastMCP[Any], askback_revision: str
):
    async def usual() -> str:
        return (await ask("The usual?", Order)).or_stop("Nothing, then.").drink

    cafe.prompt(usual)
    cafe.resource("cafe://usual")(usual)
    cafe.add_transform(PromptsAsTools(cafe))
    cafe.add_transform(ResourcesAsTools(cafe))
    prompt = await run_tool(cafe, "get_prompt", {"name": "usual"}, tea, revision=askback_revision)
    assert "tea" in prompt.text
    resource = await run_tool(cafe, "read_resource", {"uri": "cafe://usual"}, tea, revision=askback_revision)
    assert resource.text == "tea"


# Versions, tags and visibility.


@pytest.mark.parametrize("mode", MODES)
async def test_each_version_of_a_tool_asks_its_own_question(cafe: FastMCP[Any], mode: str):
    async def old() -> str:
        return (await ask("Old?", Order)).or_stop("Nothing, then.").drink + ", the old way"

    async def new() -> str:
        return (await ask("New?", Order)).or_stop("Nothing, then.").drink + ", the new way"

    cafe.tool(old, name="order", version="1.0")
    cafe.tool(new, name="order", version="2.0")
    guest = Guest()
    async with guest.at(cafe, mode) as client:
        assert await say(client, "order") == "tea, the new way"
        assert await say(client, "order", version="1.0") == "tea, the old way"
    assert guest.asked == ["New?", "Old?"]


async def test_a_tool_that_is_switched_off_asks_nobody(cafe: FastMCP[Any], askback_revision: str):
    cafe.tool(order, tags={"bar"})
    cafe.disable(tags={"bar"})
    off = await run_tool(cafe, "order", {"table": 7}, revision=askback_revision)
    assert off.is_error and "Unknown tool" in off.text
    cafe.enable(tags={"bar"})
    on = await run_tool(cafe, "order", {"table": 7}, tea, revision=askback_revision)
    assert on.text == "tea for table 7"


async def test_a_tool_that_closes_while_the_person_thinks_is_gone_when_they_answer(cafe: FastMCP[Any]):
    cafe.tool(order, tags={"bar"})

    def last_round(asked: Asked) -> Reply:
        cafe.disable(tags={"bar"})
        return tea(asked)

    gone = await run_tool(cafe, "order", {"table": 7}, last_round)
    assert gone.is_error and "Unknown tool" in gone.text


# Limits of time.


async def test_thinking_counts_against_a_tools_timeout_on_2025_and_not_on_2026(cafe: FastMCP[Any]):
    @cafe.tool(timeout=0.2)
    async def hurried() -> str:
        return (await ask("What would you like?", Order)).or_stop("Nothing, then.").drink

    async def never(*_words: Any) -> Any:
        await anyio.sleep_forever()

    said: list[str] = []

    async def think(*_words: Any) -> Any:
        """As long as it takes another's call to run out of time."""
        async with Guest().at(cafe, "legacy", elicitation_handler=never) as other:
            said.append(await say(other, "hurried"))
        return {"drink": "tea"}

    with anyio.fail_after(20):
        async with Guest().at(cafe, "2026-07-28", elicitation_handler=think) as client:
            assert await say(client, "hurried") == "tea"
        assert said == ["Error calling tool 'hurried': Tool 'hurried' execution timed out after 0.2s"]
        async with Guest().at(cafe, "legacy") as client:
            assert await say(client, "hurried") == "tea"


# State.


def counter(*, is_asking: bool) -> FastMCP[Any]:
    """Two tools that count in the session's state; without Askback, or with it."""
    mcp: FastMCP[Any] = FastMCP("counter")
    if is_asking:
        Askback(mcp)

    async def count(ctx: Context) -> int:
        number: int = (await ctx.get_state("number") or 0) + 1
        await ctx.set_state("number", number)
        return number

    @mcp.tool(name="count")
    async def count_calls(ctx: Context) -> int:
        return await count(ctx)

    @mcp.tool
    async def count_rounds(ctx: Context) -> str | InputRequiredResult:
        number = await count(ctx)
        if ctx.request_state is None:
            return InputRequiredResult(
                input_requests={"drink": question(f"After {number}?")}, request_state=str(number)
            )
        return f"{ctx.request_state} {number}"

    @mcp.tool
    async def keep_for_the_request(ctx: Context) -> str:
        await ctx.set_state("thing", mcp, serializable=False)
        return str(await ctx.get_state("thing") is mcp)

    return mcp


@pytest.mark.parametrize("mode", MODES)
async def test_state_lasts_as_long_as_it_does_without_askback(mode: str):
    heard: list[list[str]] = []
    for is_asking in (False, True):
        guest = Guest()
        async with guest.at(counter(is_asking=is_asking), mode) as client:
            calls = [await say(client, "count") for _ in range(3)]
            rounds = await say(client, "count_rounds") if mode != "legacy" else "only with Askback"
            heard.append([*calls, rounds, await say(client, "keep_for_the_request"), *guest.asked])
    assert heard[0] == heard[1]


@pytest.mark.parametrize("mode", MODES)
async def test_state_that_a_body_sets_before_a_question_is_there_after_it(cafe: FastMCP[Any], mode: str):
    @cafe.tool
    async def remember(ctx: Context) -> str:
        await ctx.set_state("table", 7)
        drink = (await ask("What would you like?", Order)).or_stop("Nothing, then.").drink
        return f"{drink} for table {await ctx.get_state('table')}"

    async with Guest().at(cafe, mode) as client:
        assert await say(client, "remember") == "tea for table 7"
