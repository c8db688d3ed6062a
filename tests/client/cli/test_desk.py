"""`askback desk`: calls typed line by line, several at once, their questions on one page."""

import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest

from askback.cli.calls import Calls
from askback.cli.endings import Exit
from askback.cli.people import Present
from askback.client import Driver, Line
from askback.testing import accept, decline
from askback.testing.person import ScriptedPerson
from examples.pizzeria.server import mcp as pizzeria
from tests.client.cli.kitchen import mcp as kitchen
from tests.client.cli.running import Screen, Shell

pytestmark = pytest.mark.anyio


async def lines(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


async def calls_of(person: ScriptedPerson, *texts: str) -> Exit:
    """What comes of these lines at a desk with two servers."""
    queue = Line(person)
    there = Present(person=person, own=person, nobody="")
    async with (
        Driver(kitchen, queue, label="kitchen") as cook,
        Driver(pizzeria, queue, label="pizzeria") as baker,
    ):
        calls = Calls({"kitchen": cook, "pizzeria": baker}, there)
        return await calls.run(lines(*texts), waits=True)


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


async def test_leaving_gives_up_what_still_runs():
    assert await calls_of(ScriptedPerson(), "kitchen cook", "quit", "kitchen burn") == Exit.DONE


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


def test_at_a_terminal_lines_are_typed_below_what_calls_say(screen: Screen):
    screen.until("The desk is ready", "weigh, plate, picture", "askback>")
    screen.type("weigh grams=1\r")
    screen.until("1 g, precise: False")
    screen.type("serve dish=soup\r")
    screen.until("asks on the desk.")
    screen.press("cancel")
    assert screen.ended() == 0
