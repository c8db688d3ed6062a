"""Line by line: for screen readers, and for terminals that can do no more."""

import pytest

from tests.client.terminal.menu import EVERYTHING, FISHING, text_field
from tests.client.terminal.seat import Seat
from tests.client.terminal.test_form import LETTER


@pytest.mark.verifies("R47", "R49", "R55", "R57")
def test_a_form_is_filled_in_line_by_line(plain: Seat):
    plain.begin(schema=EVERYTHING, number=2, behind=1)
    for said in (
        "pizzeria asks. Question 2, 1 more waiting.",
        "for: tool order",
        "| Anything with your pizza?",
    ):
        assert said in plain.terminal.text
    plain.say("Ada", "Field 2 of 7: Crust", "2. thick")
    plain.say("2", "Field 3 of 7: Toppings", "now: Ham")
    plain.say("olives, 5", "Field 4 of 7: Tip in euro", "now: 2")
    plain.say("", "Field 5 of 7: Day")
    plain.say("2026-11-15", "Field 6 of 7: In a hurry")
    plain.say("yes", "Field 7 of 7: Note")
    plain.say("please knock", "1. Your name: Ada", "changed by you, was: Ham", "Type send to send it")
    plain.say("", "Nothing is sent. Type send")
    plain.terminal.type("send\n")
    assert plain.answer()["content"] == {
        "name": "Ada",
        "crust": "thick",
        "toppings": ["olives", "corn"],
        "tip": 2,
        "day": "2026-11-15",
        "hurry": True,
        "note": "please knock",
    }


def test_a_person_goes_back_is_told_what_is_wrong_and_changes_a_field_from_the_review(plain: Seat):
    plain.begin()
    plain.say("cola", "Field 2 of 2: Tip in euro")
    plain.say("99", "should be 20 or less", "Field 2 of 2")
    plain.say("<", "Field 1 of 2: Drink", "now: Cola")
    plain.say("?", "!decline says no", "Enter alone keeps", "Field 1 of 2")
    plain.say("", "Field 2 of 2")
    plain.say("5", "Review what is sent to pizzeria", "2. Tip in euro: 5", "changed by you, was: 0")
    plain.say("1", "Field 1 of 2: Drink")
    plain.say("water", "Field 2 of 2")
    plain.say("", "Review what is sent")
    plain.terminal.type("send\n")
    assert plain.answer()["content"] == {"drink": "water", "tip": 5}


@pytest.mark.verifies("R48", "R52")
@pytest.mark.parametrize(
    ("typed", "action"),
    [("!decline\n", "decline"), ("!cancel\n", "cancel"), ("half a li\x03", "cancel"), ("\x04", "cancel")],
    ids=["decline", "cancel", "ctrl-c", "end"],
)
def test_no_is_said_by_a_word_and_ctrl_c_or_the_end_of_input_cancel(plain: Seat, typed: str, action: str):
    plain.begin()
    plain.terminal.type(typed)
    assert plain.answer() == {"action": action, "opened": [], "declines_all": False}


def test_all_of_a_server_is_declined_by_a_word(plain: Seat):
    plain.begin(number=3)
    assert "!decline all" in plain.terminal.text
    plain.terminal.type("!decline all\n")
    assert plain.answer() == {"action": "decline", "opened": [], "declines_all": True}


def test_several_lines_and_words_that_look_like_commands_can_be_written(plain: Seat):
    plain.begin(schema=text_field())
    plain.say("!lines", "a single dot ends them")
    plain.say("one")
    plain.say("two")
    plain.say(".", "Review what is sent", "one", "two")
    plain.say("1", "Field 1 of 1")
    plain.say("\\?", "1. Note: ?")
    plain.terminal.type("send\n")
    assert plain.answer()["content"] == {"note": "?"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("\\d+", "\\d+"),
        ("\\\\server\\share", "\\\\server\\share"),
        ("\\", "\\"),
        ("\\!empty", "!empty"),
        ("\\<", "<"),
        ("\\!decline all", "!decline all"),
        ("\\\\?", "\\?"),
    ],
)
def test_a_backslash_is_taken_away_only_before_a_command(plain: Seat, typed: str, meant: str):
    plain.begin(schema=text_field())
    plain.say(typed, f"1. Note: {meant}\r\n")
    plain.terminal.type("send\n")
    assert plain.answer()["content"] == {"note": meant}


@pytest.mark.verifies("T14")
def test_a_number_chooses_what_stands_behind_it_in_the_list(plain: Seat):
    options = [{"const": "2", "title": "Keep"}, {"const": "1", "title": "Delete"}]
    plain.begin(schema={"type": "object", "properties": {"what": {"type": "string", "oneOf": options}}})
    assert "1. Keep" in plain.terminal.text
    plain.say("1", "1. what: Keep", "sent as: 2")
    plain.terminal.type("send\n")
    assert plain.answer()["content"] == {"what": "2"}


@pytest.mark.verifies("T13")
def test_a_secret_is_sent_only_after_one_more_word(plain: Seat):
    plain.begin(schema=FISHING)
    assert "Warning: This may be fishing for a secret." in plain.terminal.text
    assert "\n         model.\n" in plain.terminal.text, "our own words are no quotation"
    plain.say("hunter2", "Field 2 of 2")
    plain.say("-----BEGIN PRIVATE KEY-----", "looks like a private key", "Review what is sent")
    plain.say("send", "Nothing is sent yet. Type yes to send it anyway")
    plain.say("", "Review what is sent")
    plain.say("send", "Type yes")
    plain.terminal.type("yes\n")
    assert plain.answer()["content"] == {"password": "hunter2", "note": "-----BEGIN PRIVATE KEY-----"}


def test_a_form_that_nobody_could_fill_in_can_only_be_refused(plain: Seat):
    plain.begin(schema={"type": "array"})
    plain.say("send", "Type !decline or !cancel.")
    plain.terminal.type("!decline\n")
    assert plain.answer()["action"] == "decline"


@pytest.mark.verifies("R59", "R60", "R61", "R64", "T21")
def test_only_the_word_open_opens_a_link(plain: Seat):
    plain.begin("visit", url="https://pay.example.com/order/7")
    for shown in (
        "who: pizzeria",
        "where: pay.[example.com]",
        "why: tool order",
        "https://pay.example.com/order/7",
    ):
        assert shown in plain.terminal.text
    plain.say("o", "Nothing is opened.")
    plain.terminal.type("\n")
    assert plain.answer() == {"action": "decline", "opened": [], "declines_all": False}
    plain.begin("visit", url="https://pay.example.com/order/7", opens=False)
    plain.terminal.type("open\n")
    assert plain.answer()["opened"] == ["https://pay.example.com/order/7"]
    plain.terminal.until("Open it by hand:\nhttps://pay.example.com/order/7\nThe call goes on by itself when")


def test_of_a_page_on_this_computer_that_is_said_and_no_warning(plain: Seat):
    plain.begin("visit", url="http://127.0.0.1:8000/askback/visit/x")
    assert "The page is on this very computer" in plain.terminal.text
    assert "Warning" not in plain.terminal.text
    plain.terminal.type("\n")
    plain.answer()


def test_a_refused_link_has_no_word_that_opens_it(plain: Seat):
    plain.begin("visit", url="javascript:alert(1)")
    plain.say("open", "Nothing is opened. Type decline or cancel.")
    plain.terminal.type("cancel\n")
    assert plain.answer() == {"action": "cancel", "opened": [], "declines_all": False}


@pytest.mark.verifies("R66")
def test_the_wait_is_ended_by_a_word_or_by_the_server(plain: Seat):
    plain.begin("wait", url="https://pay.example.com/")
    plain.tell("pass", seconds=61)
    plain.say("", "Waiting for 1:01.")
    plain.say("retry", "The page was opened again.")
    plain.terminal.type("done\n")
    assert plain.answer() == {"word": "done", "opened": ["https://pay.example.com/"]}
    plain.begin("wait", url="https://pay.example.com/")
    plain.terminal.type("\x03")
    assert plain.answer()["word"] == "cancel"
    plain.begin("wait", url="https://pay.example.com/")
    plain.tell("finish")
    assert plain.answer()["word"] == "done"


@pytest.mark.verifies("R63")
def test_a_retry_that_opens_no_browser_leaves_the_link_to_be_copied(plain: Seat):
    plain.begin("wait", url="https://pay.example.com/", opens=False)
    said = plain.say("retry", "No browser opens here.")
    assert "\nOpen it by hand:\r\nhttps://pay.example.com/\r\n" in said
    plain.terminal.type("cancel\n")
    assert plain.answer() == {"word": "cancel", "opened": ["https://pay.example.com/"]}


def test_a_question_that_is_gone_stays_until_the_person_leaves(plain: Seat):
    plain.begin(schema=EVERYTHING)
    plain.say("Ada", "Field 2 of 7")
    plain.tell("withdraw", why="The server has ended.")
    plain.terminal.until("The server has ended.\nPress Enter to leave.\n>", "> Ada")
    plain.terminal.type("\n")
    assert plain.answer()["action"] == "cancel"


def test_a_line_that_the_terminal_would_cut_is_not_taken(plain: Seat):
    plain.begin(schema=text_field())
    plain.say("x" * 5000, "too long for this terminal", "none of it was taken")
    plain.say("short", "Review what is sent", "short")
    plain.terminal.type("send\n")
    assert list(plain.answer()["content"].values()) == ["short"]


@pytest.mark.verifies("R55")
def test_the_review_says_all_that_goes_out_however_long_it_is(plain: Seat):
    option = {"const": "v" * 1_900 + " last of it", "title": "Short"}
    fields = {"one": {"type": "string", "oneOf": [option]}, "note": {"type": "string", "default": LETTER}}
    plain.begin(schema={"type": "object", "properties": fields})
    plain.say("1", "Field 2 of 2")
    said = plain.say("", "Review what is sent", "1. one: Short", "sent as:")
    assert "v last of it" in said and "The end of it" in said and "left out" not in said
    plain.terminal.type("!cancel\n")
    plain.answer()


def test_a_field_that_cannot_be_shown_and_a_form_without_any_are_told(plain: Seat):
    plain.begin(schema={"type": "object", "properties": {"a": {"type": "object"}, "b": {"type": "string"}}})
    assert "A field cannot be shown and is left out: “a”, because it is a form" in plain.terminal.text
    plain.terminal.type("!cancel\n")
    plain.answer()
    plain.begin(schema={"type": "object", "properties": {}})
    assert "There is nothing to fill in: sending it says yes." in plain.terminal.text
    plain.terminal.type("send\n")
    assert plain.answer()["content"] == {}
