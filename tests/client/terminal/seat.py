"""A person's seat at a terminal: tests put a question there, act as the person, and read the answer."""

import json
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.terminal_emulator import PATIENCE, Emulator


class Seat:
    """One program that shows one question after another; starting it costs more than any question."""

    def __init__(self, *flags: str, environment: Mapping[str, str] | None = None) -> None:
        self.is_plain = "plain" in flags
        self._home = tempfile.TemporaryDirectory(prefix="askback-")
        path = str(Path(self._home.name) / "orders")
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(path)
            door.listen()
            door.settimeout(PATIENCE)
            command = [sys.executable, "-m", "tests.client.terminal.runner", path, *flags]
            self.terminal = Emulator(command, environment=environment)
            self._line, _ = door.accept()
        self._line.settimeout(0.05)
        self._heard = b""
        self._open_questions = 1
        self.modes: list[str] = self.answer()["modes"]

    @property
    def is_free(self) -> bool:
        """Whether everything that was asked has been answered."""
        return self._open_questions == 0

    def order(self, do: str, **order: Any) -> Emulator:
        """Tell the program what to do; what was on the screen before does not count."""
        self.terminal.read()
        self.terminal.bytes = b""
        self._open_questions += 1
        self.tell(do, **order)
        return self.terminal

    def tell(self, do: str, **order: Any) -> None:
        self._line.settimeout(PATIENCE)
        self._line.sendall(json.dumps({"do": do, **order}).encode() + b"\n")
        self._line.settimeout(0.05)

    def form(self, *shown: str, **order: Any) -> Emulator:
        """Ask a form, and wait until it is seen to its last row."""
        return self._ask("form", shown, order)

    def visit(self, *shown: str, **order: Any) -> Emulator:
        """The same with a link."""
        return self._ask("visit", shown, order)

    def _ask(self, do: str, shown: tuple[str, ...], order: dict[str, Any]) -> Emulator:
        terminal = self.order(do, **order)
        terminal.until("Decline", "Cancel", *shown)
        terminal.until_that(lambda: terminal.text.rstrip().endswith(("]", "<")), "all buttons")
        return terminal

    def begin(self, do: str = "form", **order: Any) -> None:
        """Ask line by line, and wait for the first prompt."""
        terminal = self.order(do, **order)
        terminal.until_that(lambda: terminal.bytes.endswith(b"\n> "), "a prompt")

    def say(self, line: str, *then: str) -> str:
        """Answer a prompt; gives what was written after it, up to the next prompt, which has all of `then` in it."""
        terminal, seen = self.terminal, len(self.terminal.bytes)
        terminal.type(f"{line}\n")

        def written() -> str:
            return terminal.bytes[seen:].decode("utf-8", "replace")

        terminal.until_that(
            lambda: written().endswith("\n> ") and all(one in written() for one in then),
            f"{then} and a prompt",
        )
        return written()

    def answer(self) -> dict[str, Any]:
        """What the program says; the screen is read meanwhile, or the program would wait for it."""

        def has_answered() -> bool:
            try:
                self._heard += self._line.recv(1 << 16)
            except TimeoutError:
                return b"\n" in self._heard
            return b"\n" in self._heard

        self.terminal.until_that(has_answered, "an answer")
        line, _, self._heard = self._heard.partition(b"\n")
        self._open_questions -= 1
        self.terminal.read()
        return json.loads(line)

    def close(self) -> None:
        self._line.close()
        self.terminal.close()
        self._home.cleanup()
