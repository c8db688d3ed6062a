"""Ends the services of a process that could not: one that was killed, or terminated in the middle of its work.

`watch(home)` comes before anything is started in that folder. A process of its own then holds the other end of a pipe;
the pipe ends with ours, however that comes about, and what still works in those folders is ended and removed. It
goes by the folders, so nothing can be started too early or too late to be known. This needs Linux's /proc; elsewhere a
service ends with the block that started it, and with no other.
"""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from scripts.services.family import PROC

ROOT = Path(__file__).resolve().parent.parent.parent

SECONDS_TO_END = 5.0
A_MOMENT = 0.02

_watchers: dict[int, subprocess.Popen[str]] = {}
"""By the process that is watched: a fork is not its parent."""


def watch(home: Path) -> None:
    """What works in this folder ends when this process does."""
    if not PROC.is_dir():
        return
    watcher = _watchers.get(os.getpid()) or _start()
    if watcher.stdin:
        watcher.stdin.write(f"{home}\n")
        watcher.stdin.flush()


def _start() -> subprocess.Popen[str]:
    watcher = _watchers[os.getpid()] = subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import main; main()"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # no signal to our group is for it
    )
    atexit.register(_leave, os.getpid())
    return watcher


def _leave(pid: int) -> None:
    if pid == os.getpid():
        _watchers.pop(pid).communicate()


def end_all_in(homes: Iterable[str]) -> None:
    """Redis, Postgres and nginx all end in good order at SIGINT; what does not is killed."""
    folders = tuple(homes)
    for number in (signal.SIGINT, signal.SIGKILL):
        _send(number, at_work_in(folders))
        deadline = time.monotonic() + SECONDS_TO_END
        while at_work_in(folders) and time.monotonic() < deadline:
            time.sleep(A_MOMENT)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            os.kill(pid, signal.SIGCONT)  # it may have been paused


def at_work_in(folders: tuple[str, ...]) -> list[int]:
    """The processes whose working folder is in one of these."""
    found: list[int] = []
    for entry in os.listdir(PROC):
        with suppress(OSError):  # over by now, or somebody else's
            if entry.isdigit() and os.readlink(PROC / entry / "cwd").startswith(folders):
                found.append(int(entry))
    return found


def main() -> None:
    """Reads folders until its input ends."""
    end_all_in(line.rstrip("\n") for line in sys.stdin)
