"""The thread of a SQLite store: it owns the connection and does one job after another.

A job that has to wait is tried again when a job of this process on the same topic is done, and at intervals in case
another process did something. The thread does not keep the process alive, and does not know the store that started it.
"""

import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast
from weakref import WeakSet

import anyio
import anyio.lowlevel

from askback.stores.sqlite.claims import Claims, Pending
from askback.stores.sqlite.expiry import delete_expired
from askback.stores.sqlite.file import File

logger = logging.getLogger("askback")

T = TypeVar("T")

Topic = tuple[str, str]
"""What jobs have in common that may wait for each other: a verb and a key."""

MIN_PAUSE = 0.005
MAX_PAUSE = 0.1
"""Seconds between two looks at what another process may have done; each takes some ten microseconds."""

BATCH_SIZE = 64
"""Expired rows of each table that are deleted between two jobs: under a millisecond."""

EXPIRY_INTERVAL = 1.0
"""Seconds between two looks for expired rows, when the last one found few."""

FORK_TIMEOUT = 10.0
"""Seconds that a fork waits for one worker: longer than any lock of another process keeps it."""


def do_nothing(_claims: Claims) -> None:
    """For a job with nothing to undo."""


class Job(Generic[T]):
    """Work for the thread, and the event loop that gets the outcome."""

    def __init__(
        self,
        work: Callable[[Claims], T | Pending],
        *,
        topic: Topic | None = None,
        undo: Callable[[Claims], None] = do_nothing,
    ) -> None:
        self.work, self.topic = work, topic
        self.undo = undo
        """What to do if the caller has gone and cannot take the outcome."""
        self.is_withdrawn = False
        """The caller has gone before the job was done."""
        self.done = anyio.Event()
        self._call_soon = _find_call_soon()
        self._value: T | None = None
        self._error: Exception | None = None

    def answer(self, value: T | None, error: Exception | None = None) -> bool:
        """From the thread; False if the caller's loop is closed."""
        self._value, self._error = value, error
        try:
            self._call_soon(self.done.set)
        except RuntimeError:
            return False
        return True

    def result(self) -> T:
        """What the work gave, once it is done; or raise what it raised."""
        if self._error is not None:
            raise self._error
        return cast("T", self._value)


class Waiting:
    """Jobs that wait on one topic, and when to look again."""

    def __init__(self) -> None:
        self.jobs: deque[Job[Any]] = deque()
        self._pause = MIN_PAUSE
        self.due = time.monotonic() + MIN_PAUSE

    def put_off(self) -> None:
        self._pause = min(self._pause * 2, MAX_PAUSE)
        self.due = time.monotonic() + self._pause


class Worker:
    """Started at once; `end` ends it when all jobs that were put before are done."""

    def __init__(self, file: File, *, clock: Callable[[], float], lease: float) -> None:
        self.is_inherited = False
        """The thread is in the process that this one was forked off."""
        self.at_work = threading.Lock()
        """Held by the thread while it uses the file."""
        self._file, self._clock = file, clock
        self._claims = Claims(file, lease=lease)
        self._renewal_interval = lease / 3
        self._renew_at = self._expire_at = 0.0
        self._queue: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._waiting: dict[Topic, Waiting] = {}
        self._is_over = False
        patch_fork()
        _WORKERS.add(self)
        self._thread = threading.Thread(target=self._run, name="askback store", daemon=True)
        self._thread.start()

    def put(self, job: Job[Any]) -> None:
        self._queue.put(job)

    def withdraw(self, job: Job[Any]) -> None:
        """Its caller has gone, perhaps with its event loop: do not begin it, and undo it if it is done."""
        job.is_withdrawn = True
        self._queue.put(job)

    def end(self) -> None:
        self._queue.put(None)

    def join(self) -> None:
        self._thread.join()

    # From here all is done in the thread.

    def _close(self) -> None:
        """Let go of the file, and fail all jobs that wait."""
        error = self._file.unavailable("it was closed while somebody waited", "Close it after the last call.")
        for waiting in self._waiting.values():
            for job in waiting.jobs:
                job.answer(None, error)
        self._file.drop()

    def _run(self) -> None:
        while not self._is_over:
            self._step()
        with self.at_work:
            self._close()

    def _step(self) -> None:
        try:
            job = self._queue.get(timeout=self._seconds_until_due())
            self._is_over = job is None
        except Empty:
            job = None
        with self.at_work:
            self._renew_leases()
            if job is not None:
                self._serve(job)
            self._look_again()
            self._delete_expired()

    def _seconds_until_due(self) -> float | None:
        due = [waiting.due for waiting in self._waiting.values()]
        if self._claims.held:
            due.append(self._renew_at)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _serve(self, job: Job[Any]) -> None:
        if job.is_withdrawn:
            self._do_quietly(job.undo)
        elif not self._try(job):
            self._waiting.setdefault(cast("Topic", job.topic), Waiting()).jobs.append(job)
            return
        if job.topic is not None:
            self._retry(job.topic)

    def _try(self, job: Job[Any]) -> bool:
        """False if it has to wait."""
        try:
            self._file.open()
            value = job.work(self._claims)
        except Exception as error:  # noqa: BLE001 - the caller gets it
            self._file.drop()
            job.answer(None, self._explain(error))
            return True
        if isinstance(value, Pending):
            return False
        if not job.answer(value):
            self._do_quietly(job.undo)
        return True

    def _retry(self, topic: Topic) -> None:
        """Try those who wait on it in turn. If one still has to wait, so do all behind it."""
        waiting = self._waiting.get(topic)
        if waiting is None:
            return
        waiting.jobs = deque(job for job in waiting.jobs if not job.is_withdrawn)
        while waiting.jobs and self._try(waiting.jobs[0]):
            waiting.jobs.popleft()
        if not waiting.jobs:
            del self._waiting[topic]

    def _look_again(self) -> None:
        now = time.monotonic()
        for topic, waiting in list(self._waiting.items()):
            if waiting.due <= now:
                waiting.put_off()
                self._retry(topic)

    def _renew_leases(self) -> None:
        now = time.monotonic()
        if self._claims.held and now >= self._renew_at:
            self._do_quietly(Claims.renew)
        if not self._claims.held or now >= self._renew_at:
            self._renew_at = now + self._renewal_interval

    def _delete_expired(self) -> None:
        if self._file.is_open and time.monotonic() >= self._expire_at:
            self._expire_at = time.monotonic() + EXPIRY_INTERVAL
            self._do_quietly(self._delete_batch)

    def _delete_batch(self, claims: Claims) -> None:
        if delete_expired(claims.file, self._clock(), BATCH_SIZE) >= BATCH_SIZE:
            self._expire_at = 0.0

    def _do_quietly(self, work: Callable[[Claims], None]) -> None:
        """Nobody waits for this; if it fails, the log says so."""
        try:
            self._file.open()
            work(self._claims)
        except Exception as error:
            self._file.drop()
            logger.warning("%s", self._explain(error), exc_info=error)

    def _explain(self, error: Exception) -> Exception:
        if not isinstance(error, (sqlite3.Error, OSError)):
            return error
        explained = self._file.explain(error)
        explained.__cause__ = error
        return explained


def _find_call_soon() -> Callable[[Callable[[], None]], object]:
    """How another thread has something called on the running event loop."""
    token: Any = anyio.lowlevel.current_token()
    loop = getattr(token, "native_token", token)
    return getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon


_WORKERS: WeakSet[Worker] = WeakSet()
_PAUSED: list[Worker] = []


@lru_cache(maxsize=1)
def patch_fork() -> None:
    """Let a process fork only while its workers rest. SQLite's own locks are copied as they are, so one that a thread
    held would stay locked in the child for ever."""
    if hasattr(os, "register_at_fork"):  # Windows knows no fork
        os.register_at_fork(before=_pause_all, after_in_parent=_resume_all, after_in_child=_resume_in_child)


def _pause_all() -> None:
    _PAUSED[:] = [worker for worker in tuple(_WORKERS) if worker.at_work.acquire(timeout=FORK_TIMEOUT)]


def _resume_all() -> None:
    for worker in _PAUSED:
        worker.at_work.release()
    _PAUSED.clear()


def _resume_in_child() -> None:
    for worker in tuple(_WORKERS):
        worker.is_inherited = True
    _resume_all()
