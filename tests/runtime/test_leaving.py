"""How a body is left: suspended with questions, or stopped politely; and what it cannot do about it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from mcp.server import MCPServer
from pydantic import BaseModel

from askback import Askback, Declined, OutsideConversation, Text, ask, confirm, once
from askback.testing import REVISIONS, accept, cancel, decline, get_prompt, read_resource, run_tool
from askback.testing.script import Reply
from tests.runtime.conftest import RunBody
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


async def test_except_exception_does_not_swallow_a_question(run: RunBody):
    async def body() -> str:
        try:
            return str(await ask("Name?", str))
        except Exception:
            return "swallowed"

    assert (await run(body, [accept("Ada")])).text == "Accepted(value='Ada')"


async def test_a_body_that_swallows_everything_is_still_answered_as_asking(run: RunBody):
    async def body() -> str:
        try:
            answer = await ask("Name?", str)
        except BaseException:
            return "swallowed"
        return str(answer)

    assert (await run(body, [accept("Ada")])).text == "Accepted(value='Ada')"


async def test_after_a_swallowed_question_no_effect_and_no_other_question_gets_through(run: RunBody):
    effects: list[str] = []

    async def body() -> str:
        try:
            answer = await ask("Name?", str)
        except BaseException:
            await once("effect", effects.append, "too early")
            await ask("Another?", str)
            return "swallowed"
        await once("effect", effects.append, str(answer))
        return "done"

    result = await run(body, [accept("Ada")])
    assert result.text == "done"
    assert effects == ["Accepted(value='Ada')"]


async def test_cleanup_that_awaits_is_finished_when_a_body_is_suspended(run: RunBody):
    log: list[str] = []

    @asynccontextmanager
    async def transaction() -> AsyncGenerator[None]:
        try:
            yield
        except BaseException:
            await anyio.lowlevel.checkpoint()
            log.append("rolled back")
            raise
        log.append("committed")

    async def body() -> str:
        async with transaction():
            await ask("Name?", str)
            await ask("Age?", int)
        return "done"

    await run(body, [accept("Ada"), accept(36)])
    assert log == ["rolled back", "rolled back", "committed"]


async def test_wait_for_around_a_question_does_not_swallow_it(run: RunBody):
    async def body() -> str:
        return str(await asyncio.wait_for(ask("Name?", str), 30))

    assert (await run(body, [accept("Ada")])).text == "Accepted(value='Ada')"


EMPTY: dict[str, Text] = {}


async def test_our_errors_say_their_advice_out_of_a_task_group_too(run: RunBody):
    async def body() -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(ask, "Name?", EMPTY)
        return "never"

    result = await run(body)
    assert result.is_error
    assert "Instead:" in result.text


async def test_or_stop_gives_the_value_or_ends_the_call_politely(run: RunBody):
    async def body() -> str:
        name = (await ask("Name?", str)).or_stop("Then not.")
        return f"Hello {name}"

    assert (await run(body, [accept("Ada")])).text == "Hello Ada"
    for refusal in (decline(), cancel()):
        stopped = await run(body, [refusal])
        assert (stopped.text, stopped.is_error) == ("Then not.", False)


class Order(BaseModel):
    number: int


@pytest.mark.parametrize("revision", REVISIONS)
async def test_stopping_keeps_to_the_tools_output_schema(revision: str):
    server = MCPServer("shop")
    Askback(server)

    @server.tool()
    async def text() -> str:
        return (await ask("Name?", str)).or_stop("Then not.")

    @server.tool()
    async def order() -> Order:
        return Order(number=(await ask("Number?", int)).or_stop("No order then."))

    @server.tool(structured_output=False)
    async def plain() -> str:
        return (await ask("Name?", str)).or_stop("Then not.")

    stopped = await run_tool(server, "text", None, [decline()], revision=revision)
    assert (stopped.structured, stopped.is_error) == ({"result": "Then not."}, False)
    stopped = await run_tool(server, "order", None, [decline()], revision=revision)
    assert (stopped.text, stopped.structured, stopped.is_error) == ("No order then.", None, True)
    stopped = await run_tool(server, "plain", None, [decline()], revision=revision)
    assert (stopped.text, stopped.structured, stopped.is_error) == ("Then not.", None, False)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.verifies("R32")
async def test_prompts_and_resources_ask_and_stop_alike(revision: str):
    server = MCPServer("library")
    Askback(server)

    @server.prompt()
    async def letter() -> str:
        return f"Dear {(await ask('To whom?', str)).or_stop('No letter.')}"

    @server.resource("shelf://{room}")
    async def shelf(room: str) -> str:
        return f"{room}: {(await ask('Which shelf?', int)).or_stop('No shelf.')}"

    @server.resource("desk://only")
    async def desk() -> str:
        return f"drawer {(await ask('Which drawer?', int)).or_stop('No drawer.')}"

    async def texts(name: Reply, number: Reply) -> list[str]:
        return [
            (await get_prompt(server, "letter", None, [name], revision=revision)).text,
            (await read_resource(server, "shelf://attic", [number], revision=revision)).text,
            (await read_resource(server, "desk://only", [number], revision=revision)).text,
        ]

    assert await texts(accept("Ada"), accept(3)) == ["Dear Ada", "attic: 3", "drawer 3"]
    assert await texts(decline(), decline()) == ["No letter.", "No shelf.", "No drawer."]


async def test_outside_a_call_everything_says_so():
    for asking in (ask("Name?", str), confirm("Sure?"), once("k", len, "x")):
        with pytest.raises(OutsideConversation, match="Askback"):
            await asking


async def test_a_background_task_that_outlives_its_call_is_told():
    told: list[str] = []
    over = anyio.Event()

    async def straggler() -> None:
        await over.wait()
        try:
            await ask("Too late?", str)
        except OutsideConversation as error:
            told.append(str(error))

    tasks: list[asyncio.Task[None]] = []

    async def body() -> str:
        tasks.append(asyncio.create_task(straggler()))
        return "done"

    assert (await run_tool(mcpserver(body), "t")).text == "done"
    over.set()
    await asyncio.wait_for(tasks[0], 5)
    (advice,) = told
    assert "after its call had been answered" in advice


async def test_a_question_inside_once_is_an_authors_error(run: RunBody):
    async def effect() -> str:
        return str(await ask("Name?", str))

    async def body() -> str:
        return await once("effect", effect)

    result = await run(body)
    assert result.is_error and "Ask first" in result.text


async def test_stopping_beside_an_effect_lets_it_end(run: RunBody):
    """Cut short it would be neither done nor undone; the call is answered when it has ended."""
    paid: list[str] = []

    async def pay() -> str:
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        paid.append("done")
        return "paid"

    async def stop() -> None:
        Declined().or_stop("Another time.")

    async def body() -> str:
        await asyncio.gather(once("pay", pay), stop())
        return "never"

    assert (await run(body)).text == "Another time."
    assert paid == ["done"]
