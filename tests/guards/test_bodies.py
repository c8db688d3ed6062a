"""Guards around all kinds of functions, and beside all else that a body does."""

import threading
from functools import partial
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer

from askback import Accepted, Askback, ask, guard, once, sync
from askback.errors import NotApproved
from askback.guards import Risk, RiskOption
from askback.guards.guard import bypasses_guard
from askback.testing import accept, decline, get_prompt, run_tool
from tests.guards.serving import Serve

pytestmark = pytest.mark.anyio

YES = accept(yes=True)


async def test_a_def_body_runs_in_a_thread_and_may_ask_there(serve: Serve, revision: str):
    @guard("Order {what}?")
    def order(what: str) -> str:
        match sync.ask("How many?", int):
            case Accepted(count):
                return f"{count} {what} {threading.current_thread() is threading.main_thread()}"
            case _:
                return "nothing"

    run = await run_tool(serve(order), "order", {"what": "pie"}, [YES, accept(3)], revision=revision)
    assert run.text == "3 pie False"
    assert [asked.message for asked in run.asked] == ["Order pie?", "How many?"]


async def test_a_helper_is_asked_about_each_time_it_is_called(serve: Serve, revision: str):
    @guard("Delete {path}?")
    async def delete(path: str) -> str:
        return f"deleted {path}"

    async def clean() -> str:
        said: list[str] = []
        for path in ("a", "b", "a"):
            try:
                said.append(await delete(path))
            except NotApproved as error:
                said.append(error.outcome)
        return ", ".join(said)

    run = await run_tool(serve(clean), "clean", {}, [YES, decline(), decline()], revision=revision)
    assert run.text == "deleted a, declined, declined"
    assert [asked.message for asked in run.asked] == ["Delete a?", "Delete b?", "Delete a?"]


async def test_side_by_side_each_has_its_own_question(serve: Serve, revision: str):
    @guard("Delete {path}?")
    async def delete(path: str) -> str:
        return f"deleted {path}"

    async def clean() -> str:
        said: dict[str, str] = {}

        async def one(path: str) -> None:
            try:
                said[path] = await delete(path)
            except NotApproved as error:
                said[path] = error.outcome

        async with anyio.create_task_group() as tasks:
            for path in ("a", "b"):
                tasks.start_soon(one, path)
        return f"{said['a']}, {said['b']}"

    def answer(asked: Any) -> Any:
        return YES if "a" in asked.message.removeprefix("Delete") else decline()

    run = await run_tool(serve(clean), "clean", {}, answer, revision=revision)
    assert run.text == "deleted a, declined"


async def test_two_guards_both_must_agree(serve: Serve, revision: str):
    @guard("First: {path}?")
    @guard("Second: {path}?")
    async def delete(path: str) -> str:
        return f"deleted {path}"

    server = serve(delete)
    both = await run_tool(server, "delete", {"path": "a"}, [YES, YES], revision=revision)
    one = await run_tool(server, "delete", {"path": "a"}, [YES, decline()], revision=revision)
    assert both.text == "deleted a" and one.is_error
    assert [asked.message for asked in both.asked] == ["First: a?", "Second: a?"]


async def test_what_one_guard_changes_the_other_has_not_agreed_to(serve: Serve, revision: str):
    def halve(amount: int) -> Risk | None:
        half = RiskOption(
            value="half", title="Pay half", change=lambda given: {**given, "amount": amount // 2}
        )
        return Risk(message=f"Really {amount}?", options=(half,)) if amount > 50 else None

    @guard("Pay {amount}?")
    @guard(say=halve)
    async def pay(amount: int) -> str:
        return f"paid {amount}"

    answers = [YES, accept(decision="half"), YES]
    run = await run_tool(serve(pay), "pay", {"amount": 100}, answers, revision=revision)
    assert run.text == "paid 50"
    assert [asked.message for asked in run.asked] == ["Pay 100?", "Really 100?", "Pay 50?"]


async def test_guards_that_never_agree_on_the_arguments_run_nothing(serve: Serve):
    def again(amount: int) -> Risk:
        more = RiskOption(value="more", title="More", change=lambda given: {**given, "amount": amount + 1})
        return Risk(message=f"{amount}?", options=(more,))

    @guard(say=again, name="one")
    @guard(say=again, name="other")
    async def pay(amount: int) -> str:
        return f"paid {amount}"

    run = await run_tool(serve(pay), "pay", {"amount": 1}, lambda _: accept(decision="more"))
    assert run.is_error and "keep changing" in run.text


async def test_an_option_cannot_bring_arguments_that_are_none(serve: Serve):
    strange = RiskOption(value="strange", title="?", change=lambda given: {**given, "force": True})

    @guard(say=lambda path: Risk(message=f"{path}?", options=(strange,)))
    async def delete(path: str) -> str:
        return "deleted"

    run = await run_tool(serve(delete), "delete", {"path": "a"}, [accept(decision="strange")])
    assert run.is_error and "'force'" in run.text


async def test_beside_questions_and_effects_everything_keeps_its_place(serve: Serve, revision: str):
    ran: list[str] = []

    @guard("Send {text}?")
    async def send(text: str) -> str:
        return await once("send", partial(_note, ran, text))

    async def tool() -> str:
        before = await ask("To whom?", str)
        sent = await send("hello")
        after = await ask("Again?", bool)
        return f"{before} {sent} {after}"

    answers = [accept("Ada"), YES, accept(value=True)]
    run = await run_tool(serve(tool), "tool", {}, answers, revision=revision)
    assert run.text == "Accepted(value='Ada') hello Accepted(value=True)"
    assert ran == ["hello"]


def _note(ran: list[str], text: str) -> str:
    ran.append(text)
    return text


async def test_a_method_is_guarded_without_its_object(serve: Serve, revision: str):
    class Disk:
        @guard("Delete {path}?")
        async def delete(self, path: str) -> str:
            return f"deleted {path}"

    async def tool() -> str:
        return await Disk().delete("a")

    run = await run_tool(serve(tool), "tool", {}, [YES], revision=revision)
    assert (run.text, run.asked[0].message) == ("deleted a", "Delete a?")


async def test_a_prompt_can_be_guarded(revision: str):
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)

    @server.prompt()
    @guard("Reveal {name}?")
    async def reveal(name: str) -> str:
        return f"the secret of {name}"

    run = await get_prompt(server, "reveal", {"name": "ada"}, [YES], revision=revision)
    assert run.text == "the secret of ada"


async def test_a_function_that_ends_the_call_politely_may_do_so_behind_a_guard(serve: Serve, revision: str):
    @guard("Order?")
    async def order() -> str:
        (await ask("How many?", int)).or_stop("Nothing ordered.")
        return "ordered"

    run = await run_tool(serve(order), "order", {}, [YES, decline()], revision=revision)
    assert run.text == "Nothing ordered."


def test_a_function_whose_guard_is_passed_by_is_known():
    async def bare() -> str:
        return "bare"

    kept = bare
    guarded = guard()(bare)
    assert bypasses_guard(kept) and not bypasses_guard(guarded)


async def test_the_tool_is_described_as_it_was(serve: Serve):
    @guard()
    def order(what: str, count: int = 1) -> str:
        """Order something."""
        return what * count

    tools = (await run_tool_list(serve(order)))["tools"]
    assert tools[0]["description"] == "Order something."
    assert set(tools[0]["inputSchema"]["properties"]) == {"what", "count"}


async def run_tool_list(server: Any) -> Any:
    from tests.support.raw import raw_client

    async with raw_client(server) as client:
        return await client.send("tools/list")
