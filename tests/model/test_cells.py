"""Text never leaves its cells, whatever it is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.model import safe
from askback.model.cells import chop, cut, cut_middle, pad, width_of, wrap

WIDTHS = {"pizza": 5, "鍋": 2, "ｗ": 2, "é": 1, "e\u0301": 1, "": 0}

TEXT = st.text(max_size=80).map(safe.safe_line)
WIDTH = st.integers(2, 40)


@pytest.mark.verifies("T14")
@given(TEXT, WIDTH)
def test_nothing_is_wider_than_its_room_and_no_word_is_lost(text: str, width: int):
    lines = wrap(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert width_of(cut(text, width)) <= width
    assert width_of(cut_middle(text, width)) <= width
    assert width_of(pad(text, width)) == width


@given(TEXT, WIDTH)
def test_a_link_is_broken_at_the_edge_and_nowhere_else(text: str, width: int):
    pieces = list(chop(text, width))
    assert "".join(pieces) == text
    assert all(width_of(piece) <= width for piece in pieces)


def test_a_path_that_is_too_long_keeps_its_ends():
    assert cut_middle("/srv/kitchen.py", 15) == "/srv/kitchen.py"
    assert cut_middle("/home/ada/some/where/kitchen.py", 16) == "/home…kitchen.py"


def test_a_wide_letter_takes_two_cells_and_an_accent_none():
    assert {text: width_of(text) for text in WIDTHS} == WIDTHS


@pytest.mark.parametrize("text", ["鍋" * 30, "soup 鍋鍋鍋 " * 6, "no wide letter, " * 5, "鍋", ""])
def test_what_is_wrapped_fits_and_hangs_below_its_beginning(text: str):
    first, *rest = wrap(text, 21, before="    ", hang="      ")
    assert all(width_of(line) <= 21 for line in (first, *rest))
    assert first.startswith("    ") and all(line.startswith("      ") for line in rest)
    assert "".join("".join((first, *rest)).split()) == "".join(text.split())
