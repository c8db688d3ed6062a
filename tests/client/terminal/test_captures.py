"""The captures in the documentation are what the terminal shows now."""

import pytest

from askback.client import labels
from scripts.captures import PLACE, captures

pytestmark = pytest.mark.slow

PAGE = PLACE.parent / "terminal.md"


def test_every_capture_is_current_and_shown_on_the_page():
    taken = captures()
    kept = {file.name: file.read_text() for file in PLACE.iterdir()}
    assert kept == taken, "Run `python -m scripts.captures`, and read what changed."
    page = PAGE.read_text()
    assert [name for name in taken if name not in page] == []


def test_a_question_that_is_gone_says_what_the_product_says():
    words = " ".join((PLACE / "gone.txt").read_text().split())
    assert labels.GONE in words
