"""A real pseudo terminal with an emulator on it: what a person would see, and every byte that was sent to show it."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import pexpect
import pyte

from tests.support.paths import ROOT

LULL = 0.03
"""Seconds between two pieces of one screen; far more than a program takes to write on."""

PATIENCE = 20.0
"""Seconds until something that should be on the screen counts as missing; generous, for busy machines."""

KEYS = {
    "tab": "\t",
    "back": "\x1b[Z",
    "enter": "\r",
    "escape": "\x1b",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "page up": "\x1b[5~",
    "page down": "\x1b[6~",
    "backspace": "\x7f",
    "space": " ",
    "new line": "\x0e",
    "cancel": "\x03",
    "decline": "\x04",
    "open": "\x0f",
    "review": "\x12",
    "decline all": "\x18",
}


class Emulator:
    """A program in a terminal. Every wait is bounded, and a wait in vain shows the screen."""

    def __init__(
        self,
        command: list[str],
        *,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self._has_hung_up = False
        inherited = {
            name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}
        }
        self._child: pexpect.spawn[bytes] = pexpect.spawn(
            command[0],
            command[1:],
            env={**inherited, "TERM": "xterm-256color", **(environment or {})},
            cwd=str(ROOT),
            dimensions=(rows, columns),
            timeout=PATIENCE,
            ignore_sighup=True,
        )
        self._child.delaybeforesend = None

    @property
    def lines(self) -> list[str]:
        """The screen, without the blanks at the ends."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._child.setwinsize(rows, columns)  # pyright: ignore[reportUnknownMemberType] not typed there

    def type(self, text: str) -> None:
        self._child.send(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.type(KEYS[key])

    def paste(self, text: str) -> None:
        """As a terminal does it: between brackets that say where the paste begins and ends."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def until(self, *wanted: str) -> str:
        """The screen, once it shows all of these and has been drawn to its end."""
        self.until_that(lambda: all(one in self.text for one in wanted), f"{wanted} on the screen")
        return self.until_still(LULL)

    def until_still(self, seconds: float) -> str:
        """The screen, once nothing more came for so long: a terminal hands on what is drawn in pieces."""
        end, seen = time.monotonic() + PATIENCE, -1
        while seen != len(self.bytes):
            assert time.monotonic() < end, f"The screen never came to rest:\n{self.text}"
            seen = len(self.bytes)
            self.read(seconds)
        return self.text

    def until_gone(self, unwanted: str) -> str:
        return self.until_that(lambda: unwanted not in self.text, f"no {unwanted!r} on the screen")

    def until_that(self, is_so: Callable[[], bool], what: str) -> str:
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, f"Waited in vain for {what}:\n{self.text}"
            self.read(0.05)
        return self.text

    def ready(self, *wanted: str) -> None:
        """Until the question is there and keys count."""
        # The buttons are drawn last: a screen without them may be half of one, and not yet say that keys must wait.
        self.until(*wanted, "Cancel")
        self.until_gone("A moment")

    def read(self, seconds: float = 0.0) -> None:
        """Take in what has been written so far, or within this time."""
        if self._has_hung_up:
            return
        try:
            chunk = self._child.read_nonblocking(1 << 16, timeout=seconds)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            return
        self.bytes += chunk
        self._stream.feed(chunk)

    def style_of(self, text: str) -> pyte.screens.Char:
        """How the first letter of this text is drawn."""
        row = next(row for row, line in enumerate(self.screen.display) if text in line)
        return self.screen.buffer[row][self.screen.display[row].index(text)]

    def hang_up(self) -> None:
        """The window is closed; the program lives on."""
        self._has_hung_up = True
        process: Any = self._child  # its types leave this out
        process.ptyproc.fileobj.close()

    def close(self) -> None:
        self._child.close(force=True)
