"""The `askback` command as tests run it: in this process without a terminal, or in a terminal of its own."""

import json
import shlex
import signal
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from askback.cli import main
from tests.support.terminal_emulator import Emulator

KITCHEN = str(Path(__file__).parent / "kitchen.py")


def answering(results: dict[str, Any]) -> str:
    """A TARGET that starts at once and answers with these results; what has None it never answers."""
    return shlex.join([str(Path(__file__).parent / "answers.py"), json.dumps(results)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    errors: str

    @property
    def json(self) -> dict[str, Any]:
        assert self.out.count("\n") == 1, f"One JSON object, and not: {self.out}"
        return json.loads(self.out)


class Shell:
    """Runs commands where no terminal is; the home is empty and the folder the test's own."""

    def __init__(self, capsys: pytest.CaptureFixture[str], kitchen: str) -> None:
        self._capsys = capsys
        self._kitchen = kitchen

    def run(self, *words: str) -> Ended:
        try:
            code = main(words)
        except SystemExit as end:  # argparse
            code = int(str(end.code))
        out, errors = self._capsys.readouterr()
        return Ended(code=code, out=out, errors=errors)

    def call(self, *words: str) -> Ended:
        """The kitchen that runs all along, which is quicker than to start one."""
        return self.run("call", self._kitchen, "--label", "kitchen", *words)


HEARING = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from askback.cli import main
sys.exit(main())
"""
"""An emulator starts programs as `nohup` does; this undoes it."""


class Screen(Emulator):
    """`askback` in a terminal."""

    def __init__(
        self, *words: str, columns: int = 80, out: Path | None = None, hears_hang_up: bool = False
    ) -> None:
        start = ["-c", HEARING] if hears_hang_up else ["-m", "askback.cli"]
        command = [sys.executable, *start, *words]
        elsewhere = ["sh", "-c", f"exec {shlex.join(command)} > {shlex.quote(str(out))}"]
        super().__init__(command if out is None else elsewhere, columns=columns)

    def send(self) -> None:
        """Review and send what stands there."""
        self.press("review")
        self.ready("> Send <")
        self.press("enter")

    @property
    def modes(self) -> list[Any]:
        """How the terminal is set up: what a program changes it has to put back."""
        return termios.tcgetattr(self._child.child_fd)

    def signal(self, number: signal.Signals) -> None:
        self._child.kill(number)

    def ended(self) -> int:
        """Its exit code, once it has ended; what it wrote last is on the screen."""
        self.until_that(lambda: not self._child.isalive(), "the end")
        self.read()
        assert self._child.exitstatus is not None, f"killed by {self._child.signalstatus}"
        return self._child.exitstatus


Open = Callable[..., Screen]
"""As the fixture `screen` gives it: makes a `Screen`, and closes it however the test ends."""
