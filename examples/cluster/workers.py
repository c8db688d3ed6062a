"""Three workers of the bank, each in a process of its own, that can be killed and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep

from scripts.services import free_port
from scripts.services.service import A_MOMENT, SECONDS_TO_START, listens


class Worker:
    """One uvicorn on a port of its own, which it keeps when it is started again."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.port = free_port()
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Back at once; see `wait`."""
        command = [sys.executable, "-m", "uvicorn", "--factory", "examples.cluster.server:make_app"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self.port), "--log-level", "error", "--no-access-log"],
            env=os.environ | self._settings,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait(self) -> None:
        """Until it listens."""
        deadline = monotonic() + SECONDS_TO_START
        while not listens(self.port):
            if self._process is None or self._process.poll() is not None or monotonic() > deadline:
                raise SystemExit(f"A worker did not start on port {self.port}; what it said is above.")
            sleep(A_MOMENT)

    def kill(self) -> None:
        """As a machine that loses its power would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def workers(count: int, settings: Mapping[str, str]) -> Generator[list[Worker]]:
    """So many of them for the length of the block."""
    them = [Worker(settings) for _ in range(count)]
    try:
        for worker in them:
            worker.start()
        for worker in them:
            worker.wait()
        yield them
    finally:
        for worker in them:
            worker.kill()
