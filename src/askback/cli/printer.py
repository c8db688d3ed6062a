"""What commands print: columns of styled lines as wide as the terminal, notes, warnings, times and numbers."""

import logging
import os
import sys
import textwrap
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Literal, TextIO

from askback.model.cells import pad, wrap
from askback.model.safe import safe_line, safe_text

Style = Literal["plain", "bold", "dim", "there", "back", "good"]

CODES: dict[Style, str] = {"plain": "", "bold": "1", "dim": "2", "there": "36", "back": "35", "good": "1;32"}
"""Arrows and words say the same as the colours."""

DEFAULT_WIDTH = 100
"""Columns of a file or a pipe."""

MAX_NOTE = 1000
"""Characters of a note or a warning; paths can be long."""

GUTTER = 2
MIN_COLUMN = 25
"""Narrower columns are printed one below the other."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """One line of a column; a long one is wrapped under its own indent."""

    text: str = ""
    style: Style = "plain"
    indent: int = 0


Block = Sequence[TextRow]
Column = Sequence[Block]


class Printer:
    """Prints to one stream."""

    def __init__(
        self, out: TextIO | None = None, *, width: int | None = None, colour: bool | None = None
    ) -> None:
        self._out = out or sys.stdout
        self.width = width or columns_of(self._out)
        self.is_terminal = self._out.isatty()
        allows_colour = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self._colour = self.is_terminal and allows_colour if colour is None else colour

    def print(self, text: str = "", style: Style = "plain") -> None:
        """Print a paragraph over the whole width."""
        self._write([self._wrap([TextRow(text, style)], self.width)], self.width)

    def write(self, text: str, *, head: str = "") -> None:
        """Print one line without wrapping; `head` stands before it, dimmed where there is colour."""
        self._out.write(f"{self._styled(head, 'dim')}{text}\n")

    def columns(self, columns: Sequence[Column]) -> None:
        """Print columns side by side, block beside block; one below the other if the terminal is narrow."""
        width = (self.width - GUTTER * (len(columns) - 1)) // len(columns)
        if width < MIN_COLUMN:
            for column in columns:
                for block in column:
                    self._write([self._wrap(block, self.width)], self.width)
                self.print()
            return
        for blocks in zip_longest(*columns, fillvalue=()):
            self._write([self._wrap(block, width) for block in blocks], width)

    def _wrap(self, block: Block, width: int) -> list[tuple[str, Style]]:
        lines: list[tuple[str, Style]] = []
        for row in block:
            before = " " * row.indent
            wrapped = wrap(row.text.replace("\n", " "), width, before=before, hang=before + "  ")
            lines.extend((line, row.style) for line in wrapped)
        return lines

    def _write(self, columns: list[list[tuple[str, Style]]], width: int) -> None:
        blank: tuple[str, Style] = ("", "plain")
        for cells in zip_longest(*columns, fillvalue=blank):
            line = (" " * GUTTER).join(self._styled(pad(text, width), style) for text, style in cells)
            self._out.write(line.rstrip() + "\n")

    def _styled(self, text: str, style: Style) -> str:
        code = CODES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and code and text.strip() else text


def is_terminal(stream: TextIO | None) -> bool:
    """Whether it is a terminal. A stream that the shell has closed, as in `<&-`, is None."""
    return stream is not None and not stream.closed and stream.isatty()


def columns_of(out: TextIO) -> int:
    """The width of the terminal behind this stream; `shutil` would ask another one."""
    try:
        return (
            int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(out.fileno()).columns or DEFAULT_WIDTH
        )
    except (OSError, ValueError):
        return DEFAULT_WIDTH


def print_note(note: str) -> None:
    """Print lines beside the result, on standard error: wrapped on a terminal, whole for a program."""
    width = columns_of(sys.stderr) if sys.stderr.isatty() else None
    for text in note.splitlines() or [""]:
        lines = [text]
        if width:  # addresses stay whole, so that a person can click on them
            lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
        sys.stderr.write("".join(f"{line}\n" for line in lines or [""]))


class WarningPrinter(logging.Handler):
    """Prints each warning as one safe line, because it may repeat what a server wrote."""

    def emit(self, record: logging.LogRecord) -> None:
        print_note(safe_line(record.getMessage(), MAX_NOTE))


@contextmanager
def warnings_on_screen() -> Generator[None]:
    """Print the warnings of Askback, and no logs of libraries, which Python would print as they are."""
    handlers = {"": logging.NullHandler(), "askback": WarningPrinter(logging.WARNING)}
    for name, handler in handlers.items():
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, handler in handlers.items():
            logging.getLogger(name).removeHandler(handler)


def format_time(moment: float, *, seconds: bool = False) -> str:
    """A time in the time zone of the reader."""
    local = datetime.fromtimestamp(moment, UTC).astimezone()
    return local.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def format_iso(moment: float | None) -> str | None:
    """A time in UTC, for programs."""
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def format_count(count: float, noun: str) -> str:
    return f"{count:g} {noun}" if count == 1 else f"{count:g} {noun}s"


def shorten(text: str, length: int | None) -> str:
    """One safe line of at most this many characters."""
    line = " ".join(text.split())
    return safe_text(line if length is None or len(line) <= length else line[: length - 1] + "…")
