"""Lines from a terminal in its ordinary mode, one at a time, so that waiting for one can be given up."""

import codecs
import os
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress

import anyio

from askback.client.terminal.tty import Tty

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


class InputEnded(Exception):
    """Ctrl-C, or the end of the input."""


class LineReader:
    """Reads what is typed after its prompt. What was typed before it is forgotten: it was not meant for it."""

    def __init__(self, tty: Tty) -> None:
        self._tty = tty
        self._pending = b""

    @contextmanager
    def taken(self) -> Generator[None]:
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
        self._pending = b""
        self._tty.write(PROMPT)
        while b"\n" not in self._pending:
            await self._more()
        return self._pending.partition(b"\n")[0]

    async def _more(self) -> None:
        descriptor = self._tty.reading.fileno()
        await anyio.wait_readable(descriptor)
        try:
            chunk = os.read(descriptor, 65_536)
        except OSError as error:
            raise InputEnded from error
        if not chunk or INTERRUPT in chunk:
            self._tty.say("")
            raise InputEnded
        self._pending += chunk
