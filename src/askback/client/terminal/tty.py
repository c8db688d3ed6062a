"""The terminal itself: whether there is one, what it can show, and what still waits in its input."""

import os
import sys
import termios
from contextlib import suppress
from functools import cached_property
from typing import TextIO

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output

from askback.client.person import Mode
from askback.client.terminal.layout import Row
from askback.errors import Unanswered
from askback.model.cells import wrap

ASCII = str.maketrans("│┌└─•…·↑↓“”", '|++-*~.^v""')
"""For terminals whose encoding has no such signs; each is one cell wide in both spellings."""

USUAL_COLUMNS = 80
"""The width of a window that does not say how wide it is."""

HANG = "  "
"""Before the later lines of a sentence, so that it is seen where one begins."""


class Tty:
    """A pair of streams. Looked up when it is used, not when it is made: a program may set its streams up later."""

    def __init__(self, reading: TextIO | None = None, writing: TextIO | None = None) -> None:
        self._reading, self._writing = reading, writing

    @property
    def reading(self) -> TextIO:
        return self._reading or sys.stdin

    @property
    def writing(self) -> TextIO:
        return self._writing or sys.stdout

    @property
    def is_terminal(self) -> bool:
        """Both ways: a person who cannot see the question, or cannot answer it, is not asked."""
        return _is_terminal(self.reading) and _is_terminal(self.writing)

    @property
    def modes(self) -> frozenset[Mode]:
        """What a person here can be shown: all of it, or nothing."""
        return frozenset({"form", "url"}) if self.is_terminal else frozenset()

    def require(self) -> None:
        """Raise where nobody can be asked. Callers that look at `modes` first never get this error."""
        if not self.is_terminal:
            raise Unanswered(
                "A question came, and there is no terminal to show it on: standard input or output leads elsewhere. "
                "Run this in a terminal, answer on the desk, or write a policy."
            )

    @property
    def is_dumb(self) -> bool:
        """Whether the terminal cannot move its cursor."""
        return os.environ.get("TERM", "dumb") in {"", "dumb", "unknown"}

    @cached_property
    def input(self) -> Input:
        return create_input(self.reading)

    @cached_property
    def output(self) -> Output:
        output = create_output(self.writing)
        if isinstance(output, Vt100_Output):
            output.enable_cpr = False  # a terminal that does not answer would be waited for
        return output

    def tell(self, sentence: str, *, before: str = "", hang: str = HANG) -> None:
        """A sentence on the ordinary screen, broken between words where the window is narrow."""
        room = self.columns - 1  # a line that fills its row is followed by an empty one on some terminals
        self.say(*wrap(sentence, room, before=before, hang=hang))

    @property
    def columns(self) -> int:
        """The width of the window, now."""
        try:
            return os.get_terminal_size(self.writing.fileno()).columns or USUAL_COLUMNS
        except (OSError, ValueError):  # closed by now
            return USUAL_COLUMNS

    def say(self, *lines: str) -> None:
        """Lines on the ordinary screen, where they stay."""
        self.write("".join(f"{line}\n" for line in lines))

    def write(self, text: str) -> None:
        """Text on the ordinary screen; what its encoding lacks becomes a question mark."""
        encoding = self.writing.encoding or "ascii"
        with suppress(OSError):  # the terminal was closed
            self.writing.write(text.encode(encoding, "replace").decode(encoding))
            self.writing.flush()

    def forget_pending(self) -> None:
        """Throw away what was typed before a question was drawn: it was not meant for it."""
        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(self.reading.fileno(), termios.TCIFLUSH)

    def spell(self, row: Row) -> Row:
        """The row in signs that this terminal has."""
        if (self.writing.encoding or "ascii").lower().replace("-", "").startswith("utf"):
            return row
        return [(style, text.translate(ASCII)) for style, text in row]


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
