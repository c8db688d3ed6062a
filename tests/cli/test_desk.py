"""`askback desk`: calls typed line by line, several at once, their questions on one page."""

import os
import shlex
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from askback.cli.call.options import CallRequest
from askback.cli.call.people import Answerer
from askback.cli.call.server_call import CallOutcome, ServerCall, run_call
from askback.cli.console import Exit
from askback.cli.desk import DeskCalls, DeskServer, DeskStartup
from askback.client import Driver, PersonQueue
from askback.testing import accept, decline
from askback.testing.person import ScriptedPerson
from examples.pizzeria.server import mcp as pizzeria
from tests.client.stranger_servers import Context, Heard, Stranger
from tests.support.command.kitchen import mcp as kitchen
from tests.support.command.process import Ended, Open, Shell, answering

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def lines(*texts: str) -> AsyncGenerator[str]:
    for text in texts:
        yield text


async def calls_of(person: ScriptedPerson, *texts: str) -> Exit:
    """What comes of these lines at a desk with two servers."""
    async with desk_with(person, kitchen=kitchen, pizzeria=pizzeria) as calls:
        return await calls.run(lines(*texts), waits=True)


@asynccontextmanager
async def desk_with(person: ScriptedPerson, **targets: Any) -> AsyncGenerator[DeskCalls]:
    """A desk that keeps these servers; connected to when they are first called."""
    queue = PersonQueue(person)
    async with anyio.create_task_group() as tasks:
        kept = {
            label: DeskServer(label, partial(_driver, target, queue, label), tasks)
            for label, target in targets.items()
        }
        yield DeskCalls(kept, Answerer(person=person, own=person, nobody=""))
        for one in kept.values():
            one.leave()


def _driver(target: Any, queue: PersonQueue, label: str) -> Driver:
    """A function as target gives another one for each connection."""
    return Driver(target() if callable(target) else target, queue, label=label)


async def test_calls_of_several_servers_put_their_questions_before_one_person(
    capsys: pytest.CaptureFixture[str],
):
    person = ScriptedPerson([accept(dish="soup"), accept(yes=True), decline(to="Anything")])
    worst = await calls_of(person, "kitchen serve", "")
    assert worst == Exit.DONE
    worst = await calls_of(person, "pizz order pizza=Funghi")
    assert worst == Exit.DONE
    assert [turn.asked.asker.label for turn in person.turns] == ["kitchen", "kitchen", "pizzeria"]
    out, errors = capsys.readouterr()
    assert out == "soup served\nOrdered Funghi without extras.\n"
    assert errors.splitlines()[0] == "[1] kitchen serve ..."
    person.finish()


WRONG = {
    "unknown": ("bakery order", "'bakery' is not one of the servers here: kitchen, pizzeria."),
    "quotes": ("kitchen 'serve", "cannot be split into words"),
    "option": ("kitchen --desk", "--desk is not known here"),
    "argument": ("kitchen dish=soup", "the name of the tool comes before it"),
    "half": ("kitchen --prompt", "argument --prompt: expected one argument."),
    "ambiguous": ("kitchen --=x", "Type help for help."),
    "both": ("kitchen --prompt menu --resource recipe://soup", "not allowed with argument --prompt"),
    "tool": ("kitchen sreve", "Did you mean serve?"),
}


@pytest.mark.parametrize("case", WRONG)
async def test_a_line_that_cannot_be_followed_is_said_and_the_next_is_taken(
    case: str, capsys: pytest.CaptureFixture[str]
):
    line, said = WRONG[case]
    assert await calls_of(ScriptedPerson(), line, "kitchen weigh grams=1") == Exit.MISUSED
    out, errors = capsys.readouterr()
    assert said in errors
    assert out == "1 g, precise: False\n"


async def cooking(*, then: str) -> AsyncGenerator[str]:
    """A call that never ends; the next line is typed when it runs."""
    yield "kitchen cook"
    yield "kitchen weigh grams=1"
    await anyio.lowlevel.checkpoint()
    if then:
        yield then


@pytest.mark.parametrize("leaves_with", ["quit", ""], ids=["quit", "end of the lines"])
async def test_leaving_gives_up_what_still_runs_and_says_so(
    leaves_with: str, capsys: pytest.CaptureFixture[str]
):
    async with desk_with(ScriptedPerson(), kitchen=kitchen) as calls:
        assert await calls.run(cooking(then=leaves_with), waits=False) == Exit.DONE
    out, errors = capsys.readouterr()
    assert "[1] kitchen cook: given up. The server is told, if it can be reached.\n" in errors
    assert "Traceback" not in out + errors


class Fragile(Stranger):
    """A server that goes away when it is called, and comes again."""

    def __init__(self) -> None:
        super().__init__(self._go, revision="2025-11-25")

    async def _go(self, ctx: Context, heard: Heard) -> dict[str, Any]:
        self.gone.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def _on_request(self, ctx: Context, method: str, params: Any) -> dict[str, Any]:
        if method == "tools/list":
            return {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
        return await super()._on_request(ctx, method, params)


async def test_a_server_that_went_away_is_connected_to_again_by_the_next_call(
    capsys: pytest.CaptureFixture[str],
):
    made: list[Fragile] = []

    def another() -> Any:
        made.append(Fragile())
        return made[-1].transport()

    async with desk_with(ScriptedPerson(), shop=another) as calls:
        assert await calls.run(lines("go"), waits=True) == Exit.NOT_CONNECTED
        said = capsys.readouterr().err
        assert "The server shop went away during tool go, so nobody knows whether it was done." in said
        await calls.run(lines("shop"), waits=True)
        out, said = capsys.readouterr()
        assert "shop had gone away, and is connected again." in said
        assert "go" in out
    assert len(made) == 2


async def test_a_server_that_does_not_come_again_is_told_for_each_call(capsys: pytest.CaptureFixture[str]):
    first = [Fragile().transport()]

    def once() -> Any:
        return first.pop() if first else ["no-such-program"]

    async with desk_with(ScriptedPerson(), shop=once) as calls:
        await calls.run(lines("go"), waits=True)
        for _ in range(2):
            capsys.readouterr()
            assert await calls.run(lines("go"), waits=True) == Exit.NOT_CONNECTED
            assert "there is no program 'no-such-program'" in capsys.readouterr().err


async def test_a_call_reports_its_own_answers_and_not_those_of_the_calls_beside_it():
    person = ScriptedPerson(lambda asked: accept(yes=True))
    outcomes: dict[str, CallOutcome] = {}

    async def serve(driver: Driver, dish: str) -> None:
        wanted = CallRequest(kind="tool", name="serve", arguments=(f"dish={dish}",))
        there = Answerer(person=person, own=person, nobody="")
        outcomes[dish] = await run_call(driver, ServerCall(wanted=wanted, present=there))

    async with Driver(kitchen, person) as driver, anyio.create_task_group() as tasks:
        for dish in ("soup", "stew"):
            tasks.start_soon(serve, driver, dish)
    told = {dish: [one.asked.message for one in outcome.answers] for dish, outcome in outcomes.items()}
    assert told == {"soup": ["Serve soup?"], "stew": ["Serve stew?"]}


@pytest.mark.parametrize("words", [["desk"], ["call", "--desk"]], ids=["desk", "call"])
def test_a_policy_that_cannot_be_followed_ends_with_two(shell: Shell, kitchen_url: str, words: list[str]):
    Path("bad.toml").write_text("[[rule]]")
    ended = shell.run(*words, "--no-open", kitchen_url, "--policy", "bad.toml")
    assert ended.code == 2
    assert "bad.toml" in ended.errors
    assert "Traceback" not in ended.errors


async def test_the_name_of_the_only_server_may_be_left_out_or_cut_short_where_no_tool_has_it(
    capsys: pytest.CaptureFixture[str],
):
    texts = ["weigh grams=1", "server weigh grams=2", "serve dish=soup", "server.py weigh grams=3"]
    person = ScriptedPerson([accept(yes=True)])
    async with desk_with(person, **{"server.py": kitchen}) as calls:
        await calls.servers["server.py"].list_tools()
        for text in texts:
            assert await calls.run(lines(text), waits=True) == Exit.DONE
    out, _ = capsys.readouterr()
    assert out.splitlines() == [
        "1 g, precise: False",
        "2 g, precise: False",
        "soup served",
        "3 g, precise: False",
    ]


@pytest.fixture
def desk(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a desk to its end, with these lines through a pipe."""

    def run(*words: str, typed: str) -> Ended:
        reader, writer = os.pipe()
        with os.fdopen(writer, "w") as out:
            out.write(typed)
        with os.fdopen(reader) as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            return shell.run("desk", "--no-open", *words)

    return run


def test_piped_lines_are_carried_out_and_the_worst_is_the_exit_code(
    desk: Callable[..., Ended], kitchen_url: str
):
    ended = desk(kitchen_url, typed="weigh grams=1\n--resource recipe://soup\nburn")
    assert ended.code == 1
    assert "The desk is ready: open it at http://127.0.0.1:" in ended.errors
    assert "1 g, precise: False\n" in ended.out
    assert "Water and salt\n" in ended.out


def test_a_line_for_a_server_that_did_not_come_goes_to_no_other(desk: Callable[..., Ended], kitchen_url: str):
    ended = desk(kitchen_url, "http://127.0.0.1:9/mcp", typed="127.0.0.1:9 weigh grams=1\nweigh grams=2\n")
    assert "Cannot connect to 127.0.0.1:9" in ended.errors
    assert "[1] 127.0.0.1:9 weigh:\n127.0.0.1:9 is not connected." in ended.errors
    assert "'weigh' is not one of the servers here: " in ended.errors
    assert (ended.code, ended.out) == (3, "")


SILENT = answering({"initialize": None, "server/discover": None})


async def test_a_silent_server_keeps_nobody_from_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.cli.desk.STARTUP_TIMEOUT", 0)
    command = [sys.executable, *shlex.split(SILENT)]
    async with desk_with(ScriptedPerson(), slow=command, kitchen=kitchen) as calls:
        gathering = DeskStartup(
            calls.servers, dict.fromkeys(calls.servers, "starts"), limit=None, lists_tools=True
        )
        with anyio.fail_after(20):
            async with gathering.under_way():
                assert await gathering.is_anybody_there()
                assert await calls.run(lines("kitchen weigh grams=1"), waits=True) == Exit.DONE
    out, errors = capsys.readouterr()
    assert out == "1 g, precise: False\n"
    assert "kitchen: weigh, plate, picture" in errors


def test_a_server_that_is_silent_for_longer_than_the_limit_is_told_and_left(
    desk: Callable[..., Ended], kitchen_url: str
):
    host = kitchen_url.split("/")[2]
    ended = desk(
        SILENT, kitchen_url, "--timeout", "2", typed=f"{host} weigh grams=1\nanswers weigh grams=2\n"
    )
    assert "answers.py did not answer within 2 seconds." in ended.errors
    assert "answers.py is not connected." in ended.errors
    assert (ended.code, ended.out) == (3, "1 g, precise: False\n")


def test_at_a_terminal_it_is_said_who_is_waited_for_however_long_the_path(screen: Open):
    terminal = screen("desk", "--no-open", SILENT, columns=50)
    terminal.until("answers.py starts, ")
    terminal.press("cancel")
    assert terminal.ended() == 130


def test_at_a_terminal_lines_are_typed_below_what_calls_say_and_ctrl_c_names_what_it_gives_up(
    screen: Open, kitchen_url: str
):
    terminal = screen("desk", "--no-open", kitchen_url)
    terminal.until("The desk is ready", "weigh, plate, picture", "askback>")
    terminal.type("weigh grams=1\r")
    terminal.until("1 g, precise: False")
    terminal.type("serve dish=soup\r")
    terminal.until("asks on the desk.")
    terminal.press("cancel")
    assert terminal.ended() == 0
    assert "serve: given up." in terminal.text
    assert "weigh: given up." not in terminal.text
