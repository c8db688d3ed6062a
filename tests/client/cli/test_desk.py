"""`askback desk`: calls typed line by line, several at once, their questions on one page."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from askback.cli.endings import Exit
from askback.cli.kept import Kept
from askback.cli.options import Wanted
from askback.cli.order import Order, carry_out
from askback.cli.outcome import Outcome
from askback.cli.people import Present
from askback.cli.typed import TypedCalls
from askback.client import Driver, Line
from askback.testing import accept, decline
from askback.testing.person import ScriptedPerson
from examples.pizzeria.server import mcp as pizzeria
from tests.client.cli.kitchen import mcp as kitchen
from tests.client.cli.running import Screen, Shell
from tests.client.driver.strangers import Context, Heard, Stranger

pytestmark = pytest.mark.anyio


async def lines(*texts: str) -> AsyncGenerator[str]:
    for text in texts:
        yield text


async def calls_of(person: ScriptedPerson, *texts: str) -> Exit:
    """What comes of these lines at a desk with two servers."""
    async with desk_with(person, kitchen=kitchen, pizzeria=pizzeria) as calls:
        return await calls.run(lines(*texts), waits=True)


@asynccontextmanager
async def desk_with(person: ScriptedPerson, **targets: Any) -> AsyncGenerator[TypedCalls]:
    """A desk that keeps these servers; connected to when they are first called."""
    queue = Line(person)
    async with anyio.create_task_group() as tasks:
        kept = {
            label: Kept(partial(_driver, target, queue, label), tasks) for label, target in targets.items()
        }
        yield TypedCalls(kept, Present(person=person, own=person, nobody=""))
        for one in kept.values():
            one.leave()


def _driver(target: Any, queue: Line, label: str) -> Driver:
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
    "unknown": ("bakery order", "'bakery' is none of the servers here: kitchen, pizzeria."),
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
    assert "[1] kitchen cook: given up. The server is told where it can be.\n" in errors
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
    outcomes: dict[str, Outcome] = {}

    async def serve(driver: Driver, dish: str) -> None:
        wanted = Wanted(kind="tool", name="serve", arguments=(f"dish={dish}",))
        there = Present(person=person, own=person, nobody="")
        outcomes[dish] = await carry_out(driver, Order(wanted=wanted, present=there))

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


def test_piped_lines_are_carried_out_and_the_worst_is_the_exit_code(kitchen_url: str):
    ended = subprocess.run(
        [sys.executable, "-m", "askback.cli", "desk", "--no-open", kitchen_url, "http://127.0.0.1:9/mcp"],
        input="weigh grams=1\n--resource recipe://soup\nburn",
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == 1
    assert "The desk is ready: open it at http://127.0.0.1:" in ended.stderr
    assert "Cannot connect to 127.0.0.1:9" in ended.stderr
    assert "1 g, precise: False\n" in ended.stdout
    assert "Water and salt\n" in ended.stdout


@pytest.fixture
def screen(kitchen_url: str) -> Generator[Screen]:
    screen = Screen("desk", "--no-open", kitchen_url)
    yield screen
    screen.close()


def test_at_a_terminal_lines_are_typed_below_what_calls_say_and_ctrl_c_names_what_it_gives_up(screen: Screen):
    screen.until("The desk is ready", "weigh, plate, picture", "askback>")
    screen.type("weigh grams=1\r")
    screen.until("1 g, precise: False")
    screen.type("serve dish=soup\r")
    screen.until("asks on the desk.")
    screen.press("cancel")
    assert screen.ended() == 0
    assert "serve: given up." in screen.text
    assert "weigh: given up." not in screen.text
