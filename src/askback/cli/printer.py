"""What commands print on: columns of styled lines, as wide as the terminal, plain where it is not one."""

import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TextIO

from askback.model.cells import pad, wrap

Style = Literal["plain", "bold", "dim", "there", "back", "good"]

CODES: dict[Style, str] = {"plain": "", "bold": "1", "dim": "2", "there": "36", "back": "35", "good": "1;32"}
"""Colour is a second sign only: arrows and words say the same."""

ELSEWHERE = 100
"""Columns of a file or a pipe."""

MAX_NOTE = 1000
"""Characters of a line that is said beside the result; paths can be long."""

GUTTER = 2
MIN_COLUMN = 25
"""Narrower than this, lines wrap into confetti; the columns are then stacked."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """One line of a column; what does not fit is wrapped under its own indent."""

    text: str = ""
    style: Style = "plain"
    indent: int = 0


Block = Sequence[TextRow]
Column = Sequence[Block]


class Printer:
    """A place to print columns on."""

    def __init__(
        self, out: TextIO | None = None, *, width: int | None = None, colour: bool | None = None
    ) -> None:
        self._out = out or sys.stdout
        self.width = width or columns_of(self._out)
        self.is_terminal = self._out.isatty()
        self._colour = _wants_colour(self._out) if colour is None else colour

    def print(self, text: str = "", style: Style = "plain") -> None:
        """A paragraph over the whole width."""
        self._write([self._wrapped([TextRow(text, style)], self.width)], self.width)

    def write(self, text: str, *, head: str = "") -> None:
        """One line as it is, however long; what stands at its head steps back where there is colour."""
        self._out.write(f"{self._styled(head, 'dim')}{text}\n")

    def columns(self, columns: Sequence[Column]) -> None:
        """The columns side by side, block beside block; one below the other where there is no room."""
        width = (self.width - GUTTER * (len(columns) - 1)) // len(columns)
        if width < MIN_COLUMN:
            for column in columns:
                for block in column:
                    self._write([self._wrapped(block, self.width)], self.width)
                self.print()
            return
        for blocks in zip_longest(*columns, fillvalue=()):
            self._write([self._wrapped(block, width) for block in blocks], width)

    def _wrapped(self, block: Block, width: int) -> list[tuple[str, Style]]:
        lines: list[tuple[str, Style]] = []
        for row in block:
            lines.extend((line, row.style) for line in _wrapped_row(row, width))
        return lines

    def _write(self, columns: list[list[tuple[str, Style]]], width: int) -> None:
        blank: tuple[str, Style] = ("", "plain")
        for cells in zip_longest(*columns, fillvalue=blank):
            line = (" " * GUTTER).join(self._styled(pad(text, width), style) for text, style in cells)
            self._out.write(line.rstrip() + "\n")

    def _styled(self, text: str, style: Style) -> str:
        code = CODES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and code and text.strip() else text


def _wrapped_row(row: TextRow, width: int) -> list[str]:
    before = " " * row.indent
    return wrap(row.text.replace("\n", " "), width, before=before, hang=before + "  ")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether it is a terminal. Python has None for a stream that the shell has closed, as in `<&-`."""
    return stream is not None and not stream.closed and stream.isatty()


def columns_of(out: TextIO) -> int:
    """Of the terminal it is; the one that `shutil` asks may be redirected elsewhere."""
    try:
        return int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(out.fileno()).columns or ELSEWHERE
    except (OSError, ValueError):
        return ELSEWHERE


def _whole_words(text: str, width: int) -> list[str]:
    """Addresses stay whole, however long: a person clicks on them."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _wants_colour(out: TextIO) -> bool:
    return out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_note(note: str) -> None:
    """Lines beside the result, where they are in nobody's way: wrapped on a terminal, and whole for a program."""
    width = columns_of(sys.stderr) if sys.stderr.isatty() else None
    for text in note.splitlines() or [""]:
        lines = _whole_words(text, width) if width else [text]
        sys.stderr.write("".join(f"{line}\n" for line in lines or [""]))
