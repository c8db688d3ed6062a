"""One thread with one connection, which does what is asked of it one job after another.

A job that has to wait is parked: it is tried again as soon as a job of this process rings for it, and now and then in
case another process did. The thread does not keep the process alive, and knows nothing of the store that started it.

Most jobs never come here: where nobody is in the way they are done `at_once`, on the caller's own thread.
"""

import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast
from weakref import WeakSet

import anyio
import anyio.lowlevel

from askback.errors import StoreUnavailable
from askback.stores.sqlite.file import File
from askback.stores.sqlite.rows import WAITS, Rows, Waits

logger = logging.getLogger("askback")

T = TypeVar("T")

Topic = tuple[str, str]
"""What a job waits for, or rings for: a verb and a key."""

FIRST_PAUSE = 0.005
LONGEST_PAUSE = 0.1
"""Seconds between two looks at what another process may have done; each takes some ten microseconds."""


LONGEST_REST = 10.0
"""Seconds that a fork waits for one worker: longer than any lock of another process keeps it."""

WRITE_BACK_EACH = 1_000
"""Calls done at once until the thread writes back into the main file: no more than some megabytes lie beside it."""


class Job(Generic[T]):
    """Asked for on an event loop, done in the worker's thread."""

    def __init__(
        self,
        attempt: Callable[[Rows], T | Waits],
        *,
        again: Callable[[Rows], T | Waits] | None = None,
        undo: Callable[[Rows], None] | None = None,
        waits_for: Topic | None = None,
        rings: Topic | None = None,
    ) -> None:
        self.attempt = attempt
        self.again = again or attempt
        self.undo = undo
        """What to do if nobody is there any more to take the outcome."""
        self.waits_for = waits_for
        self.rings = rings
        self.is_withdrawn = False
        """Whoever asked for it has gone. What could wait is then not tried any more, even before the thread hears of
        it; what could not, such as a release, is still done."""
        self._done = anyio.Event()
        self._soon = _call_soon()
        self._value: T | None = None
        self._error: Exception | None = None

    def answer(self, value: T) -> bool:
        """False: its loop is closed."""
        self._value = value
        return self._wake()

    def fail(self, error: Exception) -> None:
        self._error = error
        self._wake()

    async def done(self) -> None:
        await self._done.wait()

    def outcome(self) -> T:
        """What it gave, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def _wake(self) -> bool:
        try:
            self._soon(self._done.set)
        except RuntimeError:
            return False
        return True


class Errand:
    """Something to be done by the way, for which nobody waits."""

    def __init__(self, *, rings: Topic | None = None) -> None:
        self.rings = rings


class Withdrawn:
    """Whoever asked for a job has gone: undo it."""

    def __init__(self, job: Job[Any]) -> None:
        self.job = job


class End:
    """The thread is needed no longer; whoever is named wants to know when it has let go of the file."""

    def __init__(self, job: Job[None] | None) -> None:
        self.job = job


class Parked:
    """Jobs that wait for the same, and when to look again."""

    def __init__(self) -> None:
        self.jobs: deque[Job[Any]] = deque()
        self.pause = FIRST_PAUSE
        self.due = time.monotonic() + FIRST_PAUSE

    def put_off(self) -> None:
        self.pause = min(self.pause * 2, LONGEST_PAUSE)
        self.due = time.monotonic() + self.pause


class Worker:
    """Started at once; `end` ends it when all that was put before is done."""

    def __init__(self, file: File, *, clock: Callable[[], float], lease: float) -> None:
        self.is_inherited = False
        """Its thread is in the process that this one was forked off."""
        self._file = file
        self._rows = Rows(file, clock=clock, lease=lease)
        self._renew_each = lease / 3
        self._renew_at = inf
        self._beside: Rows | None = None
        self._beside_lock = threading.Lock()
        self._done_beside = self._written_back = 0
        self._is_called = False
        self._queue: SimpleQueue[Job[Any] | Errand | Withdrawn | End] = SimpleQueue()
        self._parked: dict[Topic, Parked] = {}
        self.at_work = threading.Lock()
        """Held by the thread while it is about something."""
        rest_at_forks()
        _WORKERS.add(self)
        threading.Thread(target=self._run, name="askback store", daemon=True).start()

    def at_once(self, attempt: Callable[[Rows], T | Waits], *, rings: Topic | None) -> T | Waits:
        """Do it now, on the caller's own thread; `WAITS` if the file is not open yet or somebody is in the way.

        A write takes some ten microseconds. Handing it to the thread, and its outcome back, takes ten times that.
        """
        if not self._file.is_open or not self._beside_lock.acquire(blocking=False):
            return WAITS
        beside = self._beside
        try:
            if beside is None:
                # Not sooner: it must know which file was opened, or it would make a new one if that is gone.
                beside = self._beside = self._rows.beside()
            value = attempt(beside)
        except (sqlite3.Error, OSError, StoreUnavailable) as error:
            if beside is not None and not beside.was_only_busy(error):
                beside.drop()
            return WAITS  # the thread has patience; or it meets the same, and explains it
        except Exception:
            if beside is not None:
                beside.drop()  # it may have been in the middle of a transaction
            raise
        finally:
            self._beside_lock.release()
        if value is WAITS:
            return WAITS
        self._done_beside += 1
        if rings in self._parked:
            self._queue.put(Errand(rings=rings))
        if not self._is_called and self._rows.is_untidy:
            self._is_called = True
            self._queue.put(Errand())
        return value

    def put(self, job: Job[Any]) -> None:
        self._queue.put(job)

    def withdraw(self, job: Job[Any]) -> None:
        job.is_withdrawn = True
        self._queue.put(Withdrawn(job))

    def end(self, job: Job[None] | None = None) -> None:
        self._queue.put(End(job))

    # From here all is done in the thread.

    def _run(self) -> None:
        while not isinstance(job := self._next(), End):
            with self.at_work:
                self._turn_to(job)
            job = None  # what it holds must not live until the next one comes
        with self.at_work:
            self._end(job)

    def _turn_to(self, job: Job[Any] | Errand | Withdrawn | None) -> None:
        if time.monotonic() >= self._renew_at:
            self._renew()
        if isinstance(job, Errand):
            self._run_errand(job)
        elif job is not None:
            self._serve(job)
        else:
            self._look_after()
        if self._parked:
            self._look_again()

    def _next(self) -> Job[Any] | Errand | Withdrawn | End | None:
        try:
            return self._queue.get(timeout=self._seconds_to_rest())
        except Empty:
            return None

    def _seconds_to_rest(self) -> float | None:
        due = min((parked.due for parked in self._parked.values()), default=inf)
        due = min(due, self._renew_at)
        # What was claimed at once did not come by here, so it is looked for.
        longest = self._renew_each if self._file.is_open else inf
        seconds = min(due - time.monotonic(), longest)
        return None if seconds == inf else max(seconds, 0.0)

    def _run_errand(self, errand: Errand) -> None:
        if errand.rings is not None:
            self._ring(errand.rings)
        self._look_after()

    def _look_after(self) -> None:
        self._is_called = False
        self._mind_leases()
        if self._file.is_open:
            self._quietly(Rows.tidy)
        if self._done_beside - self._written_back >= WRITE_BACK_EACH:
            self._written_back = self._done_beside
            self._quietly(Rows.write_back)

    def _serve(self, job: Job[Any] | Withdrawn) -> None:
        if isinstance(job, Withdrawn):
            self._withdraw(job.job)
        elif self._try(job, job.attempt):
            if job.rings is not None:
                self._ring(job.rings)
        elif job.waits_for is not None:
            self._parked.setdefault(job.waits_for, Parked()).jobs.append(job)
        self._look_after()

    def _try(self, job: Job[T], attempt: Callable[[Rows], T | Waits]) -> bool:
        """False: it has to wait."""
        if job.is_withdrawn and job.waits_for is not None:
            return True
        try:
            value = attempt(self._rows)
        except Exception as error:  # noqa: BLE001 - whoever asked gets it
            self._rows.drop()
            job.fail(self._explain(error))
            return True
        if value is WAITS:
            return False
        if not job.answer(value):
            self._withdraw(job)
        return True

    def _ring(self, topic: Topic) -> None:
        """Try those who wait for it in turn; if one still has to, so do all behind it."""
        parked = self._parked.get(topic)
        if parked is None:
            return
        while parked.jobs:
            job = parked.jobs.popleft()
            if not self._try(job, job.again):
                parked.jobs.appendleft(job)
                break
        if not parked.jobs:
            self._parked.pop(topic, None)

    def _look_again(self) -> None:
        now = time.monotonic()
        for topic, parked in list(self._parked.items()):
            if parked.due <= now:
                self._ring(topic)
                parked.put_off()
        self._mind_leases()

    def _withdraw(self, job: Job[Any]) -> None:
        parked = self._parked.get(job.waits_for) if job.waits_for is not None else None
        if parked is not None and job in parked.jobs:
            parked.jobs.remove(job)
        if job.undo is not None:
            self._quietly(job.undo)
            if job.waits_for is not None:
                self._ring(job.waits_for)

    def _mind_leases(self) -> None:
        if not self._rows.held:
            self._renew_at = inf
        elif self._renew_at == inf:
            self._renew_at = time.monotonic() + self._renew_each

    def _renew(self) -> None:
        self._quietly(Rows.renew)
        self._renew_at = inf
        self._mind_leases()

    def _quietly(self, work: Callable[[Rows], None]) -> None:
        """Nobody waits for this; if it fails, the log says so."""
        try:
            work(self._rows)
        except Exception as error:
            self._rows.drop()
            logger.warning("%s", self._explain(error), exc_info=error)

    def _explain(self, error: Exception) -> Exception:
        if not isinstance(error, (sqlite3.Error, OSError)):
            return error
        explained = self._file.explain(error)
        explained.__cause__ = error
        return explained

    def _end(self, end: End) -> None:
        problem, advice = "it was closed while somebody waited", "Close it after the last call."
        for parked in self._parked.values():
            for job in parked.jobs:
                job.fail(self._file.unavailable(problem, advice))
        self._rows.drop()
        with self._beside_lock:
            if self._beside is not None:
                self._beside.drop()
        if end.job is not None:
            end.job.answer(None)


def _call_soon() -> Callable[[Callable[[], None]], object]:
    """How another thread has something called on the running event loop."""
    token: Any = anyio.lowlevel.current_token()
    loop = getattr(token, "native_token", token)
    return getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon


_WORKERS: WeakSet[Worker] = WeakSet()
_RESTING: list[Worker] = []


@lru_cache(maxsize=1)
def rest_at_forks() -> None:
    """Let a process fork only while its workers rest: SQLite's own locks are copied as they are, and one that a thread
    held would stay locked in the child for ever."""
    if hasattr(os, "register_at_fork"):  # Windows knows no fork
        os.register_at_fork(before=_rest, after_in_parent=_go_on, after_in_child=_begin_anew)


def _rest() -> None:
    _RESTING[:] = [worker for worker in tuple(_WORKERS) if worker.at_work.acquire(timeout=LONGEST_REST)]


def _go_on() -> None:
    for worker in _RESTING:
        worker.at_work.release()
    _RESTING.clear()


def _begin_anew() -> None:
    for worker in tuple(_WORKERS):
        worker.is_inherited = True
    _go_on()
