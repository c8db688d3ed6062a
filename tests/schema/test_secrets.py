"""Which names, titles, descriptions and messages fish for secrets, and which only sound like it."""

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from askback.schema.secret_lint import Suspicion, suspect_field, suspect_message
from askback.schema.secret_lint.lexicon import read
from askback.schema.secret_lint.sightings import sightings
from tests.schema.secret_corpora import (
    DISGUISED_NAMES,
    FISHING_MESSAGES,
    FISHING_NAMES,
    FISHING_TITLES,
    HONEST_MESSAGES,
    HONEST_NAMES,
    HONEST_TITLES,
    lines,
)

pytestmark = pytest.mark.verifies("R11", "T13")


FISHING_PROSE = [message for messages in FISHING_MESSAGES.values() for message in lines(messages)]


def places(*fields: tuple[str, str | None, str | None]) -> list[str | None]:
    """Where each field is found to ask for a secret."""
    return [found.where if (found := suspect_field(*field)) else None for field in fields]


def test_a_name_that_asks_for_a_secret_is_suspected() -> None:
    names = FISHING_NAMES + DISGUISED_NAMES
    assert [name for name in names if places((name, "Value", "What you like")) != ["name"]] == []


def test_a_title_that_asks_for_a_secret_is_suspected() -> None:
    assert [title for title in FISHING_TITLES if places(("value", title, "What you like")) != ["title"]] == []


def test_a_message_or_description_that_asks_for_a_secret_is_suspected() -> None:
    assert [text for text in FISHING_PROSE if places(("value", None, text)) != ["description"]] == []
    found = {text: suspect_message(text) for text in FISHING_PROSE}
    assert [text for text, suspicion in found.items() if not suspicion or suspicion.where != "message"] == []


@pytest.mark.parametrize(
    "small", ["a", "an", "the", "your", "my", "this", "that", "our", "any", "me the", "us your new", "in the"]
)
def test_no_small_word_between_a_demand_and_a_secret_hides_it(small: str) -> None:
    assert suspect_message(f"Please give {small} API key")
    assert suspect_message(f"Enter {small} password to go on")


def test_what_only_sounds_like_a_secret_or_mentions_one_passes() -> None:
    assert [name for name in HONEST_NAMES if suspect_field(name, None, None)] == []
    assert [title for title in HONEST_TITLES if suspect_field("value", title, None)] == []
    assert [text for text in HONEST_MESSAGES if suspect_message(text)] == []
    assert [text for text in HONEST_MESSAGES if suspect_field("value", None, text)] == []


@pytest.mark.parametrize(
    ("name", "kind", "read_as"),
    [
        ("p4ssw0rd", "password", "password"),
        ("OPENAI_API_KEY", "API key", "api key"),
        ("githubtoken", "token", "token"),
        ("clientSecret", "client secret", "client secret"),
        ("ssh_key", "private key", "ssh key"),
        ("seed-phrase", "recovery phrase", "seed phrase"),
        ("cc_num", "card number", "cc num"),
        ("cvv2", "card security code", "cvv2"),
        ("pinCode", "PIN", "pin code"),
        ("smsCode", "one-time code", "sms code"),
        ("login_credentials", "credentials", "login credentials"),
        ("connStr", "connection string", "conn str"),
        ("maiden_name", "security answer", "maiden name"),
        ("SSN", "social security number", "ssn"),
        ("パスワード", "password", "パスワード"),
    ],
)
def test_the_author_is_told_the_kind_of_secret_and_the_word_it_was_read_as(
    name: str, kind: str, read_as: str
) -> None:
    assert suspect_field(name, None, None) == Suspicion(kind=kind, where="name", text=read_as)


def test_the_name_is_blamed_before_the_title_and_the_title_before_the_description() -> None:
    asks = ("password", "API key", "Enter your PIN")
    assert suspect_field(*asks) == Suspicion(kind="password", where="name", text="password")
    assert suspect_field("value", *asks[1:]) == Suspicion(kind="API key", where="title", text="api key")
    assert suspect_field("value", "Value", asks[2]) == Suspicion(kind="PIN", where="description", text="pin")


def test_a_long_title_is_read_as_a_sentence() -> None:
    assert suspect_field("value", "Your password was changed, so who shall be told?", None) is None


def test_an_empty_form_text_is_no_suspect() -> None:
    assert suspect_field("", "", "") is None
    assert suspect_message("") is None


# Disguises, made rather than listed

SECRETS = ["password", "passphrase", "api key", "access token", "private key", "client secret", "card number"]
INVISIBLE = [
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u034f",
    "\ufe0f",
    "\u202e",
    "\u0301",
]
SEPARATORS = ["", "", "", "_", "-", ".", " ", "·", "—", "\u00a0", "/", "~"]
TWINS = dict(zip("aceiopsxykt", "асеіорѕхукт", strict=True)) | {
    "d": "ԁ",
    "w": "ԝ",
    "r": "ʀ",
    "n": "ո",
    "h": "һ",
}
LEET = dict(zip("aeiost", "431057", strict=True))


def small_capitals(word: str) -> str:
    return word.translate(str.maketrans("abcdehiknoprstuvwy", "ᴀʙᴄᴅᴇʜɪᴋɴᴏᴘʀꜱᴛᴜᴠᴡʏ"))


DISGUISES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "alternating case": lambda word: "".join(
        letter.upper() if place % 2 else letter for place, letter in enumerate(word)
    ),
    "full width": lambda word: "".join(
        chr(ord(letter) + 0xFEE0) if letter != " " else "　" for letter in word
    ),
    "mathematical": lambda word: "".join(
        chr(ord(letter) - 97 + 0x1D5EE) if letter != " " else " " for letter in word
    ),
    "circled": lambda word: "".join(
        chr(ord(letter) - 97 + 0x24D0) if letter != " " else " " for letter in word
    ),
    "small capitals": small_capitals,
    "look-alikes": lambda word: "".join(TWINS.get(letter, letter) for letter in word),
    "digits": lambda word: "".join(LEET.get(letter, letter) for letter in word),
    "accents": lambda word: unicodedata.normalize("NFC", "".join(letter + "\u0301" for letter in word)),
    "zero width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "spaces": " ".join,
    "dots": ".".join,
    "commas": ", ".join,
    "underscores": "_".join,
    "one word": lambda word: word.replace(" ", ""),
}


def test_a_disguise_does_not_hide_a_secret() -> None:
    hidden = [disguise(secret) for disguise in DISGUISES.values() for secret in SECRETS]
    assert [word for word in hidden if not suspect_field(word, None, None)] == []
    assert [word for word in hidden if not suspect_field("value", f"Your {word}", None)] == []
    assert [word for word in hidden if not suspect_message(f"Please enter your {word} below")] == []


@st.composite
def disguised(draw: st.DrawFn) -> str:
    word = draw(st.sampled_from(SECRETS))
    separator = draw(st.sampled_from(SEPARATORS))
    letters = [_disguise_letter(draw, letter) for letter in word]
    return separator.join(letters)


def _disguise_letter(draw: st.DrawFn, letter: str) -> str:
    way = draw(
        st.sampled_from(["as it is", "as it is", "capital", "twin", "digit", "full width", "invisible"])
    )
    ways = {
        "as it is": letter,
        "capital": letter.upper(),
        "twin": TWINS.get(letter, letter),
        # Vowels alone: where most letters are digits, nobody reads the word either.
        "digit": LEET[letter] if letter in "aeio" else letter,
        "full width": chr(ord(letter) + 0xFEE0) if letter != " " else letter,
        "invisible": letter + draw(st.sampled_from(INVISIBLE)),
    }
    return ways[way]


@given(disguised())
@example("p4\u200bѕsｗ0rD")
def test_no_mixture_of_disguises_hides_a_secret(hidden: str) -> None:
    assert suspect_field(hidden, None, None)
    assert suspect_message(f"Please enter your {hidden}")


# Any text at all

PIECES = [
    "password",
    "token",
    "p4ss",
    "enter",
    "do not",
    "your",
    "which",
    "密码",
    "输入",
    "пароль",
    ",",
    ".",
    ":",
    "\n",
    "!",
    "@",
]


@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map(" ".join))
@example("\ud800 password")
@example("ﷺ" * 20)
@example("!")
@example("1")
def test_every_text_is_judged_without_an_error(text: str) -> None:
    assert isinstance(suspect_message(text), Suspicion | None)
    assert isinstance(suspect_field(text, text, text), Suspicion | None)


LONG_SHAPES = {
    "words": "enter the reason ",
    "mentions": "which token is deleted ",
    "refusals": "do not enter a password ",
    "about": "name of the password ",
    "pieces": "p a s s ",
    "marks": "p, ",
    "digits": "1a",
    "humps": "aB",
    "one word": "passpor",
    "signs": "!",
    "accents": "\u0301\u0316",
    "unspaced": "密の",
    "blank": " \n",
}


def _calls(text: str) -> int:
    """How many calls judging takes: a measure of work that no busy machine changes."""
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(tick)
    try:
        suspect_message(text)
    finally:
        sys.setprofile(None)
    return count


def _growth(piece: str) -> float:
    """How much more work a text takes that is twice as long."""
    suspect_message(piece * (5_000 // len(piece)))
    once, twice = (_calls(piece * (size // len(piece))) for size in (5_000, 10_000))
    return (twice - 100) / once


def test_work_grows_with_the_length_of_the_text_and_no_faster() -> None:
    assert {shape: growth for shape, piece in LONG_SHAPES.items() if (growth := _growth(piece)) > 2.2} == {}


def test_a_long_run_of_disguised_words_is_seen_once_for_each_secret() -> None:
    """Each sighting of a run is weighed by all its letters: ten thousand of them would take minutes."""
    long = [seen for seen in sightings(read("p4ssw0rd1" * 500)) if seen.end - seen.start > 100]
    assert 0 < len(long) < 50


@pytest.mark.slow
@pytest.mark.parametrize("shape", LONG_SHAPES)
def test_a_text_of_a_hundred_kilobytes_gets_its_verdict(shape: str) -> None:
    piece = LONG_SHAPES[shape]
    text = piece * (100_000 // len(piece))
    assert suspect_message(text) is None
    assert suspect_message(f"{text}. Enter your password.")
