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
from threading import BoundedSemaphore, Lock, Timer
from typing import Any

from askback.guards.sql.worker import MAX_CATALOGUES

MAX_WORKERS = 2
"""Processes. A statement that takes too long holds one of them until its time limit."""

TIME_LIMIT = 0.4
"""Seconds for one statement that a question can show: it is then read once more, with a limit."""

LONG, LONG_TIME_LIMIT = 10_000, 0.8
"""Characters from which a statement is too long to be shown, and seconds for such a one."""

START_TIMEOUT = 15.0
"""Seconds until a worker is ready, on a machine that has much else to do."""

WAIT_TIMEOUT = 5.0
"""Seconds for a worker to be free."""

BOOT = Path(__file__).with_name("boot.py")


class WorkerFailed(Exception):
    """No answer: the statement takes too long or too much memory, or the process has died. Tells which, in words."""

    def __init__(self, reason: str, *, is_final: bool) -> None:
        super().__init__(reason)
        self.is_final = is_final
        """Whether a second attempt would end like the first."""


TOO_LONG = "it takes too long to read"
TOO_LARGE = "it takes too much memory to read"
BUSY = "too much is being read at once"
CRASHED = "it cannot be read"
DIED = "it cannot be read now"

CRASHES = {-signal.SIGABRT, -signal.SIGSEGV}
"""How Python ends where it runs out of memory and cannot raise `MemoryError`."""


class WorkerProcess:
    """One process and its pipes. Used by one thread at a time."""

    def __init__(self) -> None:
        self.catalogues: set[str] = set()
        """Those that it has been given."""
        self._requests = 0
        self._is_late = False
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(BOOT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError) as error:
            raise WorkerFailed(DIED, is_final=False) from error
        self._exchange([os.path.abspath(path) for path in sys.path], START_TIMEOUT)

    def ask(self, request: Mapping[str, Any], timeout: float) -> Any:
        """The answer to one request. After `WorkerFailed` the process has ended."""
        self._requests += 1
        line = self._exchange({**request, "id": self._requests}, timeout)
        reply = json.loads(line)
        if reply["id"] != self._requests or reply["answer"] is None:
            self.end()
            raise WorkerFailed(TOO_LARGE, is_final=True)
        return reply["answer"]

    def _exchange(self, message: object, timeout: float) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        timer = Timer(timeout, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
            line = stdout.readline()
        except OSError:
            line = b""
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            self.end()
            raise self._failure()
        return line

    def _failure(self) -> WorkerFailed:
        if self._is_late:
            return WorkerFailed(TOO_LONG, is_final=True)
        if self._process.returncode in CRASHES:
            return WorkerFailed(CRASHED, is_final=True)
        return WorkerFailed(DIED, is_final=False)

    def _give_up(self) -> None:
        self._is_late = True
        self._process.kill()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._close()

    def disown(self) -> None:
        """In a forked process: the worker is the parent's, which goes on using its own ends of the pipes."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # there may be something left to be written
                    pipe.close()


class ReaderPool:
    """A few workers, each started when the others are busy. The one used last is used next, and so stays warm."""

    def __init__(self) -> None:
        self._idle: list[WorkerProcess] = []
        self._lock = Lock()
        self._free = BoundedSemaphore(MAX_WORKERS)

    def read(self, statement: str, key: str, catalogue: Mapping[str, Any]) -> Any:
        """Columns, writes and doubts of a statement. Blocks for some seconds at most. Raises `WorkerFailed`.

        The catalogue goes along once for each worker and key.
        """
        if not self._free.acquire(timeout=WAIT_TIMEOUT):
            raise WorkerFailed(BUSY, is_final=False)
        try:
            worker = self._take()
            is_known = key in worker.catalogues
            if len(worker.catalogues) >= MAX_CATALOGUES and not is_known:
                worker.catalogues.clear()
            worker.catalogues.add(key)
            given = None if is_known else catalogue
            timeout = TIME_LIMIT if len(statement) <= LONG else LONG_TIME_LIMIT
            answer = worker.ask({"statement": statement, "key": key, "catalogue": given}, timeout)
            with self._lock:
                self._idle.append(worker)
            return answer
        finally:
            self._free.release()

    def _take(self) -> WorkerProcess:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return WorkerProcess()

    def close(self) -> None:
        """End the workers that are idle."""
        with self._lock:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.end()

    def forget(self) -> None:
        """In a forked process, which must not use the workers of its parent."""
        for worker in self._idle:
            worker.disown()
        self.__init__()


POOL = ReaderPool()
"""Of this process. No worker is started before it is needed."""

atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
