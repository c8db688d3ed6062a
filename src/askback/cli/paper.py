"""What the demo prints on: styled text in columns, as wide as the terminal, plain where it is not one."""

import os
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import Literal, TextIO

Style = Literal["plain", "bold", "dim", "there", "back", "good"]

CODES: dict[Style, str] = {"plain": "", "bold": "1", "dim": "2", "there": "36", "back": "35", "good": "1;32"}
"""Colour is a second sign only: arrows and words say the same."""

GUTTER = 3
NARROWEST_COLUMN = 44
"""Narrower than this, JSON wraps into confetti; the columns are then stacked."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One paragraph of a column; wrapped lines are indented under its mark."""

    text: str
    style: Style = "plain"
    mark: str = ""


class Paper:
    """A place to print columns on."""

    def __init__(self, out: TextIO = sys.stdout, *, width: int | None = None, colour: bool | None = None) -> None:
        self._out = out
        self.width = width or shutil.get_terminal_size((100, 24)).columns
        self._colour = _wants_colour(out) if colour is None else colour

    def print(self, text: str = "", style: Style = "plain") -> None:
        """A paragraph over the whole width."""
        for line in textwrap.wrap(text, self.width, replace_whitespace=False) or [""]:
            self._out.write(self._styled(line, style) + "\n")

    def columns(self, columns: list[list[Piece]]) -> None:
        """The columns side by side, or one below the other where there is no room."""
        width = (self.width - GUTTER * (len(columns) - 1)) // len(columns)
        if width < NARROWEST_COLUMN:
            for column in columns:
                self._write_rows([self._lines(column, self.width)], self.width)
                self._out.write("\n")
            return
        self._write_rows([self._lines(column, width) for column in columns], width)

    def _lines(self, column: list[Piece], width: int) -> list[tuple[str, Style]]:
        lines: list[tuple[str, Style]] = []
        for piece in column:
            indent = " " * len(piece.mark)
            wrapped = textwrap.wrap(
                piece.text, width, initial_indent=piece.mark, subsequent_indent=indent, break_on_hyphens=False
            )
            lines.extend((line, piece.style) for line in wrapped or [""])
        return lines

    def _write_rows(self, columns: list[list[tuple[str, Style]]], width: int) -> None:
        for row in range(max(map(len, columns), default=0)):
            cells = [column[row] if row < len(column) else ("", "plain") for column in columns]
            line = (" " * GUTTER).join(self._styled(text.ljust(width), style) for text, style in cells)
            self._out.write(line.rstrip() + "\n")

    def _styled(self, text: str, style: Style) -> str:
        code = CODES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and code and text.strip() else text


def _wants_colour(out: TextIO) -> bool:
    return out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
