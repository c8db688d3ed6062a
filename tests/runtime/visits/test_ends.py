"""How a visit ends: the application says so, or the person, or the time; and each is told from the others."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from askback import Accepted, Askback, Cancelled, Declined, TimedOut, visit
from askback.errors import AuthorError, VisitFailed, VisitUnknown
from askback.runtime.visits import digest_of
from tests.support.visit_shops import (
    JULY,
    LINK,
    Action,
    CountingMemory,
    Host,
    Shop,
    Traveller,
    in_memory,
    mcpserver,
    pay,
    text_of,
)

pytestmark = pytest.mark.anyio
Reached = Callable[[Shop], AbstractAsyncContextManager[Any]]
Application = Callable[[Askback, str], Coroutine[Any, Any, bool]]


async def order() -> str:
    """A body that tells all ends apart."""
    try:
        match await visit("Please pay.", LINK):
            case Accepted(result):
                return f"paid {result}"
            case Declined():
                return "no thanks"
            case Cancelled():
                return "not now"
    except VisitFailed as failed:
        return f"failed: {failed.reason}"
    except TimedOut as late:
        return f"{type(late).__name__} after {late.seconds:g}"


APPLICATION: dict[str, tuple[Application, str]] = {
    "settled": (lambda asked, id: asked.settle(id, {"amount": 20}), "paid {'amount': 20}"),
    "settled with nothing": (lambda asked, id: asked.settle(id), "paid None"),
    "failed": (lambda asked, id: asked.fail(id, "the card was refused"), "failed: the card was refused"),
}


@pytest.mark.parametrize("end", APPLICATION)
async def test_the_application_ends_a_visit_and_the_body_goes_on(
    revision: str, host: Host, reached: Reached, end: str
):
    application, text = APPLICATION[end]
    shop = host(order)
    person = Traveller(then=lambda id: application(shop.asked, id))
    async with reached(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == text
    assert len(person.urls) == 1


@pytest.mark.parametrize(("action", "text"), [("decline", "no thanks"), ("cancel", "not now")])
async def test_a_no_and_a_closed_question_are_told_apart(
    revision: str, host: Host, reached: Reached, action: Action, text: str
):
    shop, person = host(order), Traveller(action)
    async with reached(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == text


async def test_time_is_over_when_nobody_ends_it(revision: str, host: Host, reached: Reached):
    async def hurried() -> str:
        try:
            return repr(await visit("Please pay.", LINK, timeout=0.05))
        except TimedOut as late:
            return f"{type(late).__name__} after {late.seconds:g}"

    shop, person = host(hurried), Traveller()
    async with reached(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == "TimedOut after 0.05"


async def test_the_time_of_any_question_holds_for_visits_too(revision: str):
    shop, person = mcpserver(order, timeout=0.05), Traveller()
    async with in_memory(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == "TimedOut after 0.05"


async def test_who_does_not_wait_goes_on_with_the_id(revision: str, host: Host, reached: Reached):
    async def go() -> str:
        match await visit("Please pay.", LINK, wait=False):
            case Accepted(id):
                return str(id)
            case other:
                return repr(other)

    shop, person = host(go), Traveller()
    async with reached(shop) as target, person.at(revision, target) as client:
        id = text_of(await client.call_tool("t", {}))
        assert id == person.id
        assert await shop.asked.settle(id, "paid later")


@pytest.mark.verifies("R24")
async def test_agreeing_to_go_is_not_the_end(revision: str, host: Host, reached: Reached):
    store = CountingMemory()
    shop, person, ended = host(order, store=store), Traveller(), anyio.Event()

    async def call(client: Any) -> None:
        assert text_of(await client.call_tool("t", {})) == "paid 20"
        ended.set()

    async with (
        reached(shop) as target,
        person.at(revision, target) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(call, client)
        await store.counting.until_waiting()
        assert not ended.is_set()
        assert await shop.asked.settle(person.id, 20)
        await ended.wait()


@pytest.mark.verifies("R24")
async def test_what_a_client_sends_with_its_consent_is_no_result(revision: str):
    shop = mcpserver(order)

    async def settle(id: str) -> None:
        await shop.asked.settle(id, "from the till")

    class Forger(Traveller):
        async def __call__(self, context: Any, params: Any) -> Any:
            consent = await super().__call__(context, params)
            return consent.model_copy(update={"content": {"result": "paid", "amount": 1_000}})

    person = Forger(then=settle)
    async with in_memory(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == "paid from the till"


class Receipt(BaseModel):
    number: int
    lines: list[str] = []


SHAPES: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (0, 0),
    (2.5, 2.5),
    ("", ""),
    ("zażółć 🥐", "zażółć 🥐"),
    ([], []),
    ((1, 2), [1, 2]),
    ({"a": {"b": [None]}}, {"a": {"b": [None]}}),
    (Receipt(number=7, lines=["tea"]), {"number": 7, "lines": ["tea"]}),
    ("x" * 100_000, "x" * 100_000),
]


@pytest.mark.parametrize(("result", "found"), SHAPES, ids=lambda it: f"{it!r:.30}")
async def test_a_result_of_any_plain_shape_reaches_the_body(revision: str, result: Any, found: Any):
    seen: list[Any] = []
    said: list[bool] = []

    async def look() -> str:
        answer = await visit("Please pay.", LINK)
        seen.append(answer)
        return "seen"

    shop = mcpserver(look)

    async def settle(id: str) -> None:
        said.append(await shop.asked.settle(id, result))
        said.append(await shop.asked.settle(id, result))

    person = Traveller(then=settle)
    async with in_memory(shop) as target, person.at(revision, target) as client:
        await client.call_tool("t", {})
    assert seen == [Accepted(found)]
    assert said == [True, True]  # a webhook that comes twice says the same twice


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "result", [object(), {"function": print}, CYCLE, "\ud800"], ids=["object", "function", "cycle", "half"]
)
async def test_what_cannot_be_written_down_is_refused_and_the_visit_stays_open(result: Any):
    shop = mcpserver(pay)

    async def settle(id: str) -> None:
        with pytest.raises(AuthorError, match="cannot be written down"):
            await shop.asked.settle(id, result)
        assert await shop.asked.settle(id, "plain")

    person = Traveller(then=settle)
    async with in_memory(shop) as target, person.at(JULY, target) as client:
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='plain')"


async def test_the_first_end_stands_and_the_second_learns_it(revision: str, host: Host):
    shop = host(order)
    said: list[bool] = []

    async def end(id: str) -> None:
        said.append(await shop.asked.fail(id, "refused"))
        said.append(await shop.asked.settle(id, 20))
        said.append(await shop.asked.settle(id, "refused"))
        said.append(await shop.asked.fail(id, "refused"))

    person = Traveller(then=end)
    async with in_memory(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == "failed: refused"
    assert said == [True, False, False, True]


async def test_of_fifty_ends_at_once_one_stands(revision: str):
    shop = mcpserver(order)
    said: dict[int, bool] = {}

    async def settle(id: str, amount: int) -> None:
        said[amount] = await shop.asked.settle(id, amount)

    async def end(id: str) -> None:
        async with anyio.create_task_group() as group:
            for amount in range(50):
                group.start_soon(settle, id, amount)

    person = Traveller(then=end)
    async with in_memory(shop) as target, person.at(revision, target) as client:
        text = text_of(await client.call_tool("t", {}))
    (winner,) = [amount for amount, stood in said.items() if stood]
    assert text == f"paid {winner}"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_after_a_no_it_is_too_late_to_settle(revision: str, action: Action):
    shop, person = mcpserver(order), Traveller(action)
    async with in_memory(shop) as target, person.at(revision, target) as client:
        await client.call_tool("t", {})
        assert not await shop.asked.settle(person.id, 20)


@pytest.mark.parametrize("id", ["", "nobody's", "x" * 43, "{id}", "\ud800"])
async def test_an_id_that_was_never_given_out_is_unknown(id: str):
    shop = mcpserver(order)
    with pytest.raises(VisitUnknown, match="never begun on this store"):
        await shop.asked.settle(id, 20)
    with pytest.raises(VisitUnknown):
        await shop.asked.fail(id, "why not")


@pytest.mark.verifies("R29")
async def test_an_id_is_long_new_each_time_and_nowhere_in_the_store(revision: str):
    store = CountingMemory()
    shop = mcpserver(order, store=store)
    person = Traveller("decline")
    async with in_memory(shop) as target, person.at(revision, target) as client:
        for _ in range(5):
            await client.call_tool("t", {})
    assert len(set(person.urls)) == 5
    assert all(len(url) == len(LINK) - len("{id}") + 43 for url in person.urls)  # 256 bits
    kept = await store.rows(prefix="")
    names = {name for _, name in kept}
    for url in person.urls:
        id = url.rpartition("/")[2]
        assert digest_of(id) in names and id not in repr(kept)
