"""Columns stand where they should, also beside letters that are two cells wide."""

from io import StringIO

from askback.cli.console import Printer, TextRow
from askback.model.cells import width_of


def test_a_column_stays_in_its_place_beside_wide_letters():
    out = StringIO()
    left = [[TextRow("鍋"), TextRow("pan"), TextRow("鍋" * 20)]]
    right = [[TextRow("here"), TextRow("here"), TextRow("here")]]
    Printer(out, width=60, colour=False).columns([left, right])
    rows = out.getvalue().splitlines()
    assert [width_of(row[: row.index("here")]) for row in rows if "here" in row] == [31, 31, 31]
    assert all(width_of(row) <= 60 for row in rows)
