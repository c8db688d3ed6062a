"""The terminal itself: whether there is one, what it can show, and what still waits in its input.

Where nothing moves, lines are read and written in it: who asks and why, the server's words, and the commands.
"""

import codecs
import os
import sys
import termios
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, TextIO

import anyio
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output

from askback.answers import Answer, Cancelled, Declined
from askback.client import labels
from askback.client.person import Mode, Turn
from askback.client.terminal.layout import Row
from askback.errors import Unanswered
from askback.model import safe
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
        # A line that fills its row is followed by an empty one on some terminals.
        self.say(*wrap(sentence, self.columns - 1, before=before, hang=hang))

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


OFFER_DECLINE_ALL_AT = 3
"""From this question of one call on, a person is offered to decline all the rest."""

INTERRUPT = b"\x03"
PROMPT = "> "
MAX_LINE_BYTES = 4095
"""Bytes that a terminal in its ordinary mode takes in one line; what is typed beyond them is thrown away unseen."""

TOO_LONG = (
    "That line was too long for this terminal, which keeps {most} characters of it; none of it was taken. "
    "Type !lines for a text of several lines, or answer without --plain."
)
SETTLE_SECONDS = 0.1
"""Between two fields: the rest of a paste has arrived by then and is not taken for the next answer."""


class Decided(Exception):
    """The person has decided. Ctrl-C and the end of the input cancel."""

    def __init__(self, answer: Answer[Any]) -> None:
        super().__init__(answer)
        self.answer = answer


class LineReader:
    """Reads what is typed after its prompt. What was typed before it is forgotten: it was not meant for it."""

    def __init__(self, tty: Tty) -> None:
        self._tty = tty

    @contextmanager
    def take_terminal(self) -> Generator[None]:
        """While a question is asked, Ctrl-C ends the line instead of the program."""
        descriptor = self._tty.reading.fileno()
        before = termios.tcgetattr(descriptor)
        during = termios.tcgetattr(descriptor)
        during[6][termios.VINTR] = b"\x00"
        during[6][termios.VEOL] = INTERRUPT
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, during)
        try:
            yield
        finally:
            with suppress(termios.error):  # the terminal may have gone away by then
                termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    async def read(self, *, quiet: float = SETTLE_SECONDS) -> str:
        """The next line without its end. The prompt comes after a quiet moment; what comes earlier does not count."""
        while len(line := await self._line(quiet)) >= MAX_LINE_BYTES:
            self._tty.say(TOO_LONG.format(most=MAX_LINE_BYTES))
        return codecs.decode(line, self._tty.reading.encoding or "utf-8", "replace").rstrip("\r")

    async def _line(self, quiet: float) -> bytes:
        await anyio.sleep(quiet)
        self._tty.forget_pending()
        self._tty.write(PROMPT)
        pending, descriptor = b"", self._tty.reading.fileno()
        while b"\n" not in pending:
            await anyio.wait_readable(descriptor)
            try:
                chunk = os.read(descriptor, 65_536)
            except OSError as error:
                raise Decided(Cancelled()) from error
            if not chunk or INTERRUPT in chunk:
                self._tty.say("")
                raise Decided(Cancelled())
            pending += chunk
        return pending.partition(b"\n")[0]


HELP = "?"
BACK = "<"
COMMANDS = {
    HELP: "says this again",
    BACK: "goes back one field",
    "!decline": "says no; the server learns that you said no",
    "!cancel": "puts the question away without an answer; Ctrl-C does the same",
}
HUNG = "     | "
"""Before the later lines of words of the server: deeper than any line of ours begins, and behind a bar."""
DEEP = " " * 9
"""Before the later lines of a sentence of ours that holds a label of the server; without a bar: it is no quotation."""
ALL = "!decline all"
ALL_MEANS = "says no to this and to all that this server asks from now on"


class PlainDialog:
    """Speaks and listens for one turn."""

    def __init__(self, turn: Turn, tty: Tty, lines: LineReader, *, quiet: float) -> None:
        self.turn, self._tty, self._lines, self._quiet = turn, tty, lines, quiet

    def say(self, *lines: str) -> None:
        """Our own words."""
        for line in lines:
            self._tty.tell(line)

    def tell(self, before: str, words: str) -> None:
        """Words of the server after a beginning of ours: what is too long for a line goes on behind a bar."""
        self._tty.tell(words, before=before, hang=HUNG)

    def mention(self, before: str, sentence: str) -> None:
        """Our own words with a label or an option of the server among them."""
        self._tty.tell(sentence, before=before, hang=DEEP)

    def quote(self, lines: Iterable[str], *, indent: str = "") -> None:
        """What the server writes: every line behind a bar, and further in what only goes on from the line before."""
        bar = f"{indent}| "
        for line in lines:
            self._tty.tell(line, before=bar, hang=f"{bar}  ")

    def warn(self, *lines: str) -> None:
        for line in lines:
            self.mention("Warning: ", line)

    def introduce(self) -> None:
        asked = self.turn.asked
        self.say("", f"{labels.who_asks(asked.asker)} asks. {labels.position_line(self.turn)}.")
        self.tell("", labels.purpose_line(asked))
        self.say(f"Words of {safe.safe_line(asked.asker.label)}, each line behind a bar:")
        self.quote(safe.safe_block(asked.message))

    def offer_all(self) -> None:
        """From the third question on, the way out of all of them is named unasked."""
        if self.turn.number >= OFFER_DECLINE_ALL_AT:
            self.say(f"{ALL} {ALL_MEANS}.")

    def help(self) -> None:
        self.say(*(f"{command} {meaning}." for command, meaning in COMMANDS.items()))
        self.offer_all()

    async def read(self, *, decides: bool = False) -> str:
        """A line that is not one of the ways to say no. Where it can decide, the prompt waits a little longer."""
        line = await self._lines.read(quiet=self._quiet if decides else min(self._quiet, SETTLE_SECONDS))
        match line.strip().casefold():
            case "!decline":
                raise Decided(Declined())
            case "!cancel":
                raise Decided(Cancelled())
            case "!decline all" if self.turn.number >= OFFER_DECLINE_ALL_AT:
                self.turn.declines_all = True
                raise Decided(Declined())
            case _:
                return line
