"""Worker processes that parse what may take long: each is killed at its time limit, and another takes its place."""

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Timer
from typing import Any

MAX_WORKERS = 2
"""Processes. A statement that takes too long holds one of them until its time limit."""

READ_TIMEOUT = 0.4
"""Seconds for one statement that a question can show: it is then read once more, with a limit."""

LONG_LENGTH, LONG_READ_TIMEOUT = 10_000, 0.8
"""Characters from which a statement is too long to be shown, and seconds for such a one."""

START_TIMEOUT = 15.0
"""Seconds until a worker is ready, on a busy machine."""

WAIT_TIMEOUT = 5.0
"""Seconds to wait for a worker that is free."""

SCRIPT = Path(__file__).with_name("worker.py")

CRASHES = {1, -signal.SIGABRT, -signal.SIGSEGV}
"""How Python ends with an error, and how it ends where it runs out of memory and cannot raise `MemoryError`."""


BUSY = "too much is being read at once"


class WorkerFailed(Exception):
    """No answer: the statement takes too long or too much memory, or the process has died. Says which, in words."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final
        """Whether a second attempt would end like the first."""


class WorkerProcess:
    """One process and its pipes. Used by one thread at a time."""

    def __init__(self) -> None:
        self.catalogue = ""
        """Key of the catalogue that it was given last."""
        self._is_late = False
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError) as error:
            raise WorkerFailed("it cannot be read now") from error
        self.ask([os.path.abspath(path) for path in sys.path], START_TIMEOUT)

    def ask(self, request: object, timeout: float) -> Any:
        """The answer to one request. After `WorkerFailed` the process has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        timer = Timer(timeout, self._give_up)
        timer.daemon = True
        timer.start()
        line = b""
        try:
            with suppress(OSError):
                stdin.write(json.dumps(request).encode() + b"\n")
                stdin.flush()
                line = stdout.readline()
        finally:
            timer.cancel()
        if line.endswith(b"\n"):
            return json.loads(line)
        self.end()
        if self._is_late:
            raise WorkerFailed("it takes too long to read", is_final=True)
        if self._process.returncode in CRASHES:
            raise WorkerFailed("it cannot be read", is_final=True)
        raise WorkerFailed("it cannot be read now")

    def _give_up(self) -> None:
        self._is_late = True
        self._process.kill()

    def end(self) -> None:
        """Kill the process and close its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # there may be something left to be written
                    pipe.close()


class WorkerPool:
    """A few workers, each started when the others are busy. The one used last is used next, and so stays warm."""

    def __init__(self) -> None:
        self._workers = _make_slots()

    def read(self, statement: str, key: str, catalogue: Mapping[str, Any]) -> Any:
        """Columns, writes and doubts of a statement. Blocks for some seconds at most. Raises `WorkerFailed`.

        The catalogue goes along where the worker had another one, or none, before.
        """
        try:
            worker = self._workers.get(timeout=WAIT_TIMEOUT)
        except Empty:
            raise WorkerFailed(BUSY) from None
        ready = None
        try:
            worker = worker or WorkerProcess()
            request = {"statement": statement, "catalogue": None if worker.catalogue == key else catalogue}
            timeout = READ_TIMEOUT if len(statement) <= LONG_LENGTH else LONG_READ_TIMEOUT
            answer = worker.ask(request, timeout)
            worker.catalogue, ready = key, worker
            return answer
        finally:
            self._workers.put(ready)

    def close(self) -> None:
        """End the workers that are idle."""
        workers, self._workers = self._workers, _make_slots()
        with suppress(Empty):
            while True:
                worker = workers.get_nowait()
                if worker is not None:
                    worker.end()

    def forget(self) -> None:
        """In a forked process, leave the workers to the parent, which goes on using its own ends of the pipes."""
        self._of_parent, self._workers = (
            self._workers,
            _make_slots(),
        )  # collected, they would warn that they run


def _make_slots() -> LifoQueue[WorkerProcess | None]:
    """Room for workers; None for one that is not started."""
    slots: LifoQueue[WorkerProcess | None] = LifoQueue()
    for _ in range(MAX_WORKERS):
        slots.put(None)
    return slots


POOL = WorkerPool()
"""The workers of this process. None is started before it is needed."""

atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
