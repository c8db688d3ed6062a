"""One round delivered many times: its effects are run once, and everybody reads the same end."""

from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from askback import Accepted, Askback, Declined, ask, confirm, once
from askback.stores import Store
from tests.runtime.once.servers import Body, Host, Kind, serve
from tests.support.deliveries import all_alike, end_of, ends_of, text_of, without_seal
from tests.support.raw import accepting, answering, raw_client

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]

FIFTY = 50


class Till:
    """Counts what was charged; every charge takes a while."""

    def __init__(self) -> None:
        self.charged: list[int] = []

    async def charge(self, amount: int) -> int:
        self.charged.append(amount)
        for _ in range(FIFTY):
            await anyio.lowlevel.checkpoint()
        return len(self.charged)

    async def body(self) -> str:
        """Two questions, and an effect behind each."""
        numbers: list[int] = []
        for key in ("first", "second"):
            answer = await ask(f"How much for the {key}?", int)
            assert isinstance(answer, Accepted)
            numbers.append(await once(key, self.charge, answer.value))
        return f"charged {numbers}"


async def test_fifty_deliveries_at_once_run_the_effects_once_and_end_alike(
    every_host: Host, kind: Kind, store: Store
):
    till = Till()
    async with raw_client(serve(every_host, till.body, store=store)) as client:
        first = await kind.deliver(client)
        seconds = await ends_of(
            [kind.deliver(client, **answering(first, ask_1=accepting(value=3))) for _ in range(FIFTY)]
        )
        assert till.charged == [3]
        assert all_alike(seconds) and list(seconds[0]["inputRequests"]) == ["ask-2"]
        assert len({second["requestState"] for second in seconds}) == FIFTY, (
            "everybody has a seal of their own"
        )
        lasts = await ends_of(
            [kind.deliver(client, **answering(second, ask_2=accepting(value=4))) for second in seconds]
        )
    assert till.charged == [3, 4]
    assert all_alike(lasts) and text_of(lasts[0]) == "charged [1, 2]"


async def test_a_copy_that_comes_after_the_end_gets_the_same_end(host: Host, kind: Kind, store: Store):
    till = Till()
    async with raw_client(serve(host, till.body, store=store)) as client:
        first = await kind.deliver(client)
        answer = answering(first, ask_1=accepting(value=3))
        second, again = await kind.deliver(client, **answer), await kind.deliver(client, **answer)
        assert without_seal(second) == without_seal(again)
        answer = answering(again, ask_2=accepting(value=4))
        last, once_more = await kind.deliver(client, **answer), await kind.deliver(client, **answer)
    assert last == once_more and text_of(last) == "charged [1, 2]"
    assert till.charged == [3, 4]


async def raises() -> str:
    """Fails in the author's own code."""
    await confirm("Sure?")
    raise ValueError("unforeseen")


async def raises_for_the_protocol() -> str:
    """Ends with an error of the author's choice."""
    await confirm("Sure?")
    raise MCPError(-32050, "out of dough", {"until": "noon", "pizzas": [1, None, "ü"]})


async def stops() -> str:
    """Ends politely."""
    await confirm("Sure?")
    return str(Declined().or_stop("as you wish"))


async def fails() -> str:
    """Its effect fails."""
    await confirm("Sure?")
    return str(await once("divide", lambda: 1 // 0))


@pytest.mark.parametrize("body", [raises, raises_for_the_protocol, fails, stops])
async def test_an_end_that_is_an_error_is_the_same_for_all_copies(
    body: Body, host: Host, kind: Kind, store: Store
):
    async with raw_client(serve(host, body, store=store)) as client:
        first = await kind.deliver(client)
        ends = await ends_of(
            [kind.deliver(client, **answering(first, ask_1=accepting(yes=True))) for _ in range(5)]
        )
        ends.append(await end_of(kind.deliver(client, **answering(first, ask_1=accepting(yes=True)))))
    assert all_alike(ends), ends


async def test_a_client_that_cannot_be_asked_on_is_told_so_in_every_copy(host: Host, store: Store):
    till = Till()
    async with raw_client(serve(host, till.body, store=store)) as client:
        first = await client.call()
        answer = answering(first, ask_1=accepting(value=3))
        ends = await ends_of([client.call(capabilities={}, **answer) for _ in range(5)])
    assert till.charged == [3]
    assert all_alike(ends) and ends[0]["code"] == -32021


@pytest.mark.verifies("R02", "R04")
async def test_a_copy_from_a_client_that_cannot_show_forms_is_sent_none():
    till = Till()
    async with raw_client(serve("MCPServer", till.body)) as client:
        first = await client.call()
        answer = answering(first, ask_1=accepting(value=3))
        assert "inputRequests" in await client.call(**answer)
        end = await end_of(client.call(capabilities={}, **answer))
    assert "inputRequests" not in end
    assert till.charged == [3]


@pytest.mark.verifies("R04")
async def test_a_client_that_declares_after_all_what_was_missing_goes_on():
    """The error names the capability that is required, so the client sends the same round with it."""
    till = Till()
    async with raw_client(serve("MCPServer", till.body)) as client:
        first = await client.call()
        answer = answering(first, ask_1=accepting(value=3))
        assert (await end_of(client.call(capabilities={}, **answer)))["code"] == -32021
        end = await end_of(client.call(**answer))
    assert list(end.get("inputRequests", ())) == ["ask-2"], end
    assert till.charged == [3]


RESULTS: dict[str, Any] = {
    "nothing": None,
    "half of a pair": "\ud83c",
    "no number": float("nan"),
    "large": 2**80,
    "small": 5e-324,
    "deep": {"a": {"b": [{"c": [[[]]]}]}},
    "text that looks like an escape": r"\ud83c",
}


@pytest.mark.parametrize("result", RESULTS)
async def test_a_copy_reads_every_value_as_it_was(result: str, store: Store):
    async def call(_ctx: Any, _params: Any) -> CallToolResult:
        await confirm("Sure?")
        return CallToolResult(content=[], structured_content={"value": RESULTS[result]})

    server: Server[Any] = Server("once", on_call_tool=call)
    Askback(server, store=store)
    async with raw_client(server) as client:
        first = await client.call()
        one, two = [await client.call(**answering(first, ask_1=accepting(yes=True))) for _ in range(2)]
    assert repr(one) == repr(two)


async def test_a_round_is_the_same_round_whichever_key_has_sealed_it(store: Store):
    """Keys are rotated while copies are under way."""
    till, keys = Till(), ["o" * 32, "n" * 32]
    before = serve("MCPServer", till.body, store=store, keys=keys)
    after = serve("MCPServer", till.body, store=store, keys=keys[::-1])
    async with raw_client(before) as old, raw_client(after) as new:
        first = await old.call()
        seconds = [
            await client.call(**answering(first, ask_1=accepting(value=3))) for client in (old, new, old)
        ]
        lasts = [await new.call(**answering(second, ask_2=accepting(value=4))) for second in seconds]
    assert till.charged == [3, 4]
    assert all_alike(seconds) and all_alike(lasts)


async def test_a_copy_that_another_server_object_serves_gets_the_same_end(store: Store):
    """As two workers of one deployment: the same keys, the same store."""
    till = Till()
    servers = [serve("MCPServer", till.body, store=store, keys=["k" * 32]) for _ in range(2)]
    async with raw_client(servers[0]) as one, raw_client(servers[1]) as other:
        first = await one.call()
        answer = answering(first, ask_1=accepting(value=3))
        ends = await ends_of([client.call(**answer) for client in (one, other) for _ in range(10)])
    assert till.charged == [3]
    assert all_alike(ends)
