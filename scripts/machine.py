"""What a step of `make test` may do to this machine: run programs quietly, and as root install what is missing."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUILD = Path(__file__).resolve().parent.parent / ".build"

MINUTES_AT_MOST = 5
"""Per program; the whole suite has ten."""


class Missing(Exception):
    """What this machine lacks, and how to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A target of the Makefile by its name; what its programs say is kept in `home`."""

    name: str
    home: Path

    def say(self, text: str) -> None:
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def run(self, *command: str, cwd: Path | None = None) -> None:
        """Quiet, unless it fails."""
        words = " ".join(command[:2])
        output = self.home / "output.txt"
        try:
            with output.open("w") as file:
                subprocess.run(
                    command,
                    cwd=cwd or self.home,
                    env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=file,
                    timeout=60 * MINUTES_AT_MOST,
                    check=True,
                )
        except subprocess.TimeoutExpired:
            raise Missing(
                f"`{words}` did not end within {MINUTES_AT_MOST} minutes. Run `make {self.name}` again."
            ) from None
        except (subprocess.CalledProcessError, OSError) as error:
            self.say(output.read_text())
            raise Missing(
                f"`{words}` failed ({error.__class__.__name__}). Mend that and run `make {self.name}`."
            ) from None

    def attempt(self, work: Callable[["Step"], None]) -> int:
        """The exit code: 1 where something is missing, and how to get it was said."""
        self.home.mkdir(parents=True, exist_ok=True)
        try:
            work(self)
        except Missing as missing:
            self.say(f"{missing} Until then the tests that need it are left out.")
            return 1
        return 0

    def install(self, *packages: str, otherwise: str) -> None:
        """With Debian's package manager, where we may; else `otherwise` says what a person can do."""
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise Missing(otherwise)
        self.say(f"installing what is missing with apt-get: {', '.join(packages)}")
        self.run("apt-get", "update", "-q")
        self.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)


def run_in_front(command: Sequence[str], *, timeout: float | None = None, **options: Any) -> int:
    """Run a program to its end and give its exit code. SIGTERM and SIGHUP end it first, and then this process goes on.

    Ctrl-C reaches it by itself, since it shares our terminal.
    """
    with subprocess.Popen(command, **options) as child:
        handlers: dict[int, Callable[[int, object], None]] = {
            signal.SIGINT: lambda number, frame: None,
            signal.SIGTERM: lambda number, frame: child.terminate(),
            signal.SIGHUP: lambda number, frame: child.terminate(),
        }
        former = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            code = child.wait(timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
    return code if code >= 0 else 128 - code
