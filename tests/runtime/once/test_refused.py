"""No copies: other answers, older and forgotten rounds are refused; what is malformed or missing burns nothing."""

from typing import Any

import anyio
import pytest

from askback import Accepted, ask, ask_all, once
from askback.stores import MemoryStore, Store
from tests.runtime.once.servers import Host, Kind, serve
from tests.support.deliveries import PATIENCE, REFUSED, end_of, text_of, without_seal
from tests.support.raw import accepting, answering, raw_client

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


class Shop:
    """Asks twice, and sells after each answer; the seller waits while the shop is closed."""

    def __init__(self) -> None:
        self.sold: list[int] = []
        self.is_open = anyio.Event()
        self.is_selling = anyio.Event()
        self.is_open.set()

    async def sell(self, pieces: int) -> int:
        self.sold.append(pieces)
        self.is_selling.set()
        await self.is_open.wait()
        return pieces

    async def body(self) -> str:
        for key in ("apples", "pears"):
            answer = await ask(f"How many {key}?", int)
            if isinstance(answer, Accepted):
                await once(key, self.sell, answer.value)
        return f"sold {self.sold}"


OTHERS: dict[str, Any] = {
    "another number": accepting(value=4),
    "a decline": {"action": "decline"},
    "a cancel": {"action": "cancel"},
    "more than was asked": accepting(value=3, surplus=1),
    "the same as a list": {"action": "accept", "content": [["value", 3]]},
    "nothing": None,
}


@pytest.mark.parametrize("other", OTHERS)
async def test_other_answers_to_a_round_that_is_under_way_are_refused_at_once(
    other: str, host: Host, store: Store
):
    shop = Shop()
    shop.is_open = anyio.Event()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await client.call()

        async def take() -> None:
            await client.call(**answering(first, ask_1=accepting(value=3)))

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(take)
                await shop.is_selling.wait()
                assert await end_of(client.call(**answering(first, ask_1=OTHERS[other]))) == REFUSED
                shop.is_open.set()
    assert shop.sold == [3]


@pytest.mark.parametrize("other", OTHERS)
async def test_other_answers_to_a_round_that_was_answered_are_refused(other: str, host: Host, store: Store):
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await client.call()
        second = await client.call(**answering(first, ask_1=accepting(value=3)))
        assert await end_of(client.call(**answering(first, ask_1=OTHERS[other]))) == REFUSED
        last = await client.call(**answering(second, ask_2=accepting(value=5)))
        assert await end_of(client.call(**answering(second, ask_2=OTHERS[other]))) == REFUSED
    assert text_of(last) == "sold [3, 5]"
    assert shop.sold == [3, 5]


HALF = "\ud800"
"""Half of a surrogate pair: no JSON that others could read, and all the same a client may send it."""

ALIKE: dict[str, tuple[Any, Any]] = {
    "what nobody asked for is half a character": (
        accepting(value=3, surplus=HALF),
        accepting(value=4, surplus=HALF),
    ),
    "a yes and a no": (accepting(value=3, surplus=HALF), {**accepting(surplus=HALF), "action": "decline"}),
    "a client that says by whom": (
        {"action": "decline", "_meta": {"askback/answered": {"channel": "desk"}}},
        {"action": "decline", "_meta": {"askback/answered": {"channel": "policy"}}},
    ),
}


@pytest.mark.parametrize("alike", ALIKE)
async def test_answers_that_differ_a_little_are_other_answers(alike: str, host: Host, store: Store):
    one, other = ALIKE[alike]
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await client.call()
        second = await client.call(**answering(first, ask_1=one))
        assert await end_of(client.call(**answering(first, ask_1=other))) == REFUSED
        copy = await client.call(**answering(first, ask_1=dict(reversed(one.items()))))
    assert without_seal(copy) == without_seal(second)


async def test_an_older_round_is_refused_even_with_the_answers_it_had(host: Host, kind: Kind, store: Store):
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await kind.deliver(client)
        second = await kind.deliver(client, **answering(first, ask_1=accepting(value=3)))
        last = await kind.deliver(client, **answering(second, ask_2=accepting(value=5)))
        assert await end_of(kind.deliver(client, **answering(first, ask_1=accepting(value=3)))) == REFUSED
        again = await kind.deliver(client, **answering(second, ask_2=accepting(value=5)))
    assert last == again
    assert shop.sold == [3, 5]


async def test_a_round_whose_end_had_to_go_is_refused(host: Host, kind: Kind):
    """The cap of the store is reached: the oldest ends go first, and stay spent."""
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=MemoryStore(max_results=2))) as client:
        rounds = [await kind.deliver(client) for _ in range(4)]
        seconds = [await kind.deliver(client, **answering(one, ask_1=accepting(value=3))) for one in rounds]
        copies = [
            await end_of(kind.deliver(client, **answering(one, ask_1=accepting(value=3)))) for one in rounds
        ]
        assert copies[:2] == [REFUSED, REFUSED]
        assert [without_seal(copy) for copy in copies[2:]] == [without_seal(second) for second in seconds[2:]]
        goes_on = await end_of(kind.deliver(client, **answering(seconds[0], ask_2=accepting(value=5))))
    assert shop.sold == [3, 3, 3, 3, 5]
    assert text_of(goes_on) == "sold [3, 3, 3, 3, 5]", "what it told the client before still holds"


MALFORMED: dict[str, Any] = {
    "a list": [],
    "a text": "yes",
    "a number": 1,
    "true": True,
    "no reply": {"ask-1": "yes"},
    "an unknown action": {"ask-1": {"action": "perhaps"}},
    "no action": {"ask-1": {"content": {"value": 3}}},
    "a list for a reply": {"ask-1": [accepting(value=3)]},
}


@pytest.mark.verifies("R41")
@pytest.mark.parametrize("responses", MALFORMED)
async def test_a_malformed_retry_burns_nothing(responses: str, host: Host, store: Store):
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await client.call()
        fields = {"requestState": first["requestState"], "inputResponses": MALFORMED[responses]}
        broken = await end_of(client.call(**fields))
        assert broken == {"code": -32602, "message": "Invalid inputResponses"}
        assert (shop.sold, await store.count()) == ([], 0)
        second = await client.call(**answering(first, ask_1=accepting(value=3)))
        assert await end_of(client.call(**fields)) == broken
    assert list(second["inputRequests"]) == ["ask-2"]
    assert shop.sold == [3]


@pytest.mark.verifies("R43")
@pytest.mark.parametrize("fields", [{}, {"inputResponses": {}}, {"inputResponses": None}], ids=str)
async def test_a_missing_answer_is_asked_for_again(
    fields: dict[str, Any], host: Host, kind: Kind, store: Store
):
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await kind.deliver(client)
        again = await kind.deliver(client, requestState=first["requestState"], **fields)
        assert again["inputRequests"] == first["inputRequests"]
        copy = await kind.deliver(client, requestState=first["requestState"], **fields)
        assert without_seal(copy) == without_seal(again)
        second = await kind.deliver(client, **answering(again, ask_1=accepting(value=3)))
        assert await end_of(kind.deliver(client, **answering(first, ask_1=accepting(value=3)))) == REFUSED
    assert list(second["inputRequests"]) == ["ask-2"]
    assert shop.sold == [3]


@pytest.mark.verifies("R43")
async def test_what_was_answered_of_several_questions_stays_answered(host: Host, kind: Kind, store: Store):
    async def body() -> str:
        answers = await ask_all({"name": ("Name?", str), "age": ("Age?", int)})
        return str({key: answer.or_stop("no") for key, answer in answers.items()})

    async with raw_client(serve(host, body, store=store)) as client:
        first = await kind.deliver(client)
        half = await kind.deliver(client, **answering(first, name=accepting(value="Ada")))
        assert list(half["inputRequests"]) == ["age"]
        copy = await kind.deliver(client, **answering(first, name=accepting(value="Ada")))
        assert without_seal(copy) == without_seal(half)
        other = await end_of(kind.deliver(client, **answering(first, age=accepting(value=36))))
        assert other == REFUSED
        last = await kind.deliver(client, **answering(copy, age=accepting(value=36)))
    assert text_of(last) == "{'name': 'Ada', 'age': 36}"


async def test_the_order_in_which_answers_are_written_makes_no_other_round(host: Host, store: Store):
    async def body() -> str:
        answers = await ask_all({"name": ("Name?", str), "age": ("Age?", int)})
        return str({key: answer.or_stop("no") for key, answer in answers.items()})

    name, age = accepting(value="Ada"), accepting(value=36)
    async with raw_client(serve(host, body, store=store)) as client:
        first = await client.call()
        one = await client.call(**answering(first, name=name, age=age))
        other = await client.call(**answering(first, age=dict(reversed(age.items())), name=name))
        unasked = await client.call(**answering(first, age=age, name=name, nobody=accepting(value=1)))
    assert one == other == unasked


async def test_a_reply_that_does_not_fit_is_asked_again_once_for_all_copies(host: Host, store: Store):
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await client.call()
        again, copy = [await client.call(**answering(first, ask_1=accepting(value="many"))) for _ in range(2)]
        assert without_seal(again) == without_seal(copy)
        assert list(again["inputRequests"]) == ["ask-1"]
        assert await end_of(client.call(**answering(first, ask_1=accepting(value=3)))) == REFUSED
        second = await client.call(**answering(copy, ask_1=accepting(value=3)))
    assert list(second["inputRequests"]) == ["ask-2"]
    assert shop.sold == [3]


async def test_a_seal_that_has_expired_is_refused_by_the_boundary(
    host: Host, kind: Kind, store: Store, monkeypatch: pytest.MonkeyPatch
):
    now = [1_000_000.0]
    monkeypatch.setattr("mcp.server.request_state.time.time", lambda: now[0])
    shop = Shop()
    server = serve(host, shop.body, store=store, think_time=60, clock=lambda: now[0])
    async with raw_client(server) as client:
        first = await kind.deliver(client)
        now[0] += 59
        second = await kind.deliver(client, **answering(first, ask_1=accepting(value=3)))
        now[0] += 2
        late = await end_of(kind.deliver(client, **answering(first, ask_1=accepting(value=3))))
        last = await end_of(kind.deliver(client, **answering(second, ask_2=accepting(value=5))))
    assert late["message"] == "Invalid or expired requestState"
    assert text_of(last) == "sold [3, 5]"
    assert shop.sold == [3, 5]


async def test_what_is_refused_says_so_in_the_log_and_nothing_of_what_was_answered(
    host: Host, store: Store, caplog: pytest.LogCaptureFixture
):
    shop = Shop()
    async with raw_client(serve(host, shop.body, store=store)) as client:
        first = await client.call()
        await client.call(**answering(first, ask_1=accepting(value=31337)))
        await end_of(client.call(**answering(first, ask_1=accepting(value=31338))))
    said = [record.getMessage() for record in caplog.records if record.name == "askback"]
    assert said == ["a round that was already used came again in tools/call"]
