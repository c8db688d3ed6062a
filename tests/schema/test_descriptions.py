"""Secrets that are described and not named: card digits, wallet words, key files, cookies, codes, in many languages."""

import pytest

from askback.schema.secret_lint import Suspicion, suspect_field, suspect_message
from tests.schema.further_corpora import (
    DEMANDING,
    DESCRIBING_NAMES,
    HARMLESS_MESSAGES,
    HARMLESS_NAMES,
    MORE_DEMANDS,
    MORE_HARMLESS,
    NEAR_DEMANDS,
    NEAR_HARMLESS,
    NO_PATHS,
    PATHS,
)

pytestmark = pytest.mark.verifies("R11", "T13")

DEMANDS = [*(text for texts in DEMANDING.values() for text in texts), *MORE_DEMANDS, *NEAR_DEMANDS]
HARMLESS = [*(text for texts in HARMLESS_MESSAGES.values() for text in texts), *MORE_HARMLESS, *NEAR_HARMLESS]


def test_the_corpora_are_large_and_in_the_same_languages():
    assert len(DEMANDS) >= 119 <= len(HARMLESS)
    assert DEMANDING.keys() == HARMLESS_MESSAGES.keys()
    assert len(DEMANDING) >= 21


def test_a_demand_that_describes_a_secret_is_suspected():
    missed = [text for text in DEMANDS if not (suspect_message(text) and suspect_field("value", None, text))]
    assert missed == []


def test_a_harmless_text_with_the_same_words_passes():
    blamed = [text for text in HARMLESS if suspect_message(text) or suspect_field("value", None, text)]
    assert blamed == []


def test_a_name_that_means_a_secret_is_suspected_and_a_harmless_one_passes():
    assert [name for name in DESCRIBING_NAMES if not suspect_field(name, None, None)] == []
    assert [name for name in HARMLESS_NAMES if suspect_field(name, None, None)] == []


@pytest.mark.parametrize(
    ("text", "kind", "read_as"),
    [
        ("Enter the 16 digits on your card", "card number", "digit"),
        ("Type the code on the back of the card", "card security code", "number"),
        ("Write the twelve words of your wallet", "recovery phrase", "words"),
        ("Paste the cookies from your browser", "token", "cookies from your browser"),
        ("Paste your .env", "credentials", ".env"),
        ("Paste your id_rsa", "private key", "id rsa"),
    ],
)
def test_the_author_is_told_what_was_described(text: str, kind: str, read_as: str):
    assert suspect_message(text) == Suspicion(kind=kind, where="message", text=read_as)


@pytest.mark.parametrize(
    "text",
    [
        "Enter your name. The digits of pi are nice. Which card shall I draw?",
        "Enter the digits. The card is on the table.",
        "Enter the digits " + "of the very long list " * 4 + "on the card",
    ],
)
def test_words_that_are_far_apart_describe_nothing(text: str):
    assert suspect_message(text) is None


def test_the_path_of_a_file_is_no_secret_but_what_is_in_the_file_is():
    assert [field for field in PATHS if suspect_field(*field)] == []
    assert [name for name, *_ in PATHS if not suspect_field(name, None, None)] == []
    assert [field for field in NO_PATHS if not suspect_field(*field)] == []
