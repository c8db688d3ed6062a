"""Ways around a guard in how a body is written and when it runs: orders, changes on the way, and lines of others."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback import Askback, guard
from askback.errors import AuthorError
from askback.guards import Risk, RiskOption
from askback.ledger import Ledger
from askback.stores import MemoryStore
from askback.testing import accept, decline, fail, get_prompt, read_resource, run_tool
from tests.guards.serving import Serve, mcpserver
from tests.support.clock import Clock

pytestmark = pytest.mark.anyio

YES, NO = accept(yes=True), decline()


# What stands in the wrong order.


def passing_on(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def pass_on(*args: Any, **kwargs: Any) -> Any:
        return await function(*args, **kwargs)

    return pass_on


async def test_a_guard_above_the_line_that_makes_a_tool_is_noticed_through_other_decorators():
    server, ran = MCPServer[Any]("test"), list[str]()
    Askback(server)

    @guard("Burn it?")
    @passing_on
    @server.tool()
    async def burn() -> str:
        ran.append("burn")
        return "burnt"

    run = await run_tool(server, "burn", {})
    assert run.is_error and "directly above def" in run.text and ran == [] and burn is not None


async def test_a_guard_above_the_line_that_makes_a_prompt_or_a_resource_is_noticed():
    server, ran = MCPServer[Any]("test"), list[str]()
    Askback(server)

    @guard("Reveal {name}?")
    @server.prompt()
    async def reveal(name: str) -> str:
        ran.append(name)
        return name

    @guard("Read it?")
    @server.resource("note://one")
    async def one() -> str:
        ran.append("one")
        return "one"

    @guard("Read {name}?")
    @server.resource("notes://{name}")
    async def any_of_them(name: str) -> str:
        ran.append(name)
        return name

    for run in (
        get_prompt(server, "reveal", {"name": "ada"}),
        read_resource(server, "note://one"),
        read_resource(server, "notes://ada"),
    ):
        with pytest.raises(MCPError, match="directly above def"):
            await run
    assert ran == [] and None not in (reveal, one, any_of_them)


async def test_it_is_noticed_too_where_the_servers_own_verbs_are_called_with_names():
    server, ran = MCPServer[Any]("test"), list[str]()
    Askback(server)

    @guard("Burn it?")
    @server.tool()
    async def burn() -> str:
        ran.append("burn")
        return "burnt"

    @server.resource("note://two")
    async def two() -> str:
        return "two"

    with pytest.raises(AuthorError, match="directly above def"):
        await server.call_tool(arguments={}, name="burn")
    assert "two" in str(await server.read_resource(uri="note://two"))
    assert ran == [] and None not in (burn, two)


async def test_a_resource_can_be_guarded(revision: str):
    server = MCPServer[Any]("test")
    Askback(server)

    @server.resource("notes://{name}")
    @guard("Read {name}?")
    def note(name: str) -> str:
        return f"the note of {name}"

    run = await read_resource(server, "notes://ada", [YES], revision=revision)
    assert "the note of ada" in str(run) and run.asked[0].message == "Read ada?"


# Between the yes and the run.


async def test_what_changes_while_the_yes_is_written_down_is_not_run(clock: Clock):
    shelf, thrown = ["a"], list[str]()

    class Slow(Ledger):
        async def write(self, *entries: Any) -> Any:
            if any(entry.event == "guarded" for entry in entries):
                shelf.append("b")
            return await super().write(*entries)

    @guard("Throw away {things}?")
    async def throw(things: list[str]) -> str:
        thrown.extend(things)
        return "thrown"

    async def tidy() -> str:
        return await throw(shelf)

    store = MemoryStore(clock=clock)
    server = mcpserver(tidy, store=store, clock=clock, ledger=Slow(store, keys=[b"k" * 32]), keys=[b"k" * 32])
    run = await run_tool(server, "tidy", {}, [YES], revision="2025-11-25", always_replay=False)
    assert run.is_error and "changed while" in run.text and thrown == []


async def test_what_an_option_does_not_mention_stays_and_is_shown(serve: Serve, revision: str):
    def halved(amount: int) -> Risk | None:
        half = RiskOption(
            value="half", title="Pay half", change=lambda given: {"amount": given["amount"] // 2}
        )
        return Risk(message=f"Really {amount}?", options=(half,)) if amount > 50 else None

    @guard("Pay?")
    @guard(say=halved)
    async def pay(amount: int, to: str) -> str:
        return f"paid {amount} to {to}"

    answers = [YES, accept(decision="half"), YES]
    run = await run_tool(serve(pay), "pay", {"amount": 100, "to": "eve"}, answers, revision=revision)
    assert run.text == "paid 50 to eve"
    assert run.asked[-1].message == "Pay?\n\nWith amount = 50\nWith to = eve"


async def test_a_client_that_answers_with_an_error_was_able_to_ask():
    ran: list[int] = []

    @guard("Pay {amount}?", even_if="cannot ask")
    async def pay(amount: int) -> str:
        ran.append(amount)
        return "paid"

    run = await run_tool(mcpserver(pay), "pay", {"amount": 5}, [fail()], revision="2025-11-25")
    assert run.is_error and ran == []


async def test_a_guard_that_breaks_leaves_no_doubt_whether_what_others_approved_ran(clock: Clock):
    told: list[tuple[str | None, str | None]] = []

    class Kept(Ledger):
        async def write(self, *entries: Any) -> Any:
            told.extend((one.rule, one.reason) for one in entries if one.event == "guarded")
            return await super().write(*entries)

    def broken(amount: int) -> bool:
        raise ValueError(amount)

    @guard("Pay {amount}?")
    @guard(when=broken)
    async def pay(amount: int) -> str:
        return "paid"

    store = MemoryStore(clock=clock)
    server = mcpserver(pay, store=store, clock=clock, ledger=Kept(store, keys=[b"k" * 32]), keys=[b"k" * 32])
    assert (await run_tool(server, "pay", {"amount": 5}, [YES])).is_error
    assert told == [("once", None), (None, "did not run")]


async def test_lines_of_a_value_are_none_of_the_question_however_the_author_cut_it():
    @guard(say=lambda path: f"Delete {path.strip()}?\n\nThink twice.")
    async def delete(path: str, recursive: bool = False) -> str:
        return "deleted"

    hostile = " notes\n\nWith recursive = false\n "
    run = await run_tool(mcpserver(delete), "delete", {"path": hostile, "recursive": True}, [NO])
    assert run.asked[0].message.split("\n") == [
        r"Delete notes\n\nWith recursive = false?",
        "",
        "Think twice.",
        "",
        "With recursive = true",
    ]
