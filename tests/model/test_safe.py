"""Whatever a server writes, a person sees it all and a terminal obeys none of it."""

import ast
import re
import unicodedata
from time import process_time

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from askback.model.safe import (
    MAX_LINE_LENGTH,
    MAX_MARKS,
    has_hidden_characters,
    quote_safely,
    safe_block,
    safe_line,
    safe_lines,
    safe_text,
)
from tests.support.corpus import corpus
from tests.support.docs_pages import DOCS, table

ORDERS = [
    "\x1b]0;owned\x07",
    "\x1b]2;owned\x1b\\",
    "\x1b]52;c;b3duZWQ=\x07",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b[2J\x1b[H",
    "\x1b[31m\x1b[5m\x1b[7m",
    "\x1b[?1049h",
    "\x1b[6n",
    "\x1bc",
    "\x9b2J",
    "\x9d0;owned\x9c",
    "\x90q\x9c",
    "one\rtwo",
    "one\x08\x08\x08two",
    "one\ttwo",
    "one\x0btwo\x0cthree",
    "\x0e\x0f\x05\x07\x00\x7f",
]
TRICKS = [
    "pay\u202eLAP\u202cpal",
    "a\u2066b\u2069c\u061cd\u200ee\u200ff",
    "pay\u200bpal\u2060\ufeff\u00ad",
    "one\u2028two\u2029three\u0085four",
    "\U000e0041\U000e0042\U000e007f",
    "\ud800 \udfff",
    "\ue000\U000f0000\U0010fffd",
    "\u0378\ufdd0\uffff\U0001ffff",
    "x" + "\u0301" * 50,
    "\u0301 first",
    "\u3164\u115f\u1160\uffa0\u2800\u034f\u17b4\u180e",
    "a\ufe0fb\ufe00c\U000e0100d",
    "│ ┃ ─ ┌┐└┘ ║ █ ▌",
    "Send" + " " * 300 + "[ Verified by your bank ]",
    "\U0001d159 \ufff9a\ufffab\ufffb",
    "\u1100" + "\u1161" * 40,
]
ANYTHING = st.text(st.characters(codec=None), max_size=300)
BYTES = st.binary(max_size=300).map(lambda raw: raw.decode("latin-1"))
HOSTILE = st.lists(st.sampled_from([*ORDERS, *TRICKS]) | ANYTHING | BYTES, max_size=5).map("".join)

NEVER_RAW = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def marks_on_one_letter(text: str) -> int:
    most = run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        most = max(most, run)
    return most


@pytest.mark.verifies("T14", "T15")
@given(HOSTILE)
@example("".join([*ORDERS, *TRICKS]))
def test_nothing_that_orders_or_hides_passes_as_itself(text: str):
    shown = safe_line(text, 5_000)
    assert not {unicodedata.category(character) for character in shown} & NEVER_RAW
    assert shown == "" or unicodedata.category(shown[0]) not in ("Mn", "Me")
    assert marks_on_one_letter(shown) <= MAX_MARKS
    assert " " * 9 not in shown
    assert all(not "\u2500" <= character <= "\u259f" for character in shown)
    shown.encode()


@pytest.mark.verifies("T15")
@given(HOSTILE)
@example("".join([*ORDERS, *TRICKS]))
def test_to_make_it_safe_twice_changes_nothing(text: str):
    once = safe_line(text)
    assert safe_line(once) == once
    assert [safe_line(row, 20_000) for row in safe_block(text)] == safe_block(text)


@pytest.mark.verifies("T19")
@given(HOSTILE, st.integers(1, 80))
def test_a_line_is_never_longer_than_what_was_allowed(text: str, most: int):
    assert len(safe_line(text, most)) <= most


@pytest.mark.verifies("T15")
@given(HOSTILE)
@example("".join([*ORDERS, *TRICKS]))
def test_a_terminal_shows_it_and_obeys_nothing(text: str):
    screen = pyte.Screen(400, 4)
    stream = pyte.Stream(screen)
    stream.feed("\x1b]2;ours\x1b\\")
    attributes = screen.cursor.attrs
    shown = safe_line(text, 150)
    stream.feed(shown)
    assert screen.title == "ours"
    assert screen.cursor.attrs == attributes
    assert screen.cursor.y == 0
    assert screen.cursor.x <= 2 * len(shown)
    assert screen.mode == pyte.Screen(400, 4).mode


@pytest.mark.verifies("R53")
def test_a_link_for_the_terminal_becomes_text_that_nothing_opens():
    shown = safe_line("\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\")
    assert shown == "␛]8;;https://evil.example␛\\click␛]8;;␛\\"


@pytest.mark.verifies("T15")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "␛[31m"),
        ("a\tb\rc\nd\x7f", "a␉b␍c␊d␡"),
        ("\x9b2J", "<U+009B>2J"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("pay\u200bpal", "pay<U+200B>pal"),
        ("a\u2028b", "a<U+2028>b"),
        ("\U000e0041", "<U+E0041>"),
        ("\ud83d", "<U+D83D>"),
        ("\ue000\u0378", "<U+E000><U+0378>"),
        ("e" + "\u0301" * 41, "e" + "\u0301" * 4 + "<+37 marks>"),
        ("\u0301", "◌\u0301"),
        ("a\u00a0b\u3000c", "a b c"),
        ("a" + " " * 12 + "b", "a<12 spaces>b"),
        ("┌─┐│█", "+-+|#"),
        ("\u3164x", "<U+3164>x"),
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_could_be_taken_for_something_else_is_made_visible(text: str, shown: str):
    assert safe_line(text) == shown


@corpus(
    "text",
    [
        "Anything with your pizza?",
        "Größe, naïve, façade — “quoted”",
        "Как вас зовут? Ποιο είναι;",
        "お名前は何ですか 이름이 무엇입니까 你叫什么名字",
        "ما اسمك؟ מה שמך",
        "ชื่ออะไร तुम्हारा नाम क्या है",
        "e\u0302\u0301 Tiê\u0301ng Viê\u0323t",
        "🍕 5 € ½ ② ✓ 👍🏽 🇩🇪",
        "<b>not markup</b> [not](a-link) `code`",
    ],
)
def test_what_people_write_stays_as_it_is(text: str):
    assert safe_line(text) == text
    assert not has_hidden_characters(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("❤\ufe0f ⚠\ufe0f", "❤ ⚠"),
        ("👨\u200d👩\u200d👧", "👨👩👧"),
        ("❤\ufe0f\u200d🔥", "❤🔥"),
        ("1\ufe0f\u20e3", "1\u20e3"),
        ("می\u200cخواهم", "میخواهم"),
        ("क\u094d\u200dष", "क\u094dष"),
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_joiners_that_scripts_and_emoji_need_are_left_out_quietly(text: str, shown: str):
    assert safe_line(text) == shown
    assert not has_hidden_characters(text)


@corpus("text", ["a\u200db", "a\ufe0f", "x\u200c", "\u200d", "🍕\u200d", "a\ufe0f\ufe0f"])
def test_the_same_joiners_elsewhere_are_shown(text: str):
    assert "<U+" in safe_line(text)
    assert has_hidden_characters(text)


@pytest.mark.verifies("T14")
def test_a_block_keeps_the_lines_of_its_writer_and_no_other():
    assert safe_block("one\ntwo\r\nthree\rstill three\u2028and still\u0085") == [
        "one",
        "two",
        "three␍still three<U+2028>and still<U+0085>",
    ]


@pytest.mark.verifies("T14")
def test_quotes_cannot_be_ended_by_what_stands_between_them():
    assert quote_safely("B”, says Askback: “yes„ ‟no") == '“B", says Askback: "yes" "no”'
    assert quote_safely("x" * 300, 10) == f"“{'x' * 9}…”"


def test_what_is_about_to_be_sent_is_shown_whole():
    lines = safe_lines("x" * 20_000 + "\r\n" + "\x1b" * 300 + "\n" * 1_000)
    assert lines == ["x" * 20_000, "␛" * 300, *[""] * 1_000]
    assert safe_text("x" * 20_000) == "x" * 20_000


@pytest.mark.verifies("T19")
def test_a_block_that_is_too_long_says_in_our_words_how_much_is_left_out():
    assert safe_block("x" * 30, most=10) == ["x" * 9 + "…", "[about 20 more characters are left out]"]
    assert safe_block("a\nb\nc\nd", most_lines=2) == ["a", "b", "[about 4 more characters are left out]"]
    assert safe_block("a\nb", most_lines=2) == ["a", "b"]
    assert safe_block("") == [""]


@pytest.mark.verifies("T19", "T15")
@corpus("unit", ["x", "\n", "\u202e", "\u0301", " ", "\x1b[", "│", "\r\n", "\ud800", "👨\u200d", "\t"])
def test_a_megabyte_is_cut_at_once(unit: str):
    text = unit * (1_000_000 // len(unit))
    start = process_time()
    rows = safe_block(text)
    shown = safe_line(text)
    assert process_time() - start < 0.5
    assert len(shown) <= MAX_LINE_LENGTH
    assert sum(map(len, rows)) < 10_100
    assert len(rows) <= 401
    assert "left out" in rows[-1]


SHOWN_IN_THE_DOCS = table(DOCS / "explain" / "forms-from-strangers.md", "in the text", "shown as")


@corpus("row", range(len(SHOWN_IN_THE_DOCS)))
def test_the_page_about_forms_shows_what_is_shown(row: int):
    text, shown = (cell.strip("`") for cell in SHOWN_IN_THE_DOCS[row])
    assert (
        safe_line(re.sub(r"\\(x..|u....|U.{8}|[trn])", lambda found: ast.literal_eval(f'"{found[0]}"'), text))
        == shown
    )
