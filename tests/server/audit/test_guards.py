"""What a guarded call leaves in the ledger, on every revision: the decision before anything runs, the end after it."""

import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from askback import ask, guard
from askback.guards.arguments import Risk, RiskOption
from askback.ledger.reader import RecordedRun
from askback.testing import accept, cancel, decline, run_tool, silence
from tests.server.audit.books import Books, Host, mcpserver
from tests.support.guarded_runs import guarded_runs
from tests.support.raw import accepting, answering, raw_client
from tests.support.stores.race import process, said_by

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.verifies("T24")]

BOUND = 30.0

HOUR = timedelta(hours=1)


async def runs_in(books: Books) -> list[RecordedRun]:
    """In a ledger that verifies."""
    return guarded_runs(enumerate(await books.entries(), 1))


async def brief(books: Books) -> list[tuple[str, str]]:
    return [(run.decision, run.then) for run in await runs_in(books)]


def removing(*, fails: bool = False, **options: Any) -> Any:
    """A tool that asks before it removes."""

    @guard("Remove {path}?", **options)
    async def remove(path: str) -> str:
        if fails:
            raise ValueError("it is stuck")
        return f"removed {path}"

    return remove


async def test_a_yes_stands_between_the_question_and_what_it_allowed(
    host: Host, revision: str, tmp_path: Path
):
    books = host(removing(), tmp_path)
    run = await run_tool(books.server, "t", {"path": "a"}, [accept(yes=True)], revision=revision)
    assert run.text == "removed a"
    lines = [entry for entry in await books.entries() if entry.place is not None]
    assert [(one.event, one.action, one.rule, one.reason) for one in lines] == [
        ("asked", None, None, None),
        ("answered", "accept", None, None),
        ("guarded", "accept", "once", None),
        ("guarded", None, None, "ran"),
    ]
    assert len({(one.call, one.place, one.arguments, one.caller) for one in lines}) == 1
    (guarded,) = await runs_in(books)
    assert (guarded.guard, guarded.message, guarded.word) == ("remove", "Remove a?", "client")
    assert guarded.facts["tool"] == "remove" and len(guarded.facts["arguments"]) == 64
    assert lines[2].answer is None and lines[2].digest is None


ENDS: dict[str, tuple[list[Any], dict[str, Any], tuple[str, str]]] = {
    "no": ([accept(yes=False)], {}, ("declined", "did not run")),
    "decline": ([decline()], {}, ("declined", "did not run")),
    "cancel": ([cancel()], {}, ("cancelled", "did not run")),
    "raised": ([accept(yes=True)], {"fails": True}, ("once", "raised")),
    "cancel, allowed": ([cancel()], {"even_if": "cancelled"}, ("even if cancelled", "ran")),
}


@pytest.mark.parametrize("end", ENDS)
async def test_every_end_is_on_record(revision: str, tmp_path: Path, end: str):
    answers, options, told = ENDS[end]
    books = mcpserver(removing(**options), tmp_path)
    await run_tool(books.server, "t", {"path": "a"}, answers, revision=revision)
    assert await brief(books) == [told]


@pytest.mark.parametrize("even_if", [(), ("cannot ask",)], ids=["closed", "allowed"])
async def test_that_nobody_could_be_asked_is_on_record(revision: str, tmp_path: Path, even_if: Any):
    books = mcpserver(removing(even_if=even_if), tmp_path)
    try:
        text = (await run_tool(books.server, "t", {"path": "a"}, revision=revision, capabilities={})).text
    except MCPError as error:  # where the revision has one for what a client does not declare
        text = error.message
    assert (text == "removed a") is bool(even_if)
    expected = ("even if cannot ask", "ran") if even_if else ("cannot ask", "did not run")
    assert await brief(books) == [expected]


async def test_that_nobody_answered_in_time_is_on_record(tmp_path: Path):
    books = mcpserver(removing(timeout=0.05), tmp_path)
    with anyio.fail_after(BOUND):
        run = await run_tool(books.server, "t", {"path": "a"}, [silence()], revision="2025-11-25")
    assert "nobody answered in time" in run.text
    assert await brief(books) == [("timed out", "did not run")]


def ada(_: object) -> str:
    """Whoever calls."""
    return "ada"


async def test_an_approval_for_an_hour_is_named_by_the_call_in_which_it_was_given(
    host: Host, revision: str, tmp_path: Path
):
    books = host(removing(offers=[HOUR]), tmp_path, caller=ada)
    for answers in ([accept(decision="for 3600")], []):
        run = await run_tool(books.server, "t", {"path": "a"}, answers, revision=revision)
        assert run.text == "removed a"
    first, second = await runs_in(books)
    assert (first.decision, first.then) == ("for an hour", "ran")
    assert (second.decision, second.then) == (f"approval of {first.first.call}", "ran")
    assert second.asked is None and second.first.call != first.first.call
    assert second.facts["arguments"] == first.facts["arguments"]


def weighed(path: str) -> Risk:
    """Another way to say yes, and what was known."""
    trash = RiskOption(
        value="trash", title="Put it in the trash", change=lambda given: {**given, "path": "trash"}
    )
    return Risk(message=f"Remove {path}?", facts={"files": 3, "owners": ["ann"]}, options=(trash,))


async def test_the_facts_and_what_it_then_ran_with_are_on_record(host: Host, revision: str, tmp_path: Path):
    @guard(say=weighed)
    async def remove(path: str) -> str:
        return f"removed {path}"

    books = host(remove, tmp_path)
    run = await run_tool(books.server, "t", {"path": "a"}, [accept(decision="trash")], revision=revision)
    assert run.text == "removed trash"
    (guarded,) = await runs_in(books)
    assert (guarded.decision, guarded.then) == ("trash", "ran")
    facts = guarded.facts
    assert (facts["files"], facts["owners"]) == (3, ["ann"])
    assert len({facts["arguments"], facts["runs with"]}) == 2


async def test_what_one_guard_allowed_and_the_next_did_not_is_said_not_to_have_run(
    host: Host, revision: str, tmp_path: Path
):
    @guard("First, {path}?", name="first")
    @guard("Second, {path}?", name="second")
    async def remove(path: str) -> str:
        return f"removed {path}"

    books = host(remove, tmp_path)
    await run_tool(books.server, "t", {"path": "a"}, [accept(yes=True), decline()], revision=revision)
    told = [(run.guard, run.decision, run.then) for run in await runs_in(books)]
    assert told == [("first", "once", "did not run"), ("second", "declined", "did not run")]


async def test_a_body_that_asks_on_is_told_once_however_often_it_is_replayed(
    host: Host, revision: str, tmp_path: Path
):
    @guard("Remove {path}?")
    async def remove(path: str) -> str:
        return f"removed {await ask('How?', str)} and {await ask('When?', str)}"

    books = host(remove, tmp_path)
    answers = [accept(yes=True), accept("gently"), accept("now")]
    run = await run_tool(books.server, "t", {"path": "a"}, answers, revision=revision)
    assert "gently" in run.text and "now" in run.text
    guarded = [row for row in await books.told("rule", "reason") if row[0] == "guarded"]
    assert guarded == [("guarded", "once", None), ("guarded", None, "ran")]


async def test_while_its_client_is_away_it_has_no_end_on_record(tmp_path: Path):
    @guard("Remove {path}?")
    async def remove(path: str) -> str:
        return f"removed {await ask('How?', str)}"

    books = mcpserver(remove, tmp_path)
    async with raw_client(books.server) as client:
        first = await client.call(arguments={"path": "a"})
        assert await brief(books) == [("not decided", "did not run")]
        (place,) = first["inputRequests"]
        retry = answering(first, **{place: accepting(yes=True)})
        await client.call(arguments={"path": "a"}, **retry)
    assert await brief(books) == [("once", "no end on record")]


@pytest.mark.parametrize("era", ["push", "rounds"])
def test_of_a_process_that_is_killed_in_between_no_end_is_on_record(era: str, tmp_path: Path):
    """The decision was in the file before anything ran."""
    with process(era, str(tmp_path), module="tests.server.audit.killed") as server:
        assert said_by(server) == "begun"
        server.kill()
        assert server.wait(BOUND) == -signal.SIGKILL
    books = mcpserver(removing(), tmp_path)
    (run,) = anyio.run(runs_in, books)
    assert (run.decision, run.is_approved, run.then) == ("once", True, "no end on record")
    assert run.message == "Remove a?" and run.answered is not None
