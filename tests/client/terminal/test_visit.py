"""A link on the screen: who, where and why, and nothing opens by accident."""

import pytest

from tests.client.terminal.seat import Seat

LINK = "https://pay.example.com/order/7?items=" + "pizza," * 30


@pytest.mark.verifies("R47", "R59", "R60", "R64")
@pytest.mark.parametrize("columns", [80, 40])
def test_who_where_and_why_are_shown_with_the_whole_link(seat: Seat, columns: int):
    seat.terminal.resize(columns, 24)
    terminal = seat.visit("who    pizzeria", "where  pay.[example.com]", "why    tool order", url=LINK)
    shown = "".join(line.strip() for line in terminal.lines)
    assert LINK in shown
    domain = terminal.style_of("example.com]")
    assert domain.bold and domain.underscore
    assert not terminal.style_of("pay.[").bold
    terminal.press("cancel")
    assert seat.answer() == {"action": "cancel", "opened": [], "declines_all": False}


@pytest.mark.verifies("R61", "T21")
def test_enter_declines_and_only_a_chord_opens(seat: Seat):
    terminal = seat.visit("> Decline Ctrl-D <", "Enter does not", url=LINK)
    terminal.type("open o y yes ")
    terminal.press("enter")
    assert seat.answer() == {"action": "decline", "opened": [], "declines_all": False}


@pytest.mark.verifies("R61", "T21")
def test_no_button_in_focus_ever_opens(seat: Seat):
    terminal = seat.visit(url=LINK, number=3)
    for word in ("Decline", "Cancel", "Decline all", "Decline"):
        terminal.until(f"> {word}")
        terminal.press("tab")
    terminal.until("> Cancel")
    terminal.press("enter")
    assert seat.answer()["opened"] == []


@pytest.mark.verifies("R52", "R63")
def test_an_opened_link_is_the_one_that_was_shown_and_carries_no_content(seat: Seat):
    terminal = seat.visit(url="HTTPS://Pay.Example.COM:443/order/./7")
    terminal.until("https://pay.example.com/order/7")
    terminal.press("open")
    opened = {"action": "accept", "content": None, "opened": ["https://pay.example.com/order/7"]}
    assert seat.answer() == {**opened, "declines_all": False}
    terminal.until(
        "asked to visit pay.example.com: opened in the browser\n"
        "The call goes on by itself when the server hears that you are done there;\n  Ctrl-C gives it up."
    )


def test_where_their_own_word_is_waited_for_nothing_else_is_promised(seat: Seat):
    terminal = seat.visit(url=LINK, is_demanded=True)
    terminal.press("open")
    seat.answer()
    terminal.until("opened in the browser")
    assert "by itself" not in terminal.text


def test_of_a_page_on_this_computer_one_calm_line_is_shown(seat: Seat):
    terminal = seat.visit("The page is on this very computer", url="http://127.0.0.1:8000/askback/visit/x")
    assert not any(line.startswith(" ! ") for line in terminal.lines)
    terminal.press("decline")
    seat.answer()


@pytest.mark.verifies("R63")
def test_where_no_browser_opens_the_link_is_left_to_be_copied(seat: Seat):
    terminal = seat.visit(url="https://pay.example.com/order/7", opens=False)
    terminal.press("open")
    assert seat.answer()["action"] == "accept"
    terminal.until("no browser opens here", "Open it by hand:")
    assert "https://pay.example.com/order/7" in terminal.lines, "on a line of its own, from its first column"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://github.com@evil.example/", "file:///etc/passwd"]
)
def test_a_refused_link_can_only_be_declined_or_cancelled(seat: Seat, url: str):
    terminal = seat.visit("This link is never opened", url=url)
    assert "Ctrl-O" not in terminal.text
    assert any(line.startswith(" ! ") for line in terminal.lines), "with the reason"
    terminal.press("open", "tab", "enter")
    assert seat.answer() == {"action": "cancel", "opened": [], "declines_all": False}


@pytest.mark.verifies("R65")
@pytest.mark.parametrize("url", ["https://xn--80ak6aa92e.com/", "https://github.com.evil.example/"])
def test_an_ambiguous_link_comes_with_a_warning_in_words(seat: Seat, url: str):
    terminal = seat.visit(url=url)
    assert any(line.startswith(" ! ") for line in terminal.lines)
    terminal.press("decline")
    seat.answer()


@pytest.mark.verifies("R66")
def test_the_wait_goes_by_until_the_person_says_a_word(seat: Seat):
    terminal = seat.order("wait", url=LINK)
    terminal.until("Waiting for pizzeria", "0:00")
    seat.tell("pass", seconds=61)
    terminal.until("Waiting for pizzeria", "1:01")
    terminal.until("Done Enter", "Retry Ctrl-O", "Cancel Ctrl-C", "Retry: open the page again.")
    terminal.press("open")
    terminal.until("The page was opened again.")
    terminal.press("enter")
    assert seat.answer() == {"word": "done", "opened": [LINK]}
    seat.order("wait", url=LINK)
    terminal.until("Waiting for pizzeria")
    terminal.press("cancel")
    assert seat.answer() == {"word": "cancel", "opened": []}


@pytest.mark.verifies("R63", "R66")
def test_a_retry_that_opens_no_browser_leaves_the_link_to_be_copied(seat: Seat):
    terminal = seat.order("wait", url=LINK, opens=False)
    terminal.until("Waiting for pizzeria", "Retry Ctrl-O")
    terminal.press("open")
    terminal.until("Open it by hand:\n", "Waiting for pizzeria", "No browser opens here.")
    start = terminal.lines.index("Open it by hand:") + 1
    assert "".join(terminal.lines[start : start + 4]).startswith(LINK), "whole, from its first column"
    terminal.press("cancel")
    assert seat.answer() == {"word": "cancel", "opened": [LINK]}


@pytest.mark.verifies("R66")
@pytest.mark.parametrize("columns", [40, 24])
@pytest.mark.parametrize("hears", [True, False], ids=["may hear of the end", "cannot hear of the end"])
def test_the_wait_says_all_of_it_in_a_narrow_window_and_promises_nothing_more(
    seat: Seat, columns: int, hears: bool
):
    seat.terminal.resize(columns, 20)
    terminal = seat.order("wait", url=LINK, **({"id": "7"} if hears else {}))
    terminal.until("Waiting for", "0:00", "[Done Enter]", "[Retry ^O]", "[Cancel ^C]")
    said = " ".join(line.strip() for line in terminal.lines)
    promised = "say that you are done, or when it learns that itself." if hears else "say that you are done."
    assert promised in said and "Retry: open the page again." in said
    terminal.press("cancel")
    assert seat.answer()["word"] == "cancel"


def test_the_wait_ends_by_itself_when_the_server_says_that_it_is_finished(seat: Seat):
    terminal = seat.order("wait", url=LINK)
    terminal.until("Waiting for pizzeria")
    seat.tell("finish")
    assert seat.answer() == {"word": "done", "opened": []}
    assert not terminal.screen.cursor.hidden


def test_a_link_that_is_taken_back_is_not_opened(seat: Seat):
    terminal = seat.visit(url=LINK)
    seat.tell("withdraw", why="The server has ended.")
    terminal.until("! The server has ended.")
    terminal.press("open", "enter")
    assert seat.answer() == {"action": "cancel", "opened": [], "declines_all": False}
