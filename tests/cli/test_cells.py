"""Columns stand where they should, also beside letters that are two cells wide."""

from io import StringIO

import pytest

from askback.cli.cells import width_of, wrapped
from askback.cli.printer import Printer, TextRow

WIDTHS = {"pizza": 5, "鍋": 2, "ｗ": 2, "é": 1, "e\u0301": 1, "": 0}


@pytest.mark.parametrize("text", WIDTHS, ids=map(ascii, WIDTHS))
def test_a_wide_letter_takes_two_cells_and_an_accent_none(text: str):
    assert width_of(text) == WIDTHS[text]


def test_a_column_stays_in_its_place_beside_wide_letters():
    out = StringIO()
    left = [[TextRow("鍋"), TextRow("pan"), TextRow("鍋" * 20)]]
    right = [[TextRow("here"), TextRow("here"), TextRow("here")]]
    Printer(out, width=60, colour=False).columns([left, right])
    rows = out.getvalue().splitlines()
    assert [width_of(row[: row.index("here")]) for row in rows if "here" in row] == [31, 31, 31]
    assert all(width_of(row) <= 60 for row in rows)


@pytest.mark.parametrize("text", ["鍋" * 30, "soup 鍋鍋鍋 " * 6, "no wide letter, " * 5, "鍋"])
def test_what_is_wrapped_fits_and_nothing_is_lost(text: str):
    lines = wrapped(text, 21, indent=4)
    assert all(width_of(line) <= 21 for line in lines)
    assert [line[:4] for line in lines] == ["    "] * len(lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_nothing_is_one_empty_line():
    assert wrapped("", 20, indent=4) == [""]
