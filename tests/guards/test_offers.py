"""Approvals that last: chosen by the person, for exactly what was shown, until their time is over."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from askback import Words, guard, once
from askback.errors import NotApproved
from askback.guards import Risk
from askback.runtime.approvals import Approvals
from askback.stores import MemoryStore
from askback.testing import Run, accept, run_tool
from askback.testing.script import Asked, Reply
from tests.guards.serving import Serve, fastmcp, mcpserver
from tests.support.clock import Clock
from tests.support.corpus import corpus
from tests.support.fastmcp_http import fastmcp_served
from tests.support.raw import answering
from tests.support.raw_http import Posting
from tests.support.servers.http import served

pytestmark = pytest.mark.anyio

HOUR = accept(decision="for 3600")
CALL = accept(decision="conversation")
ONCE = accept(decision="once")
OFFERS: Any = ["conversation", timedelta(hours=1)]


def _once(_: Asked) -> Reply:
    return ONCE


@dataclass
class World:
    """What a guard may look at, and change its mind by."""

    catalogue: str = "1"


@dataclass
class Till:
    """A server that pays, whose clock a test moves."""

    server: Any
    clock: Clock
    world: World
    revision: str
    approvals: Approvals

    async def call(self, tool: str, answers: Any = (), **arguments: Any) -> Run:
        return await run_tool(self.server, tool, arguments, answers, revision=self.revision)

    async def is_asked(self, tool: str, **arguments: Any) -> bool:
        return bool((await self.call(tool, _once, **arguments)).asked)


@pytest.fixture
def till(serve: Serve, revision: str, clock: Clock) -> Till:
    world = World()

    @guard("Pay {amount} to {to}?", offers=OFFERS, key="{to}")
    async def pay(to: str, amount: int) -> str:
        return f"paid {amount} to {to}"

    @guard("Pay {amount} to {to}?", offers=OFFERS, key="{to}", name="pay")
    async def pay_back(to: str, amount: int) -> str:
        return f"paid {amount} back to {to}"

    @guard("Delete {path}?", offers=OFFERS)
    async def delete(path: str, recursive: bool = False) -> str:
        return f"deleted {path}"

    @guard(say=lambda query: Risk(message=f"Run {query}?", scope=world.catalogue), offers=OFFERS)
    async def query(query: str) -> str:
        return "rows"

    @guard("First?", offers=OFFERS, key=lambda: "same")
    @guard("Second?", offers=OFFERS, key=lambda: "same")
    async def both() -> str:
        return "both"

    async def pay_all(names: list[str]) -> str:
        said = list[str]()
        for name in names:
            try:
                said.append(await pay(name, 5))
            except NotApproved as error:
                said.append(error.outcome)
        return ", ".join(said)

    store = MemoryStore(clock=clock)
    server = serve(pay, pay_back, delete, query, both, pay_all, store=store, clock=clock)
    return Till(server, clock, world, revision, Approvals(store, clock=clock))


def titles(run: Run) -> dict[str, str]:
    """What could be chosen, as each revision spells it."""
    field: Mapping[str, Any] = run.asked[0].schema["properties"]["decision"]
    assert "default" not in field
    if "oneOf" in field:
        return {one["const"]: one["title"] for one in field["oneOf"]}
    return dict(zip(field["enum"], field["enumNames"], strict=True))


async def test_the_titles_say_what_an_approval_covers_and_for_how_long(till: Till):
    paid = await till.call("pay", [ONCE], to="ada", amount=5)
    assert titles(paid) == {
        "once": "Yes, this once",
        "conversation": "Yes, and for the rest of this call: pay with to = ada, whatever else changes",
        "for 3600": "Yes, and for an hour: pay with to = ada, whatever else changes",
        "no": "No",
    }
    deleted = await till.call("delete", [ONCE], path="a")
    assert titles(deleted)["for 3600"] == "Yes, and for an hour: delete with exactly these arguments"


async def test_once_is_once(till: Till):
    for _ in range(2):
        run = await till.call("pay", [ONCE], to="ada", amount=5)
        assert run.text == "paid 5 to ada" and len(run.asked) == 1


async def test_an_hour_is_an_hour_for_its_key_and_no_second_longer(till: Till):
    assert (await till.call("pay", [HOUR], to="ada", amount=5)).text == "paid 5 to ada"
    till.clock.now += 3599
    again = await till.call("pay", to="ada", amount=500)
    assert (again.text, again.asked) == ("paid 500 to ada", [])
    till.clock.now += 1
    assert await till.is_asked("pay", to="ada", amount=5)


async def test_what_was_used_in_the_hour_does_not_prolong_it(till: Till):
    await till.call("pay", [HOUR], to="ada", amount=5)
    for _ in range(3):
        till.clock.now += 1000
        assert not await till.is_asked("pay", to="ada", amount=5)
    till.clock.now += 600
    assert await till.is_asked("pay", to="ada", amount=5)


async def test_it_holds_for_no_other_arguments(till: Till):
    await till.call("pay", [HOUR], to="ada", amount=5)
    await till.call("delete", [HOUR], path="a")
    assert not await till.is_asked("delete", path="a", recursive=False)
    assert await till.is_asked("pay", to="bob", amount=5)
    assert await till.is_asked("delete", path="a", recursive=True)
    assert await till.is_asked("delete", path="b")


async def test_it_holds_for_no_other_tool_and_no_other_guard(till: Till):
    await till.call("pay", [HOUR], to="ada", amount=5)
    assert await till.is_asked("pay_back", to="ada", amount=5)
    assert await till.is_asked("pay_all", names=["ada"]), "the same function, called by another tool"
    run = await till.call("both", [HOUR, ONCE])
    assert run.text == "both"
    assert [asked.message for asked in (await till.call("both", [ONCE])).asked] == ["Second?"]


async def test_it_ends_with_what_it_was_given_on(till: Till):
    await till.call("query", [HOUR], query="q")
    assert not await till.is_asked("query", query="q")
    till.world.catalogue = "2"
    assert await till.is_asked("query", query="q")


async def test_the_rest_of_the_call_is_that_and_no_more(till: Till):
    run = await till.call("pay_all", [CALL, ONCE], names=["ada", "ada", "bob", "ada"])
    assert run.text == "paid 5 to ada, paid 5 to ada, paid 5 to bob, paid 5 to ada"
    assert [asked.message for asked in run.asked] == ["Pay 5 to ada?", "Pay 5 to bob?"]
    assert await till.is_asked("pay_all", names=["ada"])
    assert await till.approvals.rows() == []


async def test_what_is_kept_can_be_listed_and_revoked(till: Till):
    await till.call("pay", [HOUR], to="ada", amount=5)
    (row,) = await till.approvals.rows()
    assert (row.owner, row.server, row.tool) == ("local", "test", "pay")
    assert row.covers == "pay with to = ada, whatever else changes"
    assert (row.message, row.until - row.granted, row.word) == ("Pay 5 to ada?", 3600, "client")
    assert row.call
    assert await till.approvals.revoke(row) and not await till.approvals.revoke(row)
    assert await till.is_asked("pay", to="ada", amount=5)


async def test_what_the_author_offers_no_longer_does_not_hold_any_longer(clock: Clock):
    async def pay(to: str) -> str:
        return f"paid {to}"

    store = MemoryStore(clock=clock)

    def server(*offers: Any) -> Any:
        return mcpserver(guard("Pay {to}?", offers=offers)(pay), store=store, clock=clock)

    await run_tool(server(3600), "pay", {"to": "ada"}, [HOUR])
    assert (await run_tool(server(3600), "pay", {"to": "ada"})).asked == []
    assert (await run_tool(server(), "pay", {"to": "ada"}, [accept(yes=True)])).asked


@pytest.mark.verifies("R14")
@corpus("decision", ["for 86400", "", "for 3600 "])
async def test_what_was_not_offered_cannot_be_chosen(till: Till, decision: str):
    run = await till.call("pay", [accept(decision=decision)] * 4, to="ada", amount=5)
    assert run.is_error and "no answer fitted" in run.text
    assert await till.approvals.rows() == []


async def test_what_does_not_fit_a_title_is_not_offered(till: Till):
    run = await till.call("pay", [accept(yes=True)], to="a" * 200, amount=5)
    assert run.text == f"paid 5 to {'a' * 200}"


async def test_a_key_cannot_be_made_up_of_two_others(clock: Clock):
    @guard("Move?", offers=[3600], key="{a} {b}")
    async def move(a: str, b: str) -> str:
        return "moved"

    server = mcpserver(move, clock=clock)
    await run_tool(server, "move", {"a": "x y", "b": "z"}, [HOUR])
    assert (await run_tool(server, "move", {"a": "x", "b": "y z"}, [HOUR])).asked


async def test_translators_have_all_words(clock: Clock):
    @guard(offers=["conversation", 120])
    async def zahlen(betrag: int) -> str:
        return "bezahlt"

    words = Words(
        guard_run="{tool} ausführen?",
        guard_with="Mit {name} = {value}",
        guard_once="Ja, dieses Mal",
        guard_conversation="Ja, bis zum Ende: {covers}",
        guard_for="Ja, für {time}: {covers}",
        guard_covers="{tool} mit genau diesen Werten",
        guard_no="Nein",
        minutes="{count} Minuten",
    )
    run = await run_tool(mcpserver(zahlen, words=words), "zahlen", {"betrag": 3}, [ONCE])
    assert run.asked[0].message == "zahlen ausführen?\n\nMit betrag = 3"
    assert titles(run)["for 120"] == "Ja, für 2 Minuten: zahlen mit genau diesen Werten"
    assert titles(run)["no"] == "Nein"


def name_in_header(ctx: Any) -> str | None:
    return ctx.request.headers.get("x-name")


SERVED: dict[str, Any] = {"MCPServer": (mcpserver, served), "FastMCP": (fastmcp, fastmcp_served)}


@pytest.mark.parametrize("host", SERVED)
async def test_it_holds_for_no_other_caller(host: str):
    @guard("Pay {to}?", offers=[3600])
    async def t(to: str) -> str:
        return f"paid {to}"

    make, serving = SERVED[host]
    async with serving(make(t, caller=name_in_header)) as url:
        ada, bob, nobody = (Posting(url, {"x-name": name} if name else {}) for name in ("ada", "bob", ""))
        given = {"to": "eve"}
        asked = await ada.call(given)
        (place,) = asked["inputRequests"]
        reply = {place: {"action": "accept", "content": {"decision": "for 3600"}}}
        assert "content" in await ada.call(given, **answering(asked, **reply))
        assert "content" in await ada.call(given)
        assert "for 3600" in str((await bob.call(given))["inputRequests"])
        unknown = (await nobody.call(given))["inputRequests"]
        assert "for 3600" not in str(unknown) and "yes" in str(unknown)


async def test_no_store_is_looked_at_where_nothing_lasts():
    class Watched(MemoryStore):
        async def get(self, owner: str, name: str) -> bytes | None:
            raise AssertionError((owner, name))

    @guard("Pay?", offers=["conversation"])
    async def pay() -> str:
        return "paid"

    server = mcpserver(pay, store=Watched())
    assert (await run_tool(server, "pay", {}, [CALL])).text == "paid"


async def test_inside_an_effect_no_approval_helps_either(serve: Serve):
    @guard("Pay?", offers=["conversation"])
    async def pay() -> str:
        return "paid"

    async def tool() -> str:
        return f"{await pay()} {await once('pay', pay)}"

    run = await run_tool(serve(tool), "tool", {}, [CALL])
    assert run.is_error and "Ask first" in run.text
