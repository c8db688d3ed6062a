"""The file server with its guards, on every revision: what is asked, what runs, and what does not."""

from contextlib import suppress
from typing import Any

import pytest
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from askback.testing import accept, cancel, decline, run_tool
from askback.testing.plugin import RunTool
from askback.testing.script import Reply
from examples.guards import server as files
from examples.guards import whole

HOUR = "for 3600"


@pytest.fixture(autouse=True)
def shelves() -> None:
    for shelf in (files.shelf, whole.shelf):
        shelf.clear()
        shelf.update({"/notes/a": "alpha", "/notes/b": "beta", "/scratch/c": "gamma"})
    files.sent.clear()
    whole.sent.clear()


async def test_the_question_shows_what_it_names_and_below_what_it_does_not(askback_run_tool: RunTool):
    server = files.make_server()
    ran = await askback_run_tool(server, "delete", {"path": "/notes"}, [accept(yes=True)])
    assert [asked.message for asked in ran.asked] == ["Delete /notes?\n\nWith recursive = false"]
    assert (ran.text, len(files.shelf)) == ("0 deleted.", 3)


@pytest.mark.parametrize("reply", [decline(), cancel(), accept(yes=False)], ids=["decline", "cancel", "no"])
async def test_nothing_is_deleted_without_a_yes(askback_run_tool: RunTool, reply: Reply):
    everything = {"path": "/notes", "recursive": True}
    ran = await askback_run_tool(files.make_server(), "delete", everything, [reply])
    assert ran.is_error and "delete was not run" in ran.text
    assert len(files.shelf) == 3


async def test_only_what_would_be_lost_is_asked_about(askback_run_tool: RunTool):
    server = files.make_server()
    for path in ("/notes/new", "/scratch/c"):
        assert not (await askback_run_tool(server, "write", {"path": path, "text": "x"})).asked
    ran = await askback_run_tool(server, "write", {"path": "/notes/a", "text": "x"}, [accept(yes=True)])
    assert ran.asked[0].message == "Write 1 characters over the 5 that /notes/a has now?"
    assert files.shelf["/notes/a"] == "x"


async def test_an_hour_for_one_receiver_is_not_an_hour_for_another():
    def caller(_: ServerRequestContext[Any, Any]) -> str:
        return "ada"

    server = files.make_server(caller=caller)
    first = await run_tool(server, "send", {"path": "/notes/a", "to": "bob"}, [accept(decision=HOUR)])
    titles = [one["title"] for one in first.asked[0].schema["properties"]["decision"]["oneOf"]]
    assert "Yes, and for an hour: send with to = bob, whatever else changes" in titles
    assert not (await run_tool(server, "send", {"path": "/notes/b", "to": "bob"})).asked
    other = await run_tool(server, "send", {"path": "/notes/b", "to": "eve"}, [decline()])
    assert other.is_error
    assert files.sent == ["/notes/a to bob", "/notes/b to bob"]


async def test_a_function_that_a_body_calls_is_guarded_with_what_it_is_called_with(askback_run_tool: RunTool):
    ran = await askback_run_tool(files.make_server(), "share", {"to": "bob"}, [accept(decision="once")])
    assert ran.asked[0].message == "Send 3 files to bob?"
    assert files.sent == ["3 files to bob"]


async def test_who_wrote_so_has_it_run_where_nobody_can_be_asked(askback_run_tool: RunTool):
    server = files.make_server()
    ran = await askback_run_tool(server, "tidy", {"folder": "/notes"}, capabilities={})
    assert ran.text == "/notes is tidy."
    assert (await askback_run_tool(server, "tidy", {"folder": "/notes"}, [decline()])).is_error


async def test_where_nobody_wrote_so_nothing_runs(askback_run_tool: RunTool):
    with suppress(MCPError):  # on 2026-07-28 the protocol has an error of its own for what a client cannot do
        ran = await askback_run_tool(files.make_server(), "delete", {"path": "/notes/a"}, capabilities={})
        assert ran.is_error and "nobody can be asked here" in ran.text
    assert len(files.shelf) == 3


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("send_mail", {"path": "/notes/a", "to": "bob"}, "Send /notes/a to bob?"),
        (
            "empty",
            {"folder": "/notes"},
            "empty may change something for good. Run it?\n\nWith folder = /notes",
        ),
        ("touch", {"path": "/etc/hosts"}, "/etc/hosts is the system's. Run touch on it?"),
        ("read", {"path": "/etc/hosts"}, "/etc/hosts is the system's. Run read on it?"),
    ],
    ids=["by name", "by what it says of itself", "by argument", "also where it only reads"],
)
async def test_a_tool_that_never_heard_of_guards_is_asked_about(
    askback_run_tool: RunTool, tool: str, arguments: dict[str, str], message: str
):
    ran = await askback_run_tool(whole.make_server(), tool, arguments, [decline()])
    assert [asked.message for asked in ran.asked] == [message]
    assert ran.is_error and len(whole.shelf) == 3 and not whole.sent


@pytest.mark.parametrize("tool", ["touch", "read"])
async def test_what_no_guard_is_for_runs_as_before(askback_run_tool: RunTool, tool: str):
    ran = await askback_run_tool(whole.make_server(), tool, {"path": "/notes/a"})
    assert not ran.asked and not ran.is_error
