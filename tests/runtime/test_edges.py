"""Corners of a body: effects beside questions, stops beside siblings, calls inside calls."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult
from mcp_types import ElicitResult
from pydantic import BaseModel, Field, SecretStr, field_validator

from askback import Accepted, Answer, Askback, CannotAsk, ask, choose, confirm, once
from askback.errors import AuthorError, EffectFailed, NotRecordable, OutsideConversation
from askback.server.call import Context
from askback.server.hosts import lowlevel_of
from askback.server.middleware import Middleware
from askback.testing import REVISIONS, accept, decline, get_prompt, read_resource, run_tool
from tests.runtime.conftest import RunBody
from tests.support.corpus import corpus
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


async def turns(number: int) -> None:
    for _ in range(number):
        await anyio.lowlevel.checkpoint()


async def test_effects_that_follow_each_other_beside_a_question_are_each_run_once(run: RunBody):
    log: list[str] = []

    async def slow(name: str) -> str:
        log.append(name)
        await turns(20)
        log.append(f"{name} done")
        return name

    async def effects() -> None:
        for name in ("a", "b", "c"):
            await once(name, slow, name)

    async def body() -> str:
        _, answer = await asyncio.gather(effects(), ask("Go on?", bool, key="go"))
        return str(answer)

    assert (await run(body, [accept(True)])).text == "Accepted(value=True)"
    assert log == ["a", "a done", "b", "b done", "c", "c done"]


async def test_an_effect_that_its_author_cut_short_is_not_begun_again(run: RunBody):
    begun: list[int] = []
    told: list[str] = []

    async def endless() -> None:
        begun.append(1)
        await anyio.sleep_forever()

    async def body() -> str:
        try:
            await asyncio.wait_for(once("endless", endless), 0.01)
        except (TimeoutError, EffectFailed) as error:
            told.append(type(error).__name__)
        return str(await ask("Go on?", bool))

    assert (await run(body, [accept(True)])).text == "Accepted(value=True)"
    assert begun == [1]
    assert told == ["TimeoutError", "EffectFailed"]


class Aliased(BaseModel):
    number: int = Field(0, alias="N")


class Hidden(BaseModel):
    kept: int
    left_out: int = Field(0, exclude=True)


def aliased() -> Aliased:
    return Aliased(N=5)


def hidden() -> Hidden:
    return Hidden(kept=1, left_out=2)


def password() -> SecretStr:
    return SecretStr("hunter2")


def undeclared():
    return (1, 2)


def binary() -> bytes:
    return b"\xff\x00"


async def awaited() -> int:
    return 7


def promise() -> Awaitable[int]:
    return awaited()


@corpus(("effect", "expected"), [(aliased, Aliased(N=5)), (binary, b"\xff\x00"), (promise, 7)])
async def test_a_result_comes_back_whole(run: RunBody, effect: Callable[[], object], expected: object):
    seen: list[object] = []

    async def body() -> str:
        seen.append(await once("effect", effect))
        return str(await ask("Go on?", bool))

    await run(body, [accept(True)])
    assert seen == [expected, expected]


@corpus("effect", [hidden, password, undeclared])
async def test_a_result_that_would_not_come_back_whole_is_refused(run: RunBody, effect: Callable[[], object]):
    async def body() -> str:
        with pytest.raises(NotRecordable, match="declare the return type"):
            await once("effect", effect)
        return "refused"

    assert (await run(body)).text == "refused"


async def test_a_bug_after_a_caught_error_is_not_told_as_that_error():
    async def body() -> str:
        with suppress(CannotAsk):
            await ask("Name?", str)
        raise RuntimeError("a bug")

    result = await run_tool(mcpserver(body), "t", capabilities={})
    assert result.is_error and "declare" not in result.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_prompts_and_resources_tell_our_errors_out_of_task_groups(revision: str):
    server = MCPServer("groups")
    Askback(server)

    async def in_a_group() -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(ask("", str))
        return "never"

    server.prompt(name="p")(in_a_group)
    server.resource("group://one")(in_a_group)
    for call in (
        get_prompt(server, "p", revision=revision),
        read_resource(server, "group://one", revision=revision),
    ):
        with pytest.raises(Exception, match="say what is asked"):
            await call


class Receipt(BaseModel):
    number: int = 0


@pytest.mark.parametrize("revision", REVISIONS)
async def test_stopping_never_invents_a_structured_value(revision: str):
    server = MCPServer("shop")
    Askback(server)

    @server.tool()
    async def pay() -> Receipt:
        return Receipt(number=(await ask("Which?", int)).or_stop("Nothing was paid."))

    @server.tool()
    async def names() -> dict[str, str]:
        return {"name": (await ask("Who?", str)).or_stop("Nobody.")}

    for tool in ("pay", "names"):
        stopped = await run_tool(server, tool, None, [decline()], revision=revision)
        assert (stopped.is_error, stopped.structured) == (True, None)


async def test_stopping_in_a_sibling_task_ends_the_others_too(run: RunBody):
    steps: list[int] = []

    async def sibling() -> None:
        for step in range(1000):
            steps.append(step)
            await anyio.lowlevel.checkpoint()

    async def stopping() -> None:
        (await ask("Go on?", bool, key="go")).or_stop("Then not.")

    async def body() -> str:
        await asyncio.gather(stopping(), sibling())
        return "never"

    assert (await run(body, [decline()], always_replay=False)).text == "Then not."
    after = len(steps)
    await turns(20)
    assert len(steps) == after


async def test_what_a_validator_took_before_and_refuses_now_is_asked_anew():
    open_days = [{"monday", "tuesday"}, {"monday", "tuesday"}, {"tuesday"}]

    class Day(BaseModel):
        day: str

        @field_validator("day")
        @classmethod
        def is_open(cls, day: str) -> str:
            if day not in open_days[0]:
                raise ValueError("we are closed then")
            return day

    async def body() -> str:
        day = await ask("Which day?", Day)
        seats = await ask("How many?", int)
        return f"{day} {seats}"

    async def answers_then_close() -> str:
        replies = iter([accept(day="monday"), accept(2), accept(day="tuesday"), accept(3)])

        def reply(asked: object):
            if "How many" in str(asked) and open_days[0] != {"tuesday"}:
                open_days[0] = {"tuesday"}
            return next(replies)

        return (await run_tool(mcpserver(body), "t", None, reply)).text

    assert await answers_then_close() == "Accepted(value=Day(day='tuesday')) Accepted(value=3)"


async def test_a_task_that_the_body_waits_for_at_its_end_does_not_block_it():
    async def body() -> str:
        task = asyncio.create_task(ask("Name?", str, key="name"))
        try:
            return str(await asyncio.shield(task))
        finally:
            await task

    with anyio.fail_after(5):
        result = await run_tool(mcpserver(body), "t", None, [accept("Ada")])
    assert result.text == "Accepted(value='Ada')"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_question_from_another_event_loop_is_refused_at_once(revision: str):
    server = MCPServer("threads")
    Askback(server)

    @server.tool()
    def ask_in_a_thread() -> str:
        try:
            return str(asyncio.run(ask("Name?", str)))
        except OutsideConversation as error:
            return str(error)

    result = await run_tool(server, "ask_in_a_thread", revision=revision)
    assert "async def" in result.text


async def test_an_effect_may_call_another_server_that_asks(run: RunBody):
    inner = MCPServer("inner")
    Askback(inner)

    @inner.tool()
    async def name() -> str:
        answer = await ask("Name?", str)
        return answer.value if isinstance(answer, Accepted) else "nobody"

    async def call_inner() -> str:
        return (await run_tool(inner, "name", None, [accept("Ada")])).text

    async def body() -> str:
        called = await once("call", call_inner)
        return f"{called} {await confirm('Go on?')}"

    assert (await run(body, [accept(yes=True)])).text == "Ada True"


async def test_slips_of_an_author_are_told_as_such(run: RunBody):
    slips: list[Callable[[], Awaitable[object]]] = [
        lambda: ask("Name?", str, key=5),  # type: ignore[call-overload]
        lambda: ask("Name?", str, timeout="5"),  # type: ignore[call-overload]
        lambda: ask(5, str),  # type: ignore[call-overload]
        lambda: once("x", 5),  # type: ignore[call-overload]
        lambda: choose("Which?", ["a", "a"]),
        lambda: ask("Name?", str, key="visit-1"),
    ]

    async def body() -> str:
        for slip in slips:
            with pytest.raises(AuthorError):
                await slip()
        return "told"

    assert (await run(body)).text == "told"


async def test_two_rehearsals_on_one_server_do_not_disturb_each_other():
    runs: list[str] = []

    async def body() -> str:
        runs.append("run")
        answer: Answer[bool] = await ask("Go on?", bool)
        return str(answer)

    server = mcpserver(body)

    async def rehearse(*, always_replay: bool) -> None:
        await run_tool(server, "t", None, [accept(True)], revision="2025-11-25", always_replay=always_replay)

    await asyncio.gather(rehearse(always_replay=True), rehearse(always_replay=False))
    assert len(runs) == 3
    await rehearse(always_replay=False)
    assert len(runs) == 4


async def test_the_sdks_client_takes_every_end_that_we_write():
    server = MCPServer("ends")
    Askback(server)

    @server.resource("end://polite")
    async def polite() -> str:
        return (await ask("Go on?", str)).or_stop("No more.")

    async def refuse(_ctx: object, _params: object):
        return ElicitResult(action="decline")

    for mode in ("legacy", "2026-07-28"):
        async with Client(server, mode=mode, elicitation_callback=refuse) as client:  # pyright: ignore[reportArgumentType]
            read = await client.read_resource("end://polite")
            assert read.contents[0].text == "No more."  # type: ignore[union-attr]


async def test_text_that_no_json_can_hold_is_the_authors_to_mend(run: RunBody):
    def charge() -> None:
        raise ConnectionError("half a pair: \ud800")

    async def unreadable_key() -> str:
        return str(await ask("Name?", str, key="\ud800"))

    async def unreadable_failure() -> str:
        with suppress(EffectFailed):
            await once("charge", charge)
        return str(await ask("Go on?", bool))

    assert (await run(unreadable_failure, [accept(True)])).text == "Accepted(value=True)"
    result = await run(unreadable_key, lambda _: accept("Ada"))
    assert result.is_error and "readable texts" in result.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_middleware_around_ours_may_run_the_rest_in_a_task_of_its_own(revision: str):
    async def body() -> str:
        return str(await ask("Name?", str))

    async def in_a_task(ctx: Context, call_next: CallNext) -> HandlerResult:
        rest: asyncio.Task[HandlerResult] = asyncio.ensure_future(call_next(ctx))
        return await rest

    server = mcpserver(body)
    chain = lowlevel_of(server).middleware
    chain.insert(next(at for at, one in enumerate(chain) if isinstance(one, Middleware)), in_a_task)
    result = await run_tool(server, "t", None, [accept("Ada")], revision=revision)
    assert result.text == "Accepted(value='Ada')"
