"""What all questions have in line mode: reading lines, who asks and why, the server's words, and the commands."""

import codecs
import os
import termios
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any

import anyio

from askback.answers import Answer, Cancelled, Declined
from askback.client import labels
from askback.client.person import Turn
from askback.client.terminal.question_screen import OFFER_DECLINE_ALL_AT
from askback.client.terminal.tty import Tty
from askback.model import safe

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
