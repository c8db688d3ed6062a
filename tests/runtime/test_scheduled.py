"""What a verb gives is a coroutine for everything that awaits, schedules or inspects one."""

import asyncio
import functools
import gc
import inspect
import warnings
from collections.abc import Awaitable, Callable, Coroutine
from types import CoroutineType
from typing import Any, cast

import anyio
import pytest

import askback
from askback import Accepted, Answer, OutsideConversation, ask, ask_all, choose, confirm, once, visit
from askback.runtime.secrets import Hidden
from askback.testing import accept, run_tool
from askback.verbs.hosted import connect, disconnect, secret
from tests.runtime.conftest import RunBody
from tests.support.corpus import corpus
from tests.support.tool_servers import mcpserver

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T34")]

VERBS: list[Callable[..., Any]] = [
    ask,
    ask_all,
    choose,
    confirm,
    connect,
    disconnect,
    once,
    secret,
    visit,
    Hidden.reject,
]

Answers = list[Answer[str]]


def question(key: str) -> Coroutine[Any, Any, Answer[str]]:
    return ask(f"{key}?", str, key=key)


async def awaited() -> Answers:
    return [await question("a"), await question("b")]


async def made_first() -> Answers:
    first, second = question("a"), question("b")
    return [await first, await second]


async def gathered() -> Answers:
    return list(await asyncio.gather(question("a"), question("b")))


async def as_tasks() -> Answers:
    first, second = asyncio.create_task(question("a")), asyncio.ensure_future(question("b"))
    return [await first, await second]


async def in_group() -> Answers:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(question("a")), group.create_task(question("b"))]
    return [task.result() for task in tasks]


async def waited_for() -> Answers:
    return [await asyncio.wait_for(question("a"), 60), await asyncio.shield(question("b"))]


async def under_timeout() -> Answers:
    async with asyncio.timeout(60):
        first = await question("a")
    with anyio.fail_after(60):
        return [first, await question("b")]


async def by_anyio() -> Answers:
    answers: dict[str, Answer[str]] = {}

    async def keep(key: str) -> None:
        answers[key] = await question(key)

    async with anyio.create_task_group() as group:
        group.start_soon(keep, "a")
        group.start_soon(keep, "b")
    return [answers["a"], answers["b"]]


async def started_by_anyio() -> Answers:
    """The verb itself, whose coroutine anyio looks into."""
    async with anyio.create_task_group() as group:
        group.start_soon(functools.partial(ask, key="a"), "a?", str)
        group.start_soon(functools.partial(ask, key="b"), "b?", str)
    return [Accepted("a"), Accepted("b")]


WAYS: list[Callable[[], Awaitable[Answers]]] = [
    awaited,
    made_first,
    gathered,
    as_tasks,
    in_group,
    waited_for,
    under_timeout,
    by_anyio,
    started_by_anyio,
]


@corpus("way", WAYS)
async def test_it_is_awaited_and_scheduled_like_any_coroutine(
    run: RunBody, way: Callable[[], Awaitable[Answers]]
):
    async def body() -> str:
        return ", ".join(answer.or_stop("No.") for answer in await way())

    assert (await run(body, lambda asked: accept(asked.message[0]))).text == "a, b"


async def test_one_that_is_cancelled_before_it_begins_is_not_forgotten(run: RunBody):
    async def body() -> str:
        task = asyncio.create_task(question("a"))
        task.cancel()
        await asyncio.wait([task])
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(question("b"))
                raise LookupError
        except* LookupError:
            pass
        return "given up"

    assert (await run(body)).text == "given up"


async def test_one_that_a_task_is_about_to_run_is_not_forgotten_and_finds_its_call_answered(revision: str):
    tasks: list[asyncio.Task[Any]] = []

    async def body() -> str:
        tasks.append(asyncio.create_task(confirm("Shall I?", key="late")))
        return "answered"

    assert (await run_tool(mcpserver(body), "t", None, revision=revision)).text == "answered"
    with pytest.raises(OutsideConversation):
        await tasks[0]


async def test_a_question_that_the_body_has_made_and_not_come_to_is_no_mistake(run: RunBody):
    """On rounds the body is left at the first one; Python would warn of the second."""

    async def body() -> str:
        return ", ".join(answer.or_stop("No.") for answer in await made_first())

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert (await run(body, lambda _: accept("x"))).text == "x, x"
        gc.collect()
    assert not [one for one in warned if "never awaited" in str(one.message)]


async def test_a_task_of_it_can_be_printed():
    task = asyncio.create_task(confirm("Shall I?"))
    assert "confirm()" in repr(task)
    await asyncio.wait([task])
    assert "confirm()" in repr(task) and isinstance(task.exception(), OutsideConversation)


@corpus("verb", VERBS)
def test_a_verb_is_a_coroutine_function(verb: Callable[..., Any]):
    assert inspect.iscoroutinefunction(verb) and inspect.isfunction(verb)
    assert inspect.signature(verb) == inspect.signature(cast("Any", verb).__wrapped__)
    assert verb.__doc__ and verb.__name__ in verb.__qualname__
    twin = getattr(askback.sync, verb.__name__)
    assert not inspect.iscoroutinefunction(twin)


def test_every_public_coroutine_function_is_one_of_them():
    public = {name for name in askback.__all__ if inspect.iscoroutinefunction(getattr(askback, name))}
    assert public == {verb.__name__ for verb in VERBS} - {"reject"}
    assert all(hasattr(getattr(askback, name), "__wrapped__") for name in public)


def test_what_it_gives_is_a_coroutine():
    it: Any = confirm("Shall I?")
    assert inspect.iscoroutine(it) and inspect.isawaitable(it) and asyncio.iscoroutine(it)
    assert isinstance(it, Coroutine) and isinstance(it, CoroutineType)
    assert inspect.getcoroutinestate(it) == inspect.CORO_CREATED and it.__name__ == "confirm"
    other = confirm("Shall I?")
    assert it == it and it != other and {it: 1, other: 2}[it] == 1
    it.close()
    other.close()
    assert inspect.getcoroutinestate(it) == inspect.CORO_CLOSED


def test_outside_a_call_it_runs_and_says_so():
    with pytest.raises(OutsideConversation):
        asyncio.run(confirm("Shall I?"))
    with pytest.raises(OutsideConversation):
        anyio.run(confirm, "Shall I?")
    with pytest.raises(OutsideConversation):
        confirm("Shall I?").send(None)
    with pytest.raises(LookupError):
        confirm("Shall I?").throw(LookupError("nobody"))


def test_outside_a_call_python_warns_of_one_that_was_never_awaited():
    with pytest.warns(RuntimeWarning, match="coroutine 'confirm' was never awaited"):
        confirm("Shall I?")  # pyright: ignore[reportUnusedCoroutine] # the mistake
