"""How a `def` body is left: what is raised in its thread unwinds it there, and its call goes on undisturbed."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import BaseModel

from askback import Accepted, Answer, Askback, Declined, sync
from askback.server.hosts import lowlevel_of
from askback.testing import accept, cancel, decline, run_tool
from askback.testing.script import Reply
from tests.support.tool_servers import mcpserver as async_mcpserver
from tests.sync.conftest import RunBody
from tests.sync.servers import Body

pytestmark = pytest.mark.anyio


async def test_except_exception_does_not_swallow_a_question(run: RunBody):
    def body() -> str:
        try:
            return str(sync.ask("Name?", str))
        except Exception:
            return "swallowed"

    assert (await run(body, [accept("Ada")])).text == "Accepted(value='Ada')"


async def test_after_a_swallowed_question_no_effect_and_no_other_question_gets_through(run: RunBody):
    effects: list[str] = []

    def body() -> str:
        try:
            answer = sync.ask("Name?", str)
        except BaseException:
            sync.once("effect", effects.append, "too early")
            sync.ask("Another?", str)
            return "swallowed"
        sync.once("effect", effects.append, str(answer))
        return "done"

    assert (await run(body, [accept("Ada")])).text == "done"
    assert effects == ["Accepted(value='Ada')"]


async def test_a_body_that_swallows_everything_is_still_answered_as_asking(run: RunBody):
    def body() -> str:
        try:
            answer = sync.ask("Name?", str)
        except BaseException:
            return "swallowed"
        return str(answer)

    assert (await run(body, [accept("Ada")])).text == "Accepted(value='Ada')"


async def test_a_transaction_is_rolled_back_on_every_pass_but_the_last(run: RunBody):
    log: list[str] = []

    @contextmanager
    def transaction() -> Generator[None]:
        try:
            yield
        except BaseException:
            log.append("rolled back")
            raise
        log.append("committed")

    def body() -> str:
        with transaction():
            sync.ask("Name?", str)
            sync.ask("Age?", int)
        return "done"

    await run(body, [accept("Ada"), accept(36)])
    assert log == ["rolled back", "rolled back", "committed"]


async def test_a_question_in_cleanup_does_not_keep_the_body_from_being_left(run: RunBody):
    log: list[str] = []

    def body() -> str:
        try:
            return str(sync.ask("Name?", str))
        finally:
            log.append("cleaning up")
            log.append(f"cleaned up: {sync.confirm('Clean up?')}")

    result = await run(body, [accept("Ada"), accept(yes=True)])
    assert result.text == "Accepted(value='Ada')"
    assert log == ["cleaning up"] * 3 + ["cleaned up: True"]


async def test_or_stop_gives_the_value_or_ends_the_call_politely(run: RunBody):
    def body() -> str:
        return f"Hello {sync.ask('Name?', str).or_stop('Then not.')}"

    assert (await run(body, [accept("Ada")])).text == "Hello Ada"
    for refusal in (decline(), cancel()):
        stopped = await run(body, [refusal])
        assert (stopped.text, stopped.is_error) == ("Then not.", False)


async def test_or_stop_needs_no_question_before_it(run: RunBody):
    def body() -> str:
        Declined().or_stop("Nothing was asked.")

    assert (await run(body)).text == "Nothing was asked."


class Order(BaseModel):
    number: int


async def test_stopping_keeps_to_the_tools_output_schema(revision: str):
    server: MCPServer[Any] = MCPServer("shop")
    Askback(server)

    @server.tool()
    def order() -> Order:
        return Order(number=sync.ask("Number?", int).or_stop("No order then."))

    stopped = await run_tool(server, "order", None, [decline()], revision=revision)
    assert (stopped.text, stopped.structured, stopped.is_error) == ("No order then.", None, True)


def here(answer: Answer[str]) -> str:
    return answer.or_stop("Then not.")


def in_an_event_loop_of_its_own(answer: Answer[str]) -> str:
    async def elsewhere() -> str:
        return answer.or_stop("Then not.")

    return asyncio.run(elsewhere())


@pytest.mark.parametrize(
    ("reply", "value_of"),
    [(accept("Ada"), here), (decline(), here), (decline(), in_an_event_loop_of_its_own)],
    ids=["asked", "stopped", "stopped from another loop"],
)
async def test_a_call_is_answered_when_its_thread_has_unwound_and_not_before(
    revision: str, host: Callable[..., Any], reply: Reply, value_of: Callable[[Answer[str]], str]
):
    log: list[str] = []

    async def many_turns() -> None:
        for _ in range(100):
            await anyio.lowlevel.checkpoint()

    def body() -> str:
        log.append("begun")
        try:
            return value_of(sync.ask("Name?", str))
        finally:
            anyio.from_thread.run(many_turns)
            log.append("unwound")

    async def around(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        task = asyncio.current_task()
        assert task is not None and not task.cancelling()
        if ctx.method == "tools/call":
            log.append("answered")
        return result

    server = host(body)
    lowlevel_of(server).middleware.insert(0, around)
    await run_tool(server, "t", None, [reply], revision=revision)
    in_rounds, pushed = ["begun", "unwound", "answered"] * 2, [*["begun", "unwound"] * 2, "answered"]
    assert log == (in_rounds if revision == "2026-07-28" else pushed)


# From here: threads that a body written with `async def` starts.

Both = Callable[[Body, Body], Awaitable[list[str]]]


async def with_gather(one: Body, other: Body) -> list[str]:
    return list(await asyncio.gather(anyio.to_thread.run_sync(one), anyio.to_thread.run_sync(other)))


async def with_a_task_group(one: Body, other: Body) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(anyio.to_thread.run_sync(body)) for body in (one, other)]
    return [task.result() for task in tasks]


async def with_an_anyio_group(one: Body, other: Body) -> list[str]:
    texts: dict[Body, str] = {}

    async def note(body: Body) -> None:
        texts[body] = await anyio.to_thread.run_sync(body)

    async with anyio.create_task_group() as group:
        group.start_soon(note, one)
        group.start_soon(note, other)
    return [texts[one], texts[other]]


@pytest.mark.parametrize("both", [with_gather, with_a_task_group, with_an_anyio_group])
@pytest.mark.parametrize("always_replay", [True, False])
async def test_threads_side_by_side_ask_with_keys(revision: str, both: Both, always_replay: bool):
    def name() -> str:
        return str(sync.ask("Name?", str, key="name"))

    def age() -> str:
        return str(sync.ask("Age?", int, key="age"))

    async def body() -> str:
        return " ".join(await both(name, age))

    run = await run_tool(
        async_mcpserver(body),
        "t",
        None,
        lambda asked: {"Name?": accept("Ada"), "Age?": accept(36)}[asked.message],
        revision=revision,
        always_replay=always_replay,
    )
    assert run.text == f"{Accepted('Ada')} {Accepted(36)}"
