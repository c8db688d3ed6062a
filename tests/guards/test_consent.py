"""No, not now, too late and nobody there are different ends, and in none of them anything ran."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from askback import OutsideConversation, ask, guard, once
from askback.errors import CannotAsk, InvalidAnswer, NotApproved, StoreUnavailable, TimedOut
from askback.guards.rule import EvenIf
from askback.stores import MemoryStore
from askback.testing import accept, cancel, decline, fail, raw, run_tool, silence
from askback.testing.script import Reply
from tests.guards.serving import Serve, mcpserver
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio

LATEST = "2026-07-28"


class Shop:
    """One tool that guards, and one that tells how its guard came out."""

    def __init__(self, **options: Any) -> None:
        self.done: list[int] = []
        self.ended: list[NotApproved] = []

        @guard("Pay {amount}?", **options)
        async def pay(amount: int) -> str:
            self.done.append(amount)
            return f"paid {amount}"

        async def careful() -> str:
            try:
                return await pay(7)
            except NotApproved as error:
                self.ended.append(error)
                return f"not paid: {error.outcome}"

        self.tools = (pay, careful)


def _patience(end: str) -> float:
    """Seconds: short where nobody will come, and else more than any machine needs."""
    return 0.05 if end == "timed out" else 60


UNFIT = raw({"action": "accept", "content": {"yes": "maybe"}})

ENDS: dict[str, tuple[list[Reply], str, type[Exception] | None]] = {
    "declined": ([decline()], "the person said no. That stands", None),
    "a no in the form": ([accept(yes=False)], "the person said no. That stands", None),
    "cancelled": ([cancel()], "put the question away", None),
    "timed out": ([silence()], "nobody answered in time", TimedOut),
    "unfit": ([UNFIT] * 4, "no answer fitted the question", InvalidAnswer),
}


@pytest.mark.verifies("R14", "R15")
@corpus("end", ENDS)
async def test_whatever_is_not_a_yes_runs_nothing_and_says_whose_move_is_next(
    serve: Serve, revision: str, end: str
):
    shop, (replies, says, cause) = Shop(timeout=_patience(end)), ENDS[end]
    server = serve(*shop.tools)
    run = await run_tool(server, "pay", {"amount": 7}, replies, revision=revision)
    assert run.is_error and run.text.startswith("pay was not run: ") and says in run.text
    told = await run_tool(server, "careful", {}, replies, revision=revision)
    outcome = "declined" if end == "a no in the form" else end
    assert told.text == f"not paid: {outcome}"
    error = shop.ended[-1]
    assert (error.tool, error.outcome) == ("pay", outcome)
    assert error.__cause__ is None if cause is None else isinstance(error.__cause__, cause)
    assert shop.done == []


@pytest.mark.verifies("R03", "R15")
async def test_where_nobody_can_be_asked_nothing_runs(serve: Serve, revision: str):
    shop = Shop()
    server = serve(*shop.tools)
    calling = run_tool(server, "pay", {"amount": 7}, revision=revision, capabilities={})
    if revision == LATEST:
        with pytest.raises(MCPError, match="nobody can be asked here") as failed:
            await calling
        assert (failed.value.code, failed.value.data) == (
            -32021,
            {"requiredCapabilities": {"elicitation": {"form": {}}}},
        )
    else:
        run = await calling
        assert run.is_error and "did not declare that it can show a form" in run.text
    told = await run_tool(server, "careful", {}, revision=revision, capabilities={})
    assert told.text == "not paid: cannot ask"
    assert isinstance(shop.ended[-1].__cause__, CannotAsk)
    assert shop.done == []


@pytest.mark.verifies("R15")
async def test_a_client_that_breaks_has_not_said_yes(serve: Serve, revision: str):
    shop = Shop()
    try:
        run = await run_tool(serve(*shop.tools), "pay", {"amount": 7}, [fail()], revision=revision)
        assert run.is_error
    except MCPError:
        pass
    assert shop.done == []


EVEN_IF: dict[EvenIf, tuple[list[Reply], dict[str, Any]]] = {
    "cannot ask": ([], {}),
    "timed out": ([silence()], {"elicitation": {}}),
    "cancelled": ([cancel()], {"elicitation": {}}),
}


@corpus("end", EVEN_IF)
async def test_what_the_operator_wrote_runs_all_the_same(serve: Serve, revision: str, end: EvenIf):
    replies, capabilities = EVEN_IF[end]
    shop = Shop(even_if=end, timeout=_patience(end))
    run = await run_tool(
        serve(*shop.tools), "pay", {"amount": 7}, replies, revision=revision, capabilities=capabilities
    )
    assert run.text == "paid 7"


@corpus("end", EVEN_IF)
async def test_a_no_is_heard_whatever_the_operator_wrote(serve: Serve, end: EvenIf):
    shop = Shop(even_if=tuple(EVEN_IF))
    run = await run_tool(serve(*shop.tools), "pay", {"amount": 7}, [decline()])
    assert run.is_error and shop.done == []
    other: EvenIf = "timed out" if end == "cancelled" else "cancelled"
    shop, (replies, _) = Shop(even_if=end, timeout=_patience(other)), EVEN_IF[other]
    assert (await run_tool(serve(*shop.tools), "pay", {"amount": 7}, replies)).is_error
    assert shop.done == []


class Down(MemoryStore):
    """Cannot be reached for the verbs that are named."""

    def __init__(self, *verbs: str) -> None:
        super().__init__()
        self.verbs = verbs

    async def get(self, owner: str, name: str) -> bytes | None:
        self._require("get")
        return await super().get(owner, name)

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        self._require("put")
        await super().put(owner, name, value, until=until)

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        self._require("settle")
        return await super().settle(key, value, until=until)

    def _require(self, verb: str) -> None:
        if verb in self.verbs:
            raise StoreUnavailable(store="test", problem="it is down", advice="Start it.")


@corpus("verb", ["get", "settle", "put"])
async def test_with_the_store_down_nothing_runs(serve: Serve, revision: str, verb: str):
    shop, asked = Shop(offers=[3600]), list[Any]()

    def answer(question: Any) -> Reply:
        asked.append(question)
        return accept(decision="for 3600")

    with pytest.raises(MCPError, match="cannot keep what this call needs"):
        await run_tool(serve(*shop.tools, store=Down(verb)), "pay", {"amount": 7}, answer, revision=revision)
    assert shop.done == [] and bool(asked) == (verb != "get")


async def test_outside_a_call_nothing_runs():
    shop = Shop()
    with pytest.raises(OutsideConversation):
        await shop.tools[0](7)
    assert shop.done == []


async def test_inside_an_effect_nobody_can_be_asked(serve: Serve, revision: str):
    shop = Shop()

    async def tool() -> str:
        return await once("pay", shop.tools[0], 7)

    run = await run_tool(serve(tool), "tool", {}, revision=revision)
    assert run.is_error and "Ask first" in run.text
    assert shop.done == []


async def test_an_author_cannot_ask_in_a_guards_place(serve: Serve):
    async def tool() -> str:
        return str(await ask("?", bool, key="guard-pay:0123"))

    run = await run_tool(serve(tool), "tool", {})
    assert run.is_error and "cannot be used" in run.text


async def test_arguments_that_change_while_the_person_thinks_are_not_run():
    shelf, done = ["a"], list[str]()

    @guard("Throw away {things}?")
    async def throw(things: list[str]) -> str:
        done.extend(things)
        return "thrown"

    async def tool() -> str:
        return await throw(shelf)

    def answer(_: Any) -> Reply:
        shelf.append("b")
        return accept(yes=True)

    server = mcpserver(tool)
    run = await run_tool(server, "tool", {}, answer, revision="2025-11-25", always_replay=False)
    assert run.is_error and "changed while it was asked" in run.text
    assert done == []


def test_the_error_keeps_its_facts():
    error = NotApproved(tool="pay", outcome="refused", reason="It writes.")
    assert (error.tool, error.outcome, error.reason) == ("pay", "refused", "It writes.")
    assert str(error) == "pay was not run: it may not be run here. Call something else. It writes."
