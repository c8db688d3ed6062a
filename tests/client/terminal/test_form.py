"""A form on the screen: filled in, checked, reviewed, sent or refused."""

import pytest

from tests.client.terminal.menu import EVERYTHING, FISHING, text_field
from tests.client.terminal.seat import Seat

LETTER = "word " * 3_000 + "The end of it"
"""More than is ever shown of a message."""

PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----"


@pytest.mark.verifies("R47", "R49", "R55", "R57")
def test_every_kind_of_field_is_filled_in_reviewed_and_sent(seat: Seat):
    terminal = seat.form(
        "pizzeria asks", "for: tool order", "Anything with your pizza?", "Your name", schema=EVERYTHING
    )
    assert "Tip in euro  2" in terminal.text, "a default is filled in"
    terminal.type("Ada")
    terminal.press("tab", "down", "down", "tab", "down", "space", "tab", "backspace")
    terminal.type("4\t2026-11-15\t")
    terminal.press("up", "tab")
    terminal.type("No bell,")
    terminal.press("new line")
    terminal.type("please knock")
    terminal.press("review")
    review = terminal.until("Review what is sent to pizzeria", "please knock")
    assert "changed by you, was: 2" in review and "filled in by you" in review
    terminal.press("enter")
    assert seat.answer() == {
        "action": "accept",
        "content": {
            "name": "Ada",
            "crust": "thick",
            "toppings": ["ham", "olives"],
            "tip": 4,
            "day": "2026-11-15",
            "hurry": True,
            "note": "No bell,\nplease knock",
        },
        "opened": [],
        "declines_all": False,
    }
    assert terminal.until("asked “Anything with your pizza?”: sent")


def test_what_does_not_fit_is_said_while_it_is_typed(seat: Seat):
    terminal = seat.form(schema=EVERYTHING)
    terminal.press("tab", "tab", "tab")
    terminal.type("9")
    terminal.until("29", "should be 20 or less")
    terminal.press("backspace", "backspace")
    terminal.until_gone("should be 20 or less")
    terminal.press("cancel")
    seat.answer()


def test_a_person_goes_back_and_forth_and_nothing_typed_is_lost(seat: Seat):
    terminal = seat.form(schema=EVERYTHING)
    terminal.type("Ada")
    terminal.press("tab", "down", "back")
    terminal.until("> Your name", "> Ada", "Crust        thin")
    terminal.press("down")
    terminal.until("> Crust", "> (•) thin", "Your name    Ada")
    terminal.press("cancel")
    seat.answer()


def test_a_choice_is_found_by_its_letters(seat: Seat):
    terminal = seat.form(schema=EVERYTHING)
    terminal.press("tab")
    terminal.type("stu")
    found = terminal.until("find: stu", "> (•) stuffed")
    assert "( ) thin" not in found
    terminal.type("x")
    terminal.until("nothing here has these letters")
    terminal.press("tab", "back")
    terminal.until("> (•) stuffed", "( ) thin")
    terminal.press("cancel")
    seat.answer()


def test_space_chooses_the_first_where_nothing_is_chosen_and_keeps_what_is(seat: Seat):
    fields = {
        "crust": {"type": "string", "title": "Crust", "enum": ["thin", "very thick"]},
        "hurry": {"type": "boolean", "title": "In a hurry"},
    }
    terminal = seat.form(
        "( ) thin", schema={"type": "object", "required": ["crust", "hurry"], "properties": fields}
    )
    terminal.press("space")
    assert "find:" not in terminal.until("> (•) thin")
    terminal.press("space", "down", "space")
    terminal.until("> (•) very thick", "( ) thin")
    terminal.type("very t")
    terminal.until("find: very t", "> (•) very thick")
    terminal.press("tab", "space")
    terminal.until("> (•) yes")
    terminal.press("review")
    terminal.until("> Send <")
    terminal.press("enter")
    assert seat.answer()["content"] == {"crust": "very thick", "hurry": True}


def test_a_long_option_is_shown_in_full_when_it_is_chosen(seat: Seat):
    long = "Yes, and for the rest of this call: send with to = bob, and whatever else changes"
    fields = {"decision": {"type": "string", "title": "Decision", "enum": [long, "No"]}}
    schema = {"type": "object", "required": ["decision"], "properties": fields}
    terminal = seat.form("( ) Yes, and for", schema=schema)
    assert "else changes" not in terminal.until("( ) No")
    terminal.press("space")
    terminal.until("> (•) Yes, and for", "│ else changes", "( ) No")
    terminal.press("down")
    assert "│ else changes" not in terminal.until("> (•) No")
    terminal.press("cancel")
    seat.answer()


def test_enter_goes_from_field_to_field_and_from_the_last_to_the_review(seat: Seat):
    terminal = seat.form("1 of 7", schema=EVERYTHING)
    terminal.type("Ada")
    terminal.press("enter", "space")
    for place in range(3, 8):
        terminal.press("enter")
        terminal.until(f"{place} of 7")
    terminal.press("enter")
    terminal.until("> Review Ctrl-R <")
    terminal.press("enter")
    terminal.until("> Send <", "Crust        thin")
    terminal.press("cancel")
    seat.answer()


def test_a_review_is_refused_where_something_is_missing_and_the_cursor_goes_there(seat: Seat):
    terminal = seat.form(schema=EVERYTHING)
    terminal.type("Ada")
    terminal.press("review")
    terminal.until("One field still needs something.", "> Crust", "!")
    terminal.press("down", "review")
    terminal.until("Review what is sent")
    terminal.press("escape")
    terminal.until("> Crust")
    terminal.press("cancel")
    assert seat.answer()["action"] == "cancel"


@pytest.mark.verifies("R48", "R52")
@pytest.mark.parametrize(
    ("key", "action"), [("decline", "decline"), ("cancel", "cancel")], ids=["decline", "cancel"]
)
@pytest.mark.parametrize("screen", ["form", "review"])
def test_no_can_be_said_on_every_screen_in_two_different_ways(seat: Seat, screen: str, key: str, action: str):
    terminal = seat.form()
    if screen == "review":
        terminal.press("review")
        terminal.until("Review what is sent")
    assert "Decline Ctrl-D" in terminal.text and "Cancel Ctrl-C" in terminal.text
    terminal.press(key)
    assert seat.answer() == {"action": action, "opened": [], "declines_all": False}
    terminal.until(f"pizza?”: {'declined' if key == 'decline' else 'cancelled'}")


def test_the_buttons_are_reached_by_tab_as_well(seat: Seat):
    terminal = seat.form()
    terminal.press("tab", "tab", "tab")
    terminal.until("> Decline Ctrl-D <")
    terminal.press("enter")
    assert seat.answer()["action"] == "decline"


def test_all_of_a_server_is_declined_from_its_third_question_on(seat: Seat):
    assert "Decline all" not in seat.form(number=2).text
    seat.terminal.press("cancel")
    seat.answer()
    terminal = seat.form("Question 3", "Decline all from this server", number=3)
    terminal.press("decline all")
    assert seat.answer() == {"action": "decline", "opened": [], "declines_all": True}


def test_the_place_in_the_queue_is_kept_up_to_date(seat: Seat):
    terminal = seat.form("Question 2", number=2)
    seat.tell("behind", count=3)
    terminal.until("Question 2, 3 more waiting")
    terminal.press("cancel")
    seat.answer()


def test_a_paste_with_lines_stays_in_its_field_and_sends_nothing(seat: Seat):
    terminal = seat.form(schema=text_field())
    terminal.paste("one\rtwo\r\n\rthree")
    terminal.until("> one", "> two", "> three")
    terminal.press("review")
    terminal.until("Send")
    terminal.press("enter")
    assert seat.answer()["content"] == {"note": "one\ntwo\n\nthree"}


@pytest.mark.verifies("T13")
def test_a_form_that_fishes_for_secrets_is_shown_for_what_it_is(seat: Seat):
    terminal = seat.form("This may be fishing for a secret.", schema=FISHING)
    terminal.type("hunter2")
    terminal.until("hunter2")
    terminal.press("review")
    terminal.until("> Send <")
    terminal.press("enter")
    terminal.until("Are you sure? Nothing is sent yet.", "seems to ask for a secret", "> Back Esc <")
    terminal.press("enter")
    terminal.until("> Send <")
    terminal.press("enter")
    terminal.until("Are you sure?")
    terminal.press("tab", "enter")
    assert seat.answer()["content"] == {"password": "hunter2"}


@pytest.mark.verifies("T13")
def test_a_pasted_key_is_not_sent_before_the_person_says_so(seat: Seat):
    terminal = seat.form(schema=text_field())
    terminal.paste(PRIVATE_KEY)
    terminal.until("looks like a private key")
    terminal.press("review")
    terminal.until("> Send <")
    terminal.press("enter")
    terminal.until("Are you sure?", "looks like a private key")
    terminal.press("tab", "enter")
    assert seat.answer()["content"] == {"note": PRIVATE_KEY}


def test_a_form_that_nobody_could_fill_in_can_only_be_refused(seat: Seat):
    terminal = seat.form("It can only be declined or cancelled.", schema={"type": "array"})
    assert "Review" not in terminal.text
    terminal.press("review", "enter")
    assert seat.answer()["action"] == "decline"


def test_what_was_typed_stays_readable_when_the_server_is_gone(seat: Seat):
    terminal = seat.form(schema=text_field())
    terminal.type("a long letter")
    terminal.until("a long letter")
    seat.tell("withdraw", why="The server has ended.")
    terminal.until(
        "! The server has ended.", "What you had filled in, not sent:", "a long letter", "> Leave <"
    )
    terminal.type("and more")
    terminal.press("decline", "enter")
    assert seat.answer()["action"] == "cancel"
    terminal.until("not answered. The server has ended.")


def test_a_question_that_the_caller_gives_up_leaves_the_terminal_as_it_was(seat: Seat):
    terminal = seat.form()
    seat.tell("give up")
    assert seat.answer() == {"action": "given up"}
    assert not terminal.screen.cursor.hidden
    assert b"\x1b[?1049l" in terminal.bytes
    terminal = seat.form()
    terminal.press("cancel")
    assert seat.answer()["action"] == "cancel"


@pytest.mark.verifies("R55")
def test_the_review_shows_the_value_behind_a_title_that_says_something_else(seat: Seat):
    options = [{"const": "everything", "title": "Only my name"}, {"const": "nothing", "title": "Nothing"}]
    schema = {"type": "object", "properties": {"share": {"type": "string", "oneOf": options}}}
    terminal = seat.form(schema=schema)
    terminal.type("only")
    terminal.press("review")
    terminal.until("share  Only my name", "sent as: everything")
    terminal.press("cancel")
    seat.answer()


@pytest.mark.verifies("R55")
def test_the_review_shows_all_that_goes_out_however_long_it_is(seat: Seat):
    option = {"const": "v" * 1_900 + " last of it", "title": "Short"}
    fields = {"one": {"type": "string", "oneOf": [option]}, "note": {"type": "string", "default": LETTER}}
    terminal = seat.form(schema={"type": "object", "properties": fields})
    terminal.press("down", "review")
    terminal.until("> Send <", "one   Short", "~ sent as:")
    for _ in range(60):
        terminal.press("page down")
    terminal.until("The end of it")
    assert "left out" not in terminal.text
    for _ in range(60):
        terminal.press("page up")
    terminal.until("one   Short")
    terminal.press("page down", "page down")
    terminal.until("v last of it")
    terminal.press("cancel")
    seat.answer()
