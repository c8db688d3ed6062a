"""`askback demo`: three servers ask you in a real terminal and on a page, or a guest answers for you."""

import shlex
import sys
from pathlib import Path

import anyio
import pytest

from askback.cli.demo.weather import KEY
from tests.client.consent.follower import FOLLOWER
from tests.support.command.process import Open, Screen, Shell
from tests.support.programs import run
from tests.support.visitor import visitor

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the browser of this person notes the link that it was led to."""
    note = tmp_path / "opened"
    monkeypatch.setenv("BROWSER", shlex.join([sys.executable, FOLLOWER, str(note)]))
    return note


def order_a_pizza(screen: Open) -> Screen:
    """As far as the second server's question."""
    terminal = screen("demo")
    terminal.ready(
        "pizzeria asks", "for: 1 missing argument of tool order", "│ Order a pizza; the guest is asked"
    )
    assert "Which pizza?" not in terminal.text
    terminal.type("Funghi")
    terminal.send()
    terminal.ready("pizzeria asks", "Anything with your pizza?")
    terminal.press("decline")
    terminal.ready("weather asks", "where  [127.0.0.1]", "why    tool forecast")
    return terminal


def read_the_query(screen: Screen) -> None:
    """As far as what an agent wants to run; what it ran before is on the paper above."""
    screen.ready("shop asks", "for: tool query", "main.customers.email: contact details", "at most 3 rows")
    shown = screen.bytes.decode()
    assert "bread,143" in shown, "the harmless query ran unasked"


def link_of(note: Path, terminal: Screen) -> str:
    terminal.until_that(lambda: note.exists() and note.read_text() != "", "the browser to start")
    link = note.read_text().strip()
    note.unlink()
    return link


async def type_key(link: str, key: str, hint: str) -> None:
    async with visitor() as browser:
        assert hint in (await browser.open(link)).html
        assert (await browser.give(link, key=key)).status == 200


def test_no_to_everything_is_played_on_all_revisions(screen: Open):
    terminal = order_a_pizza(screen)
    terminal.press("decline")
    read_the_query(terminal)
    terminal.press("decline")
    terminal.until("The same result on all three: query was not run: the person said no.")
    assert terminal.ended() == 0
    assert "The same result on both: No forecast without a key." in terminal.bytes.decode()


def test_a_key_typed_on_the_page_brings_the_forecast_and_a_second_one_without_a_question(
    screen: Open, opened: Path
):
    terminal = order_a_pizza(screen)
    terminal.press("open")
    anyio.run(type_key, link_of(opened, terminal), "rain", "It takes the key: sunshine")
    terminal.ready("weather asks", "Question 2")
    terminal.press("open")
    anyio.run(type_key, link_of(opened, terminal), KEY, "The weather service does not know it.")
    read_the_query(terminal)
    for key in ("down", "down", "space"):
        terminal.press(key)
    terminal.send()
    terminal.until("The same result on all three: name,email, and 3 rows")
    assert terminal.ended() == 0
    shown = terminal.bytes.decode()
    assert "The key is in none of the 11 messages." in shown
    assert "Leiden tomorrow: rain until noon" in shown
    assert "The same result on all three: Ordered Funghi without extras." in shown
    assert KEY not in shown


def test_whoever_gives_up_on_the_page_is_out_at_once(screen: Open, opened: Path):
    terminal = order_a_pizza(screen)
    terminal.press("open")
    terminal.until("The call goes on by itself when the server hears that you are done there")
    terminal.press("cancel")
    assert terminal.ended() == 130


@pytest.mark.verifies("T05")
def test_without_a_terminal_a_guest_accepts_and_the_key_is_nowhere_on_the_wire(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "200")  # so that no name is broken
    monkeypatch.setattr(sys, "stdin", None)  # as the shell's <&- leaves it
    ended = shell.run("demo")
    assert (ended.code, ended.errors) == (0, "")
    assert "http://127.0.0.1:" in ended.out
    assert "Meanwhile in the browser: weather asks for your weather key. Typed: ••••••••." in ended.out
    assert "The same result on both: Delft tomorrow: clouds, and some sun" in ended.out
    assert KEY not in ended.out
    assert "- main.customers.email:" in ended.out and "decision = limit" in ended.out
    assert "customer-003" in ended.out and "customer-004" not in ended.out
    assert "Nobody was asked about this one, which counts orders" in ended.out
    assert not [path for path in home.rglob("*") if path.is_file()], "nothing of the demo stays"


def test_a_guest_who_declines_types_nothing_and_reads_nothing(shell: Shell):
    ended = shell.run("demo", "--no")
    assert (ended.code, ended.errors) == (0, "")
    assert "The same result on both: No forecast without a key." in ended.out
    assert "Meanwhile in the browser" not in ended.out
    assert "query was not run: the person said no." in ended.out
    assert "customer-001" not in ended.out


WITHOUT_EXTRAS = """
import sys
sys.modules.update(jinja2=None, sqlglot=None)
from askback.cli import main
sys.exit(main(["demo", "--play"]))
"""
"""`askback demo` as if the `pages` and `guards` extras were never installed."""


def test_without_extras_the_first_story_is_told_and_how_to_get_the_others():
    ended = run([sys.executable, "-c", WITHOUT_EXTRAS])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "The same result on all three" in ended.stdout
    assert 'pip install "askback[pages]"' in ended.stdout and 'pip install "askback[guards]"' in ended.stdout
    assert "The same result on both" not in ended.stdout and "somebody must agree to" not in ended.stdout
