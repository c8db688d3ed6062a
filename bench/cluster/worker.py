"""One worker: a process with the server under test. Killed and started again, it keeps its port."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep

from bench.cluster.forks import ForkServer
from scripts.services import CannotStart
from scripts.services.family import is_alive
from scripts.services.service import A_MOMENT, LOOPBACK, SECONDS_TO_START, listens


class CannotStop(Exception):
    """It was told to end, and went on."""


class Worker:
    def __init__(self, nest: ForkServer, port: int) -> None:
        self.port = port
        self.pid: int | None = None
        self._nest = nest

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Back when it listens."""
        self.pid = pid = self._nest.hatch(self.port)
        if not _within_bounds(lambda: listens(self.port) or not is_alive(pid)) or not is_alive(pid):
            said = self._nest.output.read_text(errors="replace")[-2000:]
            raise CannotStart(f"The worker on port {self.port} does not serve. The workers said:\n{said}")

    def kill(self) -> None:
        """At once and without a word."""
        if self.pid is not None:
            pid, self.pid = self.pid, None
            _send(pid, signal.SIGKILL)
            _within_bounds(lambda: not is_alive(pid))

    def stop(self) -> None:
        """In good order, as a deployment does; back when it has ended."""
        if self.pid is not None:
            pid, self.pid = self.pid, None
            _send(pid, signal.SIGTERM)
            if not _within_bounds(lambda: not is_alive(pid)):
                _send(pid, signal.SIGKILL)
                raise CannotStop(f"The worker on port {self.port} did not end on SIGTERM.")

    def pause(self) -> None:
        """It keeps its connections and does nothing."""
        if self.pid is not None:
            _send(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        if self.pid is not None:
            _send(self.pid, signal.SIGCONT)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _within_bounds(holds: Callable[[], bool]) -> bool:
    deadline = monotonic() + SECONDS_TO_START
    while not (held := holds()) and monotonic() < deadline:
        sleep(A_MOMENT)
    return held
