"""Where `askback.sync` cannot wait for a person, it says so and what to do instead."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastmcp import FastMCP

from askback import Askback, OutsideConversation, sync
from askback.testing import run_tool
from tests.support.corpus import corpus
from tests.support.tool_servers import mcpserver as async_mcpserver
from tests.sync.conftest import RunBody

pytestmark = pytest.mark.anyio

VERBS: dict[str, Callable[[], object]] = {
    "ask": lambda: sync.ask("Name?", str),
    "ask_all": lambda: sync.ask_all({"name": ("Name?", str)}),
    "choose": lambda: sync.choose("Which?", ["a", "b"]),
    "confirm": lambda: sync.confirm("Sure?"),
    "once": lambda: sync.once("k", len, "x"),
}


@pytest.fixture(params=VERBS)
def verb(request: pytest.FixtureRequest) -> Callable[[], object]:
    return VERBS[request.param]


def advice_of(verb: Callable[[], object]) -> str:
    try:
        return f"No error, but {verb()}"
    except OutsideConversation as error:
        return str(error)


async def test_in_a_body_written_with_async_def_the_advice_is_to_await(
    revision: str, verb: Callable[[], object]
):
    async def body() -> str:
        return advice_of(verb)

    text = (await run_tool(async_mcpserver(body), "t", revision=revision)).text
    assert "await ask(...)" in text and "run_in_thread=False" in text


async def test_in_a_fastmcp_tool_without_a_thread_the_advice_is_to_let_it_have_one(revision: str):
    server: FastMCP[Any] = FastMCP("test")
    server.tool(lambda: advice_of(VERBS["ask"]), name="t", run_in_thread=False)
    Askback(server)
    assert "take out run_in_thread=False" in (await run_tool(server, "t", revision=revision)).text


async def test_left_uncaught_the_author_reads_the_advice(revision: str):
    async def body() -> str:
        return str(sync.ask("Name?", str))

    run = await run_tool(async_mcpserver(body), "t", revision=revision)
    assert run.is_error and "await ask(...)" in run.text


async def test_in_an_event_loop_of_the_thread_the_advice_is_the_same(run: RunBody):
    async def elsewhere() -> str:
        return advice_of(VERBS["ask"])

    assert "event loop is running" in (await run(lambda: asyncio.run(elsewhere()))).text


def in_a_thread(verb: Callable[[], object]) -> str:
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(advice_of(verb)))
    thread.start()
    thread.join()
    return said[0]


def in_a_pool(verb: Callable[[], object]) -> str:
    with ThreadPoolExecutor() as pool:
        return pool.submit(copy_context().run, advice_of, verb).result()


@corpus("verb", VERBS.values())
@corpus("elsewhere", [in_a_thread, in_a_pool])
async def test_in_a_thread_that_the_body_started_the_advice_is_to_ask_in_the_body(
    run: RunBody, elsewhere: Callable[[Callable[[], object]], str], verb: Callable[[], object]
):
    text = (await run(lambda: elsewhere(verb))).text
    assert "ask in the body itself" in text and "anyio.to_thread.run_sync" in text


async def test_in_a_thread_of_asyncios_the_advice_is_the_same(revision: str):
    async def body() -> str:
        return await asyncio.to_thread(advice_of, VERBS["ask"])

    run = await run_tool(async_mcpserver(body), "t", revision=revision)
    assert "asyncio.to_thread" in run.text and "anyio.to_thread.run_sync" in run.text


def test_outside_of_any_call_it_says_so(verb: Callable[[], object]):
    assert "the body of a tool, prompt or resource" in advice_of(verb)


async def test_a_worker_thread_without_a_call_is_told_so(verb: Callable[[], object]):
    assert "Askback(server)" in await anyio.to_thread.run_sync(advice_of, verb)


async def test_a_thread_that_outlives_its_call_is_told_so(verb: Callable[[], object]):
    over = threading.Event()
    tasks: list[asyncio.Task[str]] = []

    def straggle() -> str:
        assert over.wait(5)
        return advice_of(verb)

    async def body() -> str:
        tasks.append(asyncio.create_task(anyio.to_thread.run_sync(straggle)))
        return "done"

    assert (await run_tool(async_mcpserver(body), "t")).text == "done"
    over.set()
    assert "after its call had been answered" in await asyncio.wait_for(tasks[0], 5)
