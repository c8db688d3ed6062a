"""In small windows, without colour, and where nothing can be shown at all."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from askback.client.terminal import TerminalPerson
from askback.errors import Unanswered
from tests.client.terminal.conftest import Seats
from tests.client.terminal.menu import EVERYTHING
from tests.client.terminal.seat import Seat
from tests.client.turns import make_form

pytestmark = pytest.mark.slow

COLOUR = re.compile(rb"\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m")


@pytest.mark.verifies("R48", "R55")
@pytest.mark.parametrize(("columns", "rows"), [(40, 20), (40, 12), (24, 10)])
def test_a_form_is_filled_in_in_a_small_window(seat: Seat, columns: int, rows: int):
    seat.terminal.resize(columns, rows)
    terminal = seat.form("pizzeria asks", schema=EVERYTHING)
    assert "Decline ^D" in terminal.text and "Cancel ^C" in terminal.text
    terminal.type("Ada")
    terminal.until("> Ada")
    terminal.press("tab", "down")
    terminal.until("> (•) thin", "Decline ^D", "Cancel ^C")
    terminal.press("review")
    terminal.until("Send", "Back Esc", "Decline ^D", "Cancel ^C")
    terminal.press("enter")
    content = {"name": "Ada", "crust": "thin", "toppings": ["ham"], "tip": 2, "hurry": False}
    assert seat.answer()["content"] == content


@pytest.mark.parametrize(("kind", "shown"), [("seat", "Tab: next"), ("plain", "\n>")], ids=["seat", "plain"])
def test_what_stays_of_a_question_is_broken_between_words(
    request: pytest.FixtureRequest, kind: str, shown: str
):
    seat: Seat = request.getfixturevalue(kind)
    seat.terminal.resize(40, 20)
    seat.order("form")
    seat.terminal.until("Drink", shown)
    seat.terminal.press("cancel")
    seat.answer()
    seat.terminal.until("pizzeria asked “Anything with your\n  pizza?”: cancelled\n")
    seat.terminal.resize(80, 24)


def test_a_window_may_change_its_size_while_the_person_types(seat: Seat):
    terminal = seat.form(schema=EVERYTHING)
    terminal.type("Ada")
    terminal.until("> Ada", "Decline Ctrl-D")
    terminal.resize(40, 20)
    terminal.until("> Ada", "[Decline ^D]")
    terminal.resize(80, 24)
    terminal.until("> Ada", "[ Decline Ctrl-D ]")
    terminal.press("cancel")
    seat.answer()


def test_without_colour_the_same_is_said_in_words(seats: Seats):
    seat = seats(environment={"NO_COLOR": "1"})
    terminal = seat.form(schema=EVERYTHING)
    terminal.press("review")
    terminal.until("2 fields need something.", "!")
    terminal.press("cancel")
    seat.answer()
    assert not COLOUR.search(terminal.bytes)


def test_a_terminal_that_cannot_move_its_cursor_is_asked_line_by_line(seats: Seats):
    seat = seats(environment={"TERM": "dumb"})
    terminal = seat.order("form")
    terminal.until("Field 1 of 2: Drink\n", "\n>")
    assert b"\x1b" not in terminal.bytes
    terminal.type("!cancel\n")
    assert seat.answer()["action"] == "cancel"


def test_at_a_terminal_both_modes_are_declared(seat: Seat, plain: Seat):
    assert seat.modes == plain.modes == ["form", "url"]


@pytest.mark.parametrize("plain", [False, True], ids=["screen", "plain"])
def test_where_nobody_can_see_or_answer_no_mode_is_declared(tmp_path: Path, plain: bool):
    (tmp_path / "closed").touch()
    with (tmp_path / "closed").open("r+") as file:
        assert TerminalPerson(plain=plain, input=file, output=file).modes == frozenset()
        assert TerminalPerson(plain=True, input=file, output=file).modes == frozenset()
    assert TerminalPerson(plain=plain, input=file, output=file).modes == frozenset(), "a closed one as well"


async def test_a_question_that_comes_all_the_same_is_not_answered(tmp_path: Path):
    (tmp_path / "elsewhere").touch()
    with (tmp_path / "elsewhere").open("r+") as file:
        for plain in (False, True):
            person = TerminalPerson(plain=plain, input=file, output=file)
            with pytest.raises(Unanswered, match="no terminal to show it on"):
                await person.answer(make_form())


@pytest.mark.parametrize("flags", [(), ("plain",)], ids=["screen", "plain"])
def test_closing_the_window_is_no_answer(flags: tuple[str, ...]):
    seat = Seat(*flags)
    try:
        seat.order("form")
        seat.terminal.until("Drink")
        seat.terminal.hang_up()
        assert seat.answer()["action"] == "cancel"
    finally:
        seat.close()


def test_a_program_in_a_pipe_declares_nothing_and_does_not_hang():
    code = "from askback.client.terminal import TerminalPerson; print(sorted(TerminalPerson().modes))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
