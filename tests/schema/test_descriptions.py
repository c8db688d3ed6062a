"""Secrets that are described and not named: card digits, wallet words, key files, cookies, codes, in many languages."""

import subprocess
import sys

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
from tests.support.paths import ROOT

pytestmark = pytest.mark.verifies("R11", "T13")

DEMANDS = [*(text for texts in DEMANDING.values() for text in texts), *MORE_DEMANDS, *NEAR_DEMANDS]
HARMLESS = [*(text for texts in HARMLESS_MESSAGES.values() for text in texts), *MORE_HARMLESS, *NEAR_HARMLESS]


def test_the_corpora_are_large_and_in_the_same_languages():
    assert len(DEMANDS) >= 119 <= len(HARMLESS)
    assert DEMANDING.keys() == HARMLESS_MESSAGES.keys()
    assert len(DEMANDING) >= 21


@pytest.mark.parametrize("text", DEMANDS)
def test_a_demand_that_describes_a_secret_is_suspected(text: str):
    assert suspect_message(text) is not None
    assert suspect_field("value", None, text) is not None


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_text_with_the_same_words_passes(text: str):
    assert suspect_message(text) is None
    assert suspect_field("value", None, text) is None


@pytest.mark.parametrize("name", DESCRIBING_NAMES)
def test_a_name_that_means_a_secret_is_suspected(name: str):
    assert suspect_field(name, None, None) is not None


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_harmless_name_passes(name: str):
    assert suspect_field(name, None, None) is None


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


@pytest.mark.parametrize(("name", "title", "description"), PATHS)
def test_the_path_of_a_file_is_no_secret(name: str, title: str | None, description: str | None):
    assert suspect_field(name, title, description) is None
    assert suspect_field(name, None, None) is not None


@pytest.mark.parametrize(("name", "title", "description"), NO_PATHS)
def test_but_what_is_in_the_file_is(name: str, title: str | None, description: str | None):
    assert suspect_field(name, title, description) is not None


WITHOUT = """
from askback.schema.secret_lint import descriptions
descriptions.NAMED = {}
descriptions.TOGETHER = descriptions.TOGETHER_AS_HEAD = descriptions.TOGETHER_UNSPACED = ()
from askback.schema.secret_lint import suspect_message
from tests.schema.test_descriptions import DEMANDS
print(sum(suspect_message(text) is None for text in DEMANDS))
"""


def test_without_these_tables_most_demands_would_pass():
    root = ROOT
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=root, capture_output=True, text=True, check=True
    )
    assert int(ended.stdout) > len(DEMANDS) // 2
