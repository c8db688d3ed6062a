"""Guards in a real terminal: a person reads all of it, and then it runs or it does not."""

import re
from collections.abc import Generator
from typing import NamedTuple

import pytest

from tests.guards.people.errands import FEW, NAMES, STATEMENT, Errands
from tests.guards.people.serving import command
from tests.support.command.process import Open, Screen
from tests.support.programs import listening

pytestmark = pytest.mark.slow

SERVED = {"MCPServer": "2025-11-25", "FastMCP": "2026-07-28"}
"""Each host with one era; all four pairs meet at the desk."""


class Served(NamedTuple):
    """A server that runs all along, and where its errands leave their marks."""

    errands: Errands
    words: tuple[str, ...]


@pytest.fixture(scope="module", params=SERVED)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    host = request.param
    errands = Errands(tmp_path_factory.mktemp(host)).prepare()
    with listening(*command(host, errands.folder, "http")) as url:
        yield Served(errands, (url, "--label", "errands", "--revision", SERVED[host]))


def test_a_yes_and_nothing_else_deletes(screen: Open, served: Served):
    file = served.errands.add("old.txt")
    terminal = screen("call", *served.words, "delete", "path=old.txt")
    terminal.ready("errands asks", "for: tool delete", "│ Delete old.txt?")
    terminal.press("decline")
    terminal.until("delete was not run: the person said no.")
    assert terminal.ended() != 0 and file.exists()
    terminal = screen("call", *served.words, "delete", "path=old.txt")
    terminal.ready("Delete old.txt?")
    terminal.type("y")
    terminal.send()
    terminal.until("old.txt is gone")
    assert terminal.ended() == 0 and not file.exists()


def test_a_yes_for_an_hour_says_what_it_covers_and_the_next_call_asks_nothing(screen: Open, served: Served):
    terminal = screen("call", *served.words, "send", "to=ada", "text=hello")
    terminal.ready("│ Send hello to ada?", "( ) Yes, this once", "( ) No")
    terminal.until("( ) Yes, and for an hour: send with to = ada, whatever else")
    terminal.press("down", "down", "down")
    terminal.until("(•) Yes, and for an hour")
    terminal.send()
    terminal.until("sent to ada")
    assert terminal.ended() == 0
    terminal = screen("call", *served.words, "send", "to=ada", "text=again")
    terminal.until("sent to ada")
    assert terminal.ended() == 0
    assert served.errands.sent == ["ada: hello", "ada: again"]


CHOOSING = "Up Down Space: choose"
"""Which keys do what: said once keys count."""

PLACE = re.compile(r"lines (\d+)-(\d+) of (\d+), PgUp PgDn")


def place_of(terminal: Screen) -> tuple[int, int, int] | None:
    """The first and the last line in sight, and how many there are; None where all are."""
    terminal.until("( ) Run it", "( ) Do not run it", CHOOSING)
    place = PLACE.search(terminal.text)
    return (int(place[1]), int(place[2]), int(place[3])) if place else None


def leaf(terminal: Screen, key: str) -> None:
    before = place_of(terminal)
    terminal.press(key)
    terminal.until_that(lambda: place_of(terminal) != before, "another page")


def read_through(terminal: Screen) -> list[str]:
    """All words of the server, from the first page to the last, without the frame."""
    while (place := place_of(terminal)) and place[0] != 1:
        leaf(terminal, "page up")
    lines: list[str] = []
    while True:
        place = place_of(terminal)
        shown = [line[3:] for line in terminal.lines if line.startswith(" │")]
        first, last, count = place or (1, len(shown), len(shown))
        lines[first - 1 :] = shown
        if last == count:
            return lines
        leaf(terminal, "page down")


@pytest.mark.parametrize("served", ["MCPServer"], indirect=True)
def test_a_statement_can_be_read_to_its_end_before_anything_is_chosen(screen: Open, served: Served):
    terminal = screen("call", *served.words, "query", f"statement={STATEMENT}", columns=40)
    for columns, rows in ((40, 20), (120, 40), (80, 24)):
        terminal.resize(columns, rows)
        rule = "─" * columns
        terminal.until_that(lambda rule=rule: terminal.lines[-3] == rule, "a screen of this size")
        lines = read_through(terminal)
        assert (rows == 40) == (place_of(terminal) is None), "where there is room nothing is cut off"
        assert any(line.startswith("- main.people.name: names, such as") for line in lines)
        assert lines[-2:] == ["  |   AND name <> 'anybody'", "  | ORDER BY id"]
        ours = "It shows and tests no personal columns."
        assert ours in " ".join(line.strip(" |+") for line in lines), "what the statement says is shown too"
        assert ours not in lines, "and cannot pass for a line of its own"
    terminal.press("down", "down")
    terminal.until(f"(•) Run it for at most {FEW} rows")
    terminal.press("review")
    # Said once keys count. That "A moment" is gone tells less here: after another size the screen is wiped once more.
    terminal.until("> Send <", "Enter: press it")
    terminal.press("enter")
    terminal.until(" ".join(NAMES[:FEW]))
    assert terminal.ended() == 0 and NAMES[FEW] not in terminal.text


@pytest.mark.parametrize("served", ["MCPServer"], indirect=True)
def test_line_by_line_too_what_goes_on_from_a_line_stands_further_in(screen: Open, served: Served):
    words = (*served.words, "query", f"statement={STATEMENT}", "--plain")
    terminal = screen("call", *words, columns=40)
    terminal.until("\n>")
    said = terminal.bytes.decode().replace("\r", "")
    assert "\n|   | ORDER BY id\n" in said
    assert "\n| It shows and tests no personal" not in said
    terminal.press("cancel")
    terminal.until("query was not run")
    terminal.ended()
