"""`once(..., within=...)`: an effect that is not run again in another call of the same caller, tool and arguments."""

from datetime import date, timedelta
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from pydantic import BaseModel

from askback import Askback, ask, once, sync
from askback.errors import EffectFailed
from askback.stores import MemoryStore, Store
from askback.testing import REVISIONS, accept, get_prompt, read_resource, run_tool
from tests.runtime.once.bank import HOUR, Bank
from tests.runtime.once.servers import Host, serve
from tests.support.clock import Clock
from tests.support.raw import raw_client
from tests.support.tool_servers import mcpserver

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


@pytest.mark.parametrize("again_on", REVISIONS)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_call_that_is_begun_anew_does_not_repeat_it(
    revision: str, again_on: str, host: Host, store: Store
):
    bank = Bank()
    server = serve(host, bank.asking, store=store)
    answers = [accept(True), accept(False)]
    runs = [
        await run_tool(server, "t", None, answers, revision=one) for one in (revision, again_on, revision)
    ]
    assert [run.text for run in runs] == ["transfer 1"] * 3
    assert bank.made == ["Ada"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_prompts_and_resources_have_it_too_each_for_itself(revision: str, host: Host, store: Store):
    bank = Bank()
    server = serve(host, bank.body, store=store)
    for _ in range(2):
        texts = [
            (await run_tool(server, "t", revision=revision)).text,
            (await get_prompt(server, "t", revision=revision)).text,
            (await read_resource(server, "once://t", revision=revision)).text,
        ]
        assert texts == ["transfer 1", "transfer 2", "transfer 3"]


def counter(bank: Bank, store: Store, **options: Any) -> MCPServer[Any]:
    """A server with two tools that do the same."""
    server: MCPServer[Any] = MCPServer("bank")
    Askback(server, store=store, **options)

    async def pay(to: str, note: str | None = None) -> str:
        return f"transfer {await once('transfer', bank.transfer, to, within=HOUR)}"

    server.add_tool(pay, name="pay")
    server.add_tool(pay, name="send")
    return server


async def test_other_arguments_or_another_tool_are_another_effect(store: Store):
    bank = Bank()
    server = counter(bank, store)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("pay", {"to": "Ada"}),
        ("pay", {"to": "Bob"}),
        ("pay", {"to": "Ada", "note": "rent"}),
        ("send", {"to": "Ada"}),
    ]
    for _ in range(2):
        texts = [(await run_tool(server, name, arguments)).text for name, arguments in calls]
        assert texts == [f"transfer {number}" for number in (1, 2, 3, 4)]
    assert bank.made == ["Ada", "Bob", "Ada", "Ada"]


async def test_the_order_in_which_arguments_are_written_makes_no_other_effect(store: Store):
    bank = Bank()
    server = counter(bank, store)
    await run_tool(server, "pay", {"to": "Ada", "note": "rent"})
    await run_tool(server, "pay", {"note": "rent", "to": "Ada"})
    assert bank.made == ["Ada"]


@pytest.mark.parametrize("fields", [{}, {"arguments": None}, {"arguments": {}}], ids=str)
async def test_no_arguments_are_no_arguments_however_a_client_writes_that(
    fields: dict[str, Any], store: Store
):
    """The seal takes them for the same call, and so does the effect."""
    bank = Bank()
    async with raw_client(serve("MCPServer", bank.body, store=store)) as client:
        await client.call()
        await client.send("tools/call", name="t", **fields)
    assert bank.made == ["Ada"]


async def test_another_key_is_another_effect_and_so_is_the_same_key_without_a_time(store: Store):
    bank = Bank()

    async def body() -> str:
        first = await once("one", bank.transfer, within=HOUR)
        return f"{first} {await once('two', bank.transfer, within=HOUR)} {await once('three', bank.transfer)}"

    server = mcpserver(body, store=store)
    assert [(await run_tool(server, "t")).text for _ in range(2)] == ["1 2 3", "1 2 4"]


async def test_when_the_time_is_over_it_is_run_again():
    bank, clock = Bank(), Clock()
    server = mcpserver(bank.body, clock=clock)
    texts: list[str] = []
    for seconds in (0, 3599, 1, 3599, 1):
        clock.now += seconds
        texts.append((await run_tool(server, "t")).text)
    assert texts == ["transfer 1", "transfer 1", "transfer 2", "transfer 2", "transfer 3"]


@pytest.mark.parametrize("within", [2, 2.5, timedelta(seconds=2)], ids=str)
async def test_the_time_is_seconds_or_a_length_of_time(within: timedelta | float):
    bank, clock = Bank(), Clock()

    async def body() -> str:
        return str(await once("transfer", bank.transfer, within=within))

    server = mcpserver(body, clock=clock)
    for seconds in (0, 1, 2):
        clock.now += seconds
        await run_tool(server, "t")
    assert bank.made == ["Ada", "Ada"]


@pytest.mark.parametrize("within", [0, -1, float("nan"), float("inf")])
async def test_a_time_that_is_none_is_refused_and_nothing_is_run(within: float):
    bank = Bank()

    async def body() -> str:
        return str(await once("transfer", bank.transfer, within=within))

    run = await run_tool(mcpserver(body), "t")
    assert run.is_error and "within" in run.text
    assert bank.made == []


async def test_a_failure_is_remembered(host: Host, store: Store):
    tries: list[int] = []
    told: list[str] = []

    def charge() -> int:
        tries.append(1)
        raise ConnectionError("the bank did not answer")

    async def body() -> str:
        try:
            await once("charge", charge, within=HOUR)
        except EffectFailed as error:
            told.append(f"{error.kind}: {error.text}")
        return "told"

    server = serve(host, body, store=store)
    for revision in REVISIONS:
        await run_tool(server, "t", revision=revision)
    assert tries == [1]
    assert told == ["ConnectionError: the bank did not answer"] * 3


async def test_a_failure_that_is_remembered_does_not_advise_to_call_anew(store: Store):
    """Within the time, calling anew would not try it again."""

    async def body() -> str:
        return str(await once("divide", lambda: 1 // 0, within=HOUR))

    run = await run_tool(mcpserver(body, store=store), "t")
    assert run.is_error and "ZeroDivisionError" in run.text
    assert "make a new call to try it again" not in run.text


async def test_a_result_that_cannot_be_written_down_is_not_run_for_again(host: Host, store: Store):
    runs: list[int] = []

    def connection() -> object:
        runs.append(1)
        return object()

    async def body() -> str:
        return str(await once("connection", connection, within=HOUR))

    server = serve(host, body, store=store)
    texts = [(await run_tool(server, "t")).text for _ in range(2)]
    assert runs == [1]
    assert texts[0] == texts[1] and "pydantic" in texts[0]


class Receipt(BaseModel):
    number: int
    day: date


async def test_another_call_gets_the_result_in_the_type_that_was_declared(host: Host, store: Store):
    seen: list[Any] = []

    def receipt() -> Receipt:
        return Receipt(number=len(seen), day=date(2026, 7, 28))

    async def body() -> str:
        seen.append(await once("receipt", receipt, within=HOUR))
        return "here"

    server = serve(host, body, store=store)
    for revision in REVISIONS:
        await run_tool(server, "t", revision=revision)
    assert seen == [Receipt(number=0, day=date(2026, 7, 28))] * 3


async def test_a_bounded_store_that_forgot_the_result_still_knows_that_it_was_run():
    bank, told = Bank(), list[str]()

    async def pay(to: str) -> str:
        try:
            return str(await once("transfer", bank.transfer, to, within=HOUR))
        except EffectFailed as error:
            told.append(error.kind)
            return "unknown"

    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(pay)
    Askback(server, store=MemoryStore(max_results=1))
    for to in ("Ada", "Bob", "Ada"):
        await run_tool(server, "pay", {"to": to})
    assert bank.made == ["Ada", "Bob"]
    assert told == ["Forgotten"]


async def test_two_of_them_in_one_call_are_each_run_once(host: Host, store: Store):
    bank = Bank()

    async def body() -> str:
        numbers: list[int] = []

        async def one(key: str) -> None:
            numbers.append(await once(key, bank.transfer, key, within=HOUR))

        async with anyio.create_task_group() as tasks:
            for key in ("left", "right"):
                tasks.start_soon(one, key)
        await ask("Enough?", bool)
        return str(sorted(numbers))

    server = serve(host, body, store=store)
    for revision in REVISIONS:
        assert (await run_tool(server, "t", None, [accept(True)], revision=revision)).text == "[1, 2]"
    assert sorted(bank.made) == ["left", "right"]


async def test_a_body_written_with_def_has_it_too(store: Store):
    bank = Bank()

    def body() -> str:
        return f"transfer {sync.once('transfer', bank.transfer, within=HOUR)}"

    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(body, name="t")
    Askback(server, store=store)
    for revision in REVISIONS:
        assert (await run_tool(server, "t", revision=revision)).text == "transfer 1"
    assert bank.made == ["Ada"]
