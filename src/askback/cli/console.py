"""What a command gives its shell: exit codes, signals, styled columns, notes, warnings.

SIGTERM and SIGHUP end a command as Ctrl-C does: the terminal is restored, and servers are told and ended.
"""

import asyncio
import logging
import os
import signal
import sys
import textwrap
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from functools import partial
from importlib import import_module
from itertools import zip_longest
from types import ModuleType
from typing import Any, Literal, TextIO, TypeVar

import anyio

from askback.errors import OperatorError
from askback.model.cells import pad, wrap
from askback.model.safe import safe_line, safe_text

T = TypeVar("T")


class Exit(IntEnum):
    """Codes for the shell, listed in docs/reference/command-line.md; a new meaning gets a new number."""

    DONE = 0
    FAILED = 1
    MISUSED = 2
    NOT_CONNECTED = 3
    NOBODY_ANSWERED = 4
    OUT_OF_TIME = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


SIGNALS = {signal.SIGTERM: Exit.TERMINATED}
if sys.platform != "win32":
    SIGNALS[signal.SIGHUP] = Exit.HUNG_UP

INSTALL_EXTRA = 'Install it with: pip install "askback[client]"'


class Misused(OperatorError):
    """The words of the command, or a file that they name, make no sense. Nothing was called."""


class NotConnected(OperatorError):
    """A server of a desk was not connected when the desk began. Nothing was called."""

    def __init__(self, label: str) -> None:
        self.label = label
        super().__init__(
            f"{label} is not connected. The reason was printed when the desk began: correct it, and start the desk "
            "again."
        )


class CommandInterrupted(Exception):
    """A signal ended the command; everything it had open is closed."""

    def __init__(self, exit_: Exit) -> None:
        super().__init__(exit_)
        self.exit = exit_


def import_optional(name: str) -> ModuleType | None:
    """The module, or None if an extra that it needs is missing. A missing module of Askback is an error."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        return None


def run(work: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Like `anyio.run`; raises `CommandInterrupted` after Ctrl-C, SIGTERM and SIGHUP."""
    try:
        return anyio.run(_run_until_signal, partial(work, *arguments))
    except KeyboardInterrupt:
        raise CommandInterrupted(Exit.INTERRUPTED) from None


async def _run_until_signal(work: Callable[[], Awaitable[T]]) -> T:
    came: list[signal.Signals] = []
    with anyio.CancelScope() as scope, _on_signal(lambda number: (came.append(number), scope.cancel())):
        try:
            return await work()
        except Exception:  # closing after a signal may fail
            if not came:
                raise
    raise CommandInterrupted(SIGNALS[came[0]])


@contextmanager
def _on_signal(act: Callable[[signal.Signals], object]) -> Generator[None]:
    """Call `act` at the first signal; a second one ends the program at once, as it would without us."""
    loop = asyncio.get_running_loop()
    # Under nohup a program must outlive its terminal. Only the main thread can handle signals.
    can_handle = sys.platform != "win32" and threading.current_thread() is threading.main_thread()
    handled = [one for one in SIGNALS if can_handle and signal.getsignal(one) != signal.SIG_IGN]

    def stop_handling() -> None:
        for one in handled:
            loop.remove_signal_handler(one)

    def handle(number: signal.Signals) -> None:
        stop_handling()
        act(number)

    for one in handled:
        loop.add_signal_handler(one, handle, one)
    try:
        yield
    finally:
        stop_handling()


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
