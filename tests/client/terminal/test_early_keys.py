"""Keys that were pressed before a question could be seen do not count."""

import pytest

from askback.client.terminal.screen_app import KeyGuard
from tests.client.terminal.seat import Seat


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.verifies("T21")
def test_keys_count_after_a_quiet_moment_and_a_key_begins_it_anew():
    clock = Clock()
    guard = KeyGuard(clock, quiet=0.5)
    assert not guard.is_open(), "nothing was drawn yet"
    guard.note_drawn()
    clock.now += 0.4
    assert not guard.is_open() and not guard.turned_away
    guard.turn_away()
    assert guard.turned_away
    clock.now += 0.4
    assert not guard.is_open(), "somebody is still typing for something else"
    clock.now += 0.2
    assert guard.is_open()
    guard.shut()
    assert not guard.is_open() and not guard.turned_away


@pytest.mark.verifies("T21")
@pytest.mark.parametrize("question", ["form", "visit"])
def test_what_was_typed_ahead_answers_nothing(seat: Seat, question: str):
    seat.terminal.type("\x12\r\r\x0f\r")
    terminal = seat.order(question)
    terminal.until("Tab: next" if question == "form" else "Enter does not")
    terminal.press("decline")
    assert seat.answer() == {"action": "decline", "opened": [], "declines_all": False}


@pytest.mark.verifies("T21")
def test_keys_pressed_as_the_question_appears_are_turned_away_and_it_is_said(seat: Seat):
    terminal = seat.visit("A moment", quiet=1.5)
    terminal.press("open")
    terminal.until("Keys pressed before this was shown do not count.")
    terminal.press("open", "enter")
    terminal.until("Enter does not")
    terminal.press("decline")
    assert seat.answer() == {"action": "decline", "opened": [], "declines_all": False}


@pytest.mark.verifies("T21")
def test_a_key_that_is_held_down_does_not_run_through_the_review(seat: Seat):
    terminal = seat.form("Tab: next", quiet=0.2)
    terminal.press("tab", "tab")
    terminal.until("> Review Ctrl-R <")
    terminal.type("\r" * 40)  # at once: a stall between two of them would be a quiet moment
    terminal.until("> Send <", "Tab: next button")
    terminal.press("cancel")
    assert seat.answer()["action"] == "cancel"


def test_whoever_wants_out_gets_out_at_once(seat: Seat):
    terminal = seat.form(quiet=60)
    terminal.press("cancel")
    assert seat.answer()["action"] == "cancel"


@pytest.mark.verifies("T21")
def test_line_by_line_what_was_typed_ahead_answers_nothing(plain: Seat):
    plain.terminal.type("!decline\nopen\nopen\n")
    terminal = plain.order("visit", quiet=2)
    terminal.type("open\n")
    terminal.until("Enter alone declines.\n>")
    terminal.type("cancel\n")
    assert plain.answer() == {"action": "cancel", "opened": [], "declines_all": False}
