"""A process and all beneath it: Postgres gives each of its processes a group of its own, so a group would not do."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")

SECONDS_TO_END = 10.0
A_MOMENT = 0.005


def family(pid: int) -> list[int]:
    """It and its descendants, it first. Those that have ended and only wait to be counted are not among them."""
    children: dict[int, list[int]] = {}
    alive: set[int] = set()
    for member, parent, state in processes():
        children.setdefault(parent, []).append(member)
        if not state.startswith("Z"):
            alive.add(member)
    found = [pid]
    for member in found:
        found.extend(children.get(member, ()))
    return [member for member in found if member in alive]


def send(pid: int, number: signal.Signals) -> None:
    """The parent first: what has been stopped makes no more children."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    for member in family(pid)[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, number)


def end(pid: int) -> None:
    """None of them is left when this returns; the parent itself is left to be waited for by whoever started it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    members = family(pid)
    for member in members:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    deadline = time.monotonic() + SECONDS_TO_END
    while any(map(is_alive, members)) and time.monotonic() < deadline:
        time.sleep(A_MOMENT)


def is_alive(pid: int) -> bool:
    return any(member == pid and not state.startswith("Z") for member, _parent, state in processes(pid))


def processes(*only: int) -> Iterator[tuple[int, int, str]]:
    """Id, parent and state of those, or of all on this machine."""
    if not PROC.is_dir():
        yield from _told_by_ps()
        return
    for pid in only or [int(entry) for entry in os.listdir(PROC) if entry.isdigit()]:
        with contextlib.suppress(OSError):
            # The name comes first, in brackets, and may hold anything.
            state, parent, *_ = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            yield pid, int(parent), state


def _told_by_ps() -> Iterator[tuple[int, int, str]]:
    told = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,state="], capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        pid, parent, state = line.split()
        yield int(pid), int(parent), state
