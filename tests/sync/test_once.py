"""Effects of a `def` body: run in its own thread, once, and never on the event loop."""

import sqlite3
import threading
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.server import MCPServer
from pydantic import BaseModel

from askback import Askback, Declined, sync
from askback.errors import EffectFailed
from askback.testing import accept, run_tool
from tests.support.tool_servers import mcpserver as async_mcpserver
from tests.sync.conftest import RunBody
from tests.sync.servers import mcpserver

pytestmark = pytest.mark.anyio


class Receipt(BaseModel):
    number: int


async def test_an_effect_is_run_once_and_gives_its_result_on_every_pass(run: RunBody):
    paid: list[int] = []

    def pay(euro: int, *, to: str) -> Receipt:
        paid.append(euro)
        return Receipt(number=len(paid) + len(to))

    def body() -> str:
        receipt = sync.once("pay", pay, 5, to="Ada")
        assert isinstance(receipt, Receipt)
        return (
            f"{receipt.number} {sync.confirm('Again?')} {sync.once('again', partial(pay, 6, to='Bo')).number}"
        )

    assert (await run(body, [accept(yes=True)])).text == "4 True 4"
    assert paid == [5, 6]


async def test_an_effect_is_run_in_the_thread_of_the_body(run: RunBody):
    def body() -> str:
        book = sqlite3.connect(":memory:")  # refuses every thread but this one
        try:
            rows = sync.once("create", create, book)
            return f"{rows} {sync.once('where', threading.get_ident) == threading.get_ident()}"
        finally:
            book.close()

    def create(book: sqlite3.Connection) -> int:
        return book.execute("create table loans (title)").rowcount

    assert (await run(body)).text == "-1 True"


async def test_an_effect_may_block_while_other_calls_are_served():
    released = threading.Event()
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)

    @server.tool()
    def slow() -> bool:
        return sync.once("wait", released.wait, 5)

    @server.tool()
    async def release() -> str:
        released.set()
        return "released"

    async def wait() -> None:
        assert (await run_tool(server, "slow")).text == "true"

    async with anyio.create_task_group() as calls:
        calls.start_soon(wait)
        assert (await run_tool(server, "release")).text == "released"


async def test_a_call_that_is_begun_anew_does_not_run_the_effect_again_within_its_time(revision: str):
    paid: list[int] = []

    def pay(euro: int) -> Receipt:
        paid.append(euro)
        return Receipt(number=len(paid))

    server = mcpserver(lambda: str(sync.once("pay", pay, 5, within=timedelta(hours=1)).number))
    texts = [(await run_tool(server, "t", revision=revision)).text for _ in range(3)]
    assert (texts, paid) == (["1", "1", "1"], [5])


async def test_a_coroutine_function_is_awaited_on_the_event_loop(run: RunBody):
    async def pay() -> Receipt:
        await anyio.lowlevel.checkpoint()
        return Receipt(number=7)

    assert (await run(lambda: str(sync.once("pay", pay).number))).text == "7"


@pytest.mark.parametrize("kind", [ConnectionError, StopIteration])
async def test_an_effect_that_fails_fails_alike_on_every_pass(run: RunBody, kind: type[Exception]):
    tries: list[str] = []

    def pay() -> None:
        tries.append("tried")
        raise kind("no line")

    def body() -> str:
        try:
            sync.once("pay", pay)
        except EffectFailed as failed:
            return f"{failed.key} {sync.confirm('Send a bill?')}"
        return "never"

    assert (await run(body, [accept(yes=True)])).text == "pay True"
    assert tries == ["tried"]


async def test_what_the_effect_raised_is_the_cause():
    causes: list[BaseException | None] = []

    def pay() -> None:
        raise ConnectionError("no line")

    def body() -> str:
        try:
            sync.once("pay", pay)
        except EffectFailed as failed:
            causes.append(failed.__cause__)
        return "done"

    await run_tool(mcpserver(body), "t")
    assert isinstance(causes[0], ConnectionError)


async def test_a_body_can_be_stopped_from_inside_an_effect(run: RunBody):
    def effect() -> str:
        Declined().or_stop("Then not.")

    stopped = await run(lambda: sync.once("effect", effect))
    assert (stopped.text, stopped.is_error) == ("Then not.", False)


async def test_a_question_inside_an_effect_is_an_authors_error(run: RunBody):
    def effect() -> str:
        return str(sync.ask("Name?", str))

    result = await run(lambda: sync.once("effect", effect))
    assert result.is_error and "Ask first" in result.text


async def test_an_effect_inside_an_effect_is_an_authors_error(run: RunBody):
    result = await run(lambda: sync.once("outer", lambda: str(sync.once("inner", len, ""))))
    assert result.is_error and "once('outer', ...)" in result.text


async def test_a_result_in_place_of_a_function_is_an_authors_error(run: RunBody):
    pay: Any = "paid"
    result = await run(lambda: str(sync.once("pay", pay)))
    assert result.is_error and "Pass the function itself" in result.text


async def test_one_key_for_two_effects_is_an_authors_error(run: RunBody):
    result = await run(lambda: f"{sync.once('same', len, 'a')}{sync.once('same', len, 'b')}")
    assert result.is_error and "'same'" in result.text


async def test_an_effect_under_way_is_finished_before_the_call_suspends(revision: str):
    begun, asking, log = threading.Event(), threading.Event(), list[str]()

    def pay() -> str:
        begun.set()
        assert asking.wait(5)
        log.append("paid")
        return "receipt"

    def ask_meanwhile() -> str:
        assert begun.wait(5)
        asking.set()
        return str(sync.ask("Sure?", bool, key="sure"))

    async def body() -> str:
        parts: list[str] = []

        async def note(part: Any) -> None:
            parts.append(await anyio.to_thread.run_sync(part))

        async with anyio.create_task_group() as group:
            group.start_soon(note, partial(sync.once, "pay", pay))
            group.start_soon(note, ask_meanwhile)
        return " ".join(sorted(parts))

    begun_once = await run_tool(async_mcpserver(body), "t", None, [accept(True)], revision=revision)
    assert begun_once.text == "Accepted(value=True) receipt"
    assert log == ["paid"]
