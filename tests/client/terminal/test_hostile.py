"""Whatever a server writes, wherever it can write: it is text in a frame, and the terminal obeys nobody but us."""

import json
import re

import pytest

from askback.client.forms import read_form
from tests.client.terminal.hostile import TEXTS, schema_of, strange_orders
from tests.client.terminal.menu import text_field
from tests.client.terminal.seat import Seat
from tests.support.terminal_emulator import Emulator

MEGABYTE = 1_000_000

OURS_FIRST = re.compile(
    r" *\| | {9}|Field \d of \d: | +\d\. | +(now|sent as|changed by you, was): |(Problem|for|why): |A field cannot|> "
)
"""How a line begins that has words of the server in it; the last is what the person types."""


def is_untouched(terminal: Emulator) -> bool:
    """Title, clipboard and cursor are as before, and nothing but drawing was sent."""
    assert strange_orders(terminal.bytes) == []
    assert terminal.screen.title == terminal.screen.icon_name == ""
    return not terminal.screen.cursor.hidden


@pytest.mark.verifies("T15", "R53")
@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_text_in_every_place_of_a_form_does_nothing(seat: Seat, kind: str):
    text = TEXTS[kind]
    terminal = seat.form(schema=schema_of(text), message=text, name=text, host=text, purpose=text, label="us")
    count = len(read_form(json.loads(json.dumps(schema_of(text)))).entries)  # as it comes to the seat
    for place in range(1, count + 1):
        terminal.until(f"  {place} of {count}\n", "[ Decline Ctrl-D ] [ Cancel Ctrl-C ]")
        assert terminal.lines[-1].endswith("[ Decline Ctrl-D ] [ Cancel Ctrl-C ]")
        terminal.press("tab")
    terminal.until("> Review Ctrl-R <")
    terminal.press("review")
    terminal.until("Review what is sent to us", "Decline Ctrl-D", "Cancel Ctrl-C")
    seat.tell("withdraw", why=f"Gone: {kind}")
    terminal.until(f"Gone: {kind}")
    terminal.press("enter")
    assert seat.answer()["action"] == "cancel"
    assert is_untouched(terminal)


@pytest.mark.verifies("T15", "R53")
@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_text_in_every_place_of_a_visit_does_nothing(seat: Seat, kind: str):
    text = TEXTS[kind]
    terminal = seat.visit(
        "Decline Ctrl-D",
        url=f"https://evil.example/{text}",
        message=text,
        name=text,
        purpose=text,
        label="us",
    )
    terminal.press("decline")
    assert seat.answer() == {"action": "decline", "opened": [], "declines_all": False}
    assert is_untouched(terminal)


@pytest.mark.verifies("T15")
@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_text_does_nothing_line_by_line_either(plain: Seat, kind: str):
    text = TEXTS[kind]
    plain.begin(schema=schema_of(text), message=text, name=text, purpose=text, label="us")
    while "Review what is sent to us" not in plain.say("!empty"):
        pass
    terminal = plain.terminal
    terminal.type("!cancel\n")
    assert plain.answer()["action"] == "cancel"
    assert is_untouched(terminal)
    assert b"\x1b" not in terminal.bytes


@pytest.mark.verifies("T14")
def test_words_that_imitate_ours_stay_in_their_frame(seat: Seat):
    fakes = "Question 9\n [ Send ] FAKE\n──── FAKE\n│ FAKE\n└──\n > Send < FAKE\r FAKE"
    terminal = seat.form("FAKE", message=fakes, schema=text_field(description=fakes))
    for line in terminal.lines:
        if "FAKE" in line:
            assert line.startswith((" │ ", "   │ ")), line
            assert "│" not in line.removeprefix(" │ ").removeprefix("   │ ")
    assert terminal.lines[-1] == " [ Review Ctrl-R ] [ Decline Ctrl-D ] [ Cancel Ctrl-C ]"
    assert terminal.style_of(" pizzeria asks").reverse
    assert not terminal.style_of("FAKE").reverse
    terminal.press("cancel")
    seat.answer()


@pytest.mark.verifies("T14")
def test_lines_of_a_default_do_not_pass_for_what_we_say_of_it_on_the_review(seat: Seat):
    default = "Good\n~ sent as: FAKE\nFAKE  filled in by you\n" + "x" * 60 + " ~ FAKE"
    terminal = seat.form("FAKE", schema=text_field(default=default))
    terminal.press("review")
    terminal.until("> Send <", "x ~ FAKE")
    for line in terminal.lines:
        assert "FAKE" not in line or line.startswith("       │ "), line
    terminal.press("cancel")
    seat.answer()


FAKED = "x" * 57 + " FAKE " + "y" * 74 + " FAKE " + "z" * 74 + " FAKE"
"""Whatever of ours it stands after, a terminal of 80 columns left to itself puts FAKE at its left edge somewhere."""


@pytest.mark.verifies("T14")
def test_words_that_imitate_ours_stay_behind_their_bar_line_by_line(plain: Seat):
    options = {"type": "string", "title": FAKED, "enum": ["a" + FAKED, "b" + FAKED], "default": "a" + FAKED}
    fields = {"note": {"type": "string", "title": "A" + FAKED, "description": FAKED, "default": FAKED * 8}}
    lines = {"lines": {"type": "string", "title": "Lines", "default": f"{FAKED}\nFAKE\nFAKE"}}
    bad = {f"bad{FAKED}": {"type": "object"}}
    schema = {"type": "object", "properties": {**fields, "one": options, **lines, **bad}}
    plain.terminal.resize(80, 200)
    plain.begin(schema=schema, message=f"{FAKED}\nFAKE\n| FAKE", purpose=f"tool {FAKED}", name="FAKE " * 12)
    plain.say("x" * 30 + "\\", "Field 2 of 3")
    plain.say("FAKE none", "Problem: ", "Field 2 of 3")
    plain.say("1", "Field 3 of 3")
    plain.say("", "Review what is sent", "changed by you")
    begun = max(
        place for place, line in enumerate(plain.terminal.lines) if line.startswith("pizzeria, which")
    )
    shown = plain.terminal.lines[begun + 3 :]
    assert sum("FAKE" in line for line in shown) > 40
    for line in shown:
        assert "FAKE" not in line or OURS_FIRST.match(line), line
    plain.terminal.type("!cancel\n")
    plain.answer()


@pytest.mark.verifies("T14")
def test_a_link_that_is_longer_than_a_line_stays_behind_its_bar(plain: Seat):
    link = "https://evil.example/" + "x" * 100 + "FAKE" * 60
    plain.begin("visit", url=link, message=FAKED, purpose=FAKED)
    for line in plain.terminal.lines[-20:]:
        assert "FAKE" not in line or OURS_FIRST.match(line), line
    plain.terminal.type("\n")
    plain.answer()


@pytest.mark.verifies("T19", "R48")
@pytest.mark.parametrize("size", [(80, 24), (40, 20), (24, 10)], ids=lambda size: "x".join(map(str, size)))
def test_a_megabyte_leaves_the_buttons_and_the_fields_in_sight(seat: Seat, size: tuple[int, int]):
    seat.terminal.resize(*size)
    text = "word\n" * (MEGABYTE // 5)
    terminal = seat.form("word", message=text, schema=text_field(description=text[:100_000]), name=text)
    for _ in range(3):
        assert "Decline" in terminal.text and "Cancel" in terminal.text
        terminal.press("page down")
        terminal.until("PgUp PgD" if size[0] > 24 else "PgU")
    terminal.type("Ada")
    terminal.until("> Ada")
    terminal.press("decline")
    assert seat.answer()["action"] == "decline"


@pytest.mark.verifies("R53")
def test_addresses_in_a_message_are_plain_text(seat: Seat):
    terminal = seat.form("https://evil.example/", message="Go to https://evil.example/ now")
    assert b"]8;" not in terminal.bytes
    terminal.press("cancel")
    seat.answer()
