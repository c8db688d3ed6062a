"""Processes that are forked from a warm one: a worker on a line, and many jobs of which some run at a time."""

import os
import pickle
import select
import signal
import socket
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

LIFE = 120
"""Seconds after which a process is ended that nobody ended; all of them together take less."""

AT_ONCE = 8
"""Jobs side by side: most of them wait for a lease."""


def fork_worker(work: Callable[[socket.socket], None]) -> tuple[int, socket.socket]:
    """A new process that does `work` on its end of a line, until that is hung up; its id, and our end."""
    ours, theirs = socket.socketpair()
    if worker := os.fork():
        theirs.close()
        return worker, ours
    signal.alarm(LIFE)
    ours.close()
    try:
        work(theirs)
    finally:
        os._exit(0)


def run_all(jobs: Iterable[Callable[[], T]], *, at_once: int = AT_ONCE) -> list[T]:
    """What each gave, in their order; raises what one of them raised."""
    waiting, running, given = enumerate(jobs), dict[int, tuple[int, int]](), dict[int, T]()
    while True:
        while len(running) < at_once and (job := next(waiting, None)) is not None:
            child, outcome = _fork(job[1])
            running[outcome] = (job[0], child)
        if not running:
            return [given[number] for number in sorted(given)]
        for outcome in select.select(list(running), [], [], LIFE)[0]:
            number, child = running.pop(outcome)
            given[number] = _given(child, outcome)


def _fork(job: Callable[[], T]) -> tuple[int, int]:
    outcome, theirs = os.pipe()
    if child := os.fork():
        os.close(theirs)
        return child, outcome
    signal.alarm(LIFE)
    told: T | BaseException
    try:
        told = job()
    except BaseException as error:
        told = RuntimeError(f"{type(error).__name__}: {error}")
    with os.fdopen(theirs, "wb") as pipe:
        pickle.dump(told, pipe)
    os._exit(0)


def _given(child: int, outcome: int) -> Any:
    with os.fdopen(outcome, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    if not told:
        raise RuntimeError("a job ended without a word, or took too long")
    given = pickle.loads(told)
    if isinstance(given, BaseException):
        raise given
    return given
