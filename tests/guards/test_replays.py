"""Rounds of guards that are replayed, copied, taken over or made up: none approves twice, nor more than was asked."""

from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from askback import ask, guard
from askback.guards import Risk
from askback.runtime.approvals import Approvals
from askback.stores import MemoryStore
from tests.guards.serving import Serve, mcpserver
from tests.support.clock import Clock
from tests.support.deliveries import REFUSED, end_of, text_of
from tests.support.raw import Raw, accepting, answering, raw_client

pytestmark = pytest.mark.anyio

KEY = b"a key of the tills', for tests.."
HOUR = accepting(decision="for 3600")
YES = accepting(yes=True)


class Till:
    """Pays after a yes, and then asks for a tip."""

    def __init__(self, serve: Serve, clock: Clock) -> None:
        self.paid: list[tuple[str, int]] = []
        self.clock, self.store = clock, MemoryStore(clock=clock)
        self.approvals = Approvals(self.store, clock=clock)
        self.at_the_till = anyio.Event()
        self.is_stuck = False

        @guard("Pay {amount} to {to}?", offers=[3600], key="{to}")
        async def pay(to: str, amount: int) -> str:
            self.paid.append((to, amount))
            self.at_the_till.set()
            while self.is_stuck:
                await anyio.sleep_forever()
            return f"paid {amount} to {to}, tip {await ask('Tip?', int)}"

        self.server = serve(pay, store=self.store, clock=clock, keys=[KEY])


@pytest.fixture
def till(serve: Serve, clock: Clock) -> Till:
    return Till(serve, clock)


GIVEN = {"to": "ada", "amount": 5}


def place_in(asked: dict[str, Any]) -> str:
    (place,) = asked["inputRequests"]
    return place


async def begin(client: Raw, **given: Any) -> tuple[dict[str, Any], str]:
    asked = await client.call("pay", given or GIVEN)
    return asked, place_in(asked)


async def deliver(till: Till, reply: dict[str, Any]) -> None:
    """On a connection of its own, which ends with it."""
    async with raw_client(till.server) as client:
        await client.call("pay", GIVEN, **reply)


async def test_a_later_round_neither_asks_nor_grants_again(till: Till):
    async with raw_client(till.server) as client:
        asked, place = await begin(client)
        second = await client.call("pay", GIVEN, **answering(asked, **{place: HOUR}))
        (granted,) = await till.approvals.rows()
        till.clock.now += 1000
        assert place_in(second) == "ask-1"
        end = await client.call("pay", GIVEN, **answering(second, ask_1=accepting(value=1)))
    assert text_of(end) == "paid 5 to ada, tip Accepted(value=1)"
    assert await till.approvals.rows() == [granted]


async def test_what_was_revoked_meanwhile_is_not_brought_back_by_a_later_round(till: Till):
    async with raw_client(till.server) as client:
        asked, place = await begin(client)
        second = await client.call("pay", GIVEN, **answering(asked, **{place: HOUR}))
        (granted,) = await till.approvals.rows()
        await till.approvals.revoke(granted)
        end = await client.call("pay", GIVEN, **answering(second, ask_1=accepting(value=1)))
        assert "paid 5" in text_of(end), "the person has said yes to this one"
        assert await till.approvals.rows() == []
        assert place_in(await client.call("pay", GIVEN)) == place


async def test_a_copy_of_the_round_runs_nothing_and_other_answers_to_it_are_refused(till: Till):
    async with raw_client(till.server) as client:
        asked, place = await begin(client)
        reply = answering(asked, **{place: HOUR})
        await client.call("pay", GIVEN, **reply)
        (granted,) = await till.approvals.rows()
        till.clock.now += 100
        copy = await client.call("pay", GIVEN, **reply)
        assert place_in(copy) == "ask-1" and till.paid == [("ada", 5)]
        other = await end_of(
            client.call("pay", GIVEN, **answering(asked, **{place: accepting(decision="once")}))
        )
        assert other == REFUSED
        assert await till.approvals.rows() == [granted]


async def test_whoever_takes_a_round_over_does_not_prolong_what_it_granted(till: Till):
    async with raw_client(till.server) as client:
        asked, place = await begin(client)
        reply = answering(asked, **{place: HOUR})
        till.is_stuck = True
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(deliver, till, reply)
            with anyio.fail_after(15):
                await till.at_the_till.wait()
            tasks.cancel_scope.cancel()
        (granted,) = await till.approvals.rows()
        till.is_stuck = False
        till.clock.now += 500
        second = await client.call("pay", GIVEN, **reply)
        assert place_in(second) == "ask-1" and till.paid == [("ada", 5)] * 2
        assert await till.approvals.rows() == [granted]
        await till.approvals.revoke(granted)
        await client.call("pay", GIVEN, **answering(second, ask_1=accepting(value=1)))
        assert await till.approvals.rows() == []


@pytest.mark.verifies("R16")
async def test_an_answer_nobody_asked_for_approves_nothing(till: Till):
    async with raw_client(till.server) as client:
        _, place = await begin(client)
        first = await client.call("pay", GIVEN, inputResponses={place: HOUR})
        assert place_in(first) == place, "a first call that brings its own yes is asked all the same"
        other, elsewhere = await begin(client, to="bob", amount=5)
        assert elsewhere != place
        again = await client.call("pay", {"to": "bob", "amount": 5}, **answering(other, **{place: HOUR}))
        assert place_in(again) == elsewhere
    assert till.paid == [] and await till.approvals.rows() == []


@pytest.mark.verifies("R16")
async def test_an_answer_to_other_arguments_approves_nothing(till: Till):
    async with raw_client(till.server) as client:
        asked, place = await begin(client)
        with pytest.raises(MCPError):
            await client.call("pay", {"to": "ada", "amount": 5000}, **answering(asked, **{place: HOUR}))
        forged: dict[str, Any] = {
            **answering(asked, **{place: HOUR}),
            "requestState": "askback.1:{'c':'x','r':1}",
        }
        with pytest.raises(MCPError):
            await client.call("pay", GIVEN, **forged)
    assert till.paid == [] and await till.approvals.rows() == []


async def test_a_no_in_this_call_stands_whatever_was_said_in_another(till: Till):
    async with raw_client(till.server) as client:
        asked, place = await begin(client)
        other, _ = await begin(client)
        await client.call("pay", GIVEN, **answering(other, **{place: HOUR}))
        assert till.paid == [("ada", 5)] and len(await till.approvals.rows()) == 1
        end = await client.call("pay", GIVEN, **answering(asked, **{place: {"action": "decline"}}))
    assert "the person said no" in text_of(end) and till.paid == [("ada", 5)]


async def test_what_is_asked_about_anew_while_the_person_thinks_is_asked_again():
    size = ["3 files"]
    deleted: list[str] = []

    @guard(say=lambda path: f"Delete {path} with {size[0]}?")
    async def delete(path: str) -> str:
        deleted.append(path)
        return "deleted"

    async with raw_client(mcpserver(delete)) as client:
        asked = await client.call("delete", {"path": "a"})
        place = place_in(asked)
        size[0] = "3000 files"
        again = await client.call("delete", {"path": "a"}, **answering(asked, **{place: YES}))
        assert again["inputRequests"][place]["params"]["message"] == "Delete a with 3000 files?"
        assert deleted == []
        end = await client.call("delete", {"path": "a"}, **answering(again, **{place: YES}))
    assert text_of(end) == "deleted" and deleted == ["a"]


async def test_a_catalogue_that_changes_while_the_person_thinks_is_asked_about_again():
    scope, ran = ["1"], list[str]()

    @guard(say=lambda query: Risk(message=f"Run {query}?", scope=scope[0]))
    async def run(query: str) -> str:
        ran.append(query)
        return "rows"

    async with raw_client(mcpserver(run)) as client:
        asked = await client.call("run", {"query": "q"})
        scope[0] = "2"
        again = await client.call("run", {"query": "q"}, **answering(asked, **{place_in(asked): YES}))
        assert place_in(again) != place_in(asked) and ran == []


async def test_any_worker_can_take_the_next_round(serve: Serve, clock: Clock):
    one, other = Till(serve, clock), Till(serve, clock)
    async with raw_client(one.server) as client:
        asked, place = await begin(client)
    async with raw_client(other.server) as client:
        second = await client.call("pay", GIVEN, **answering(asked, **{place: HOUR}))
    assert place_in(second) == "ask-1" and (one.paid, other.paid) == ([], [("ada", 5)])
