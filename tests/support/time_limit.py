"""A test that waits in vain fails in its own time, and says where each of its tasks and threads waits.

pytest-timeout counts the seconds. Its own alarm rings once, and after a failure not at all: whatever waits in a `with`
or in a fixture's end would then wait for good, and a loop that was left in the middle of a test serves no other.
"""

import asyncio
import inspect
import linecache
import os
import signal
import sys
import sysconfig
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from functools import wraps
from types import FrameType
from typing import Any, Protocol

import pytest

OTHERS = (sysconfig.get_path("stdlib"), "<")
"""How the files begin whose lines tell nothing of a test; the rest of them is in folders called `site-packages`."""

SECONDS_TO_CLEAN_UP = 25.0
"""After a failure, for the ends of fixtures; those that stop programs take up to fifteen seconds."""

SECONDS_BETWEEN = 5.0
"""What was interrupted may wait again on its way out, so the alarm rings again."""

RUNNER = "TestRunner._run_tests_and_fixtures"
"""The task in which AnyIO runs every async test and fixture."""

WAITED = pytest.StashKey[str]()
"""What an item waited for in vain, in its present phase."""


class Settings(Protocol):
    """What pytest-timeout tells of a test."""

    timeout: float | None


def pytest_timeout_set_timer(item: pytest.Item, settings: Settings) -> bool:
    """In the place of pytest-timeout's own: the alarm goes on until it is cancelled."""
    _arm(item, settings.timeout or 0.0)
    return True


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def pytest_enter_pdb() -> None:
    """Whoever looks for a mistake takes their time."""
    signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    yield from _tell(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
        item.obj = _bounded(item, item.obj)
    yield from _tell(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    is_armed, _again = signal.getitimer(signal.ITIMER_REAL)
    if not is_armed:
        _arm(item, SECONDS_TO_CLEAN_UP)
    yield from _tell(item)


def _tell(item: pytest.Item) -> Generator[None]:
    """The failure names what was waited for, whatever came of the interruption."""
    try:
        yield
    except BaseException:
        if WAITED not in item.stash:
            raise
    if WAITED in item.stash:
        waited = item.stash[WAITED]
        del item.stash[WAITED]
        pytest.fail(waited, pytrace=False)


def _bounded(item: pytest.Item, test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Ends its own cancellation: AnyIO's runner would end with it, and serve no other test."""

    @wraps(test)
    async def bounded(*args: Any, **kwargs: Any) -> None:
        try:
            await test(*args, **kwargs)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if WAITED not in item.stash or task is None:
                raise
            task.uncancel()
            pytest.fail("The time is over.", pytrace=False)

    return bounded


def _arm(item: pytest.Item, seconds: float) -> None:
    def ring(_number: int, frame: FrameType | None) -> None:
        item.stash.setdefault(WAITED, f"Waited in vain for {seconds:g} seconds:\n" + "\n".join(waits(frame)))
        if not (_is_idle(frame) and _cancel_runner()):
            pytest.fail("The time is over.", pytrace=False)

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, SECONDS_BETWEEN)


def _is_idle(frame: FrameType | None) -> bool:
    """Whether a loop waits for events; one that is kept busy would not hear of a cancellation."""
    return frame is not None and frame.f_globals.get("__name__") == "selectors"


def _cancel_runner() -> bool:
    """An async test is cancelled like any task, so that its loop can go on with others."""
    found = [task for task in _tasks() if getattr(task.get_coro(), "__qualname__", "") == RUNNER]
    for task in found:
        task.get_loop().call_soon_threadsafe(task.cancel)  # which wakes the loop
    return bool(found)


def waits(frame: FrameType | None) -> Iterator[str]:
    """One line for each task and each thread: where in our own code it is."""
    for task in _tasks():
        if line := _last_of_ours(_awaited(task.get_coro())):
            yield f"  task {task.get_name()}: {line}"
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] documented all the same
    for thread in threading.enumerate():
        top = frame if thread is threading.main_thread() else frames.get(thread.ident or 0)
        if line := _last_of_ours(reversed([*_callers(top)])):
            yield f"  thread {thread.name}: {line}"


def _tasks() -> set[asyncio.Task[Any]]:
    try:
        return asyncio.all_tasks()
    except RuntimeError:  # no loop runs
        return set()


def _awaited(waiting: Any) -> Iterator[FrameType]:
    """The frames of a coroutine that is suspended, the innermost last."""
    while waiting is not None:
        for kind in ("cr", "gi", "ag"):
            if frame := getattr(waiting, f"{kind}_frame", None):
                yield frame
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _last_of_ours(frames: Iterable[FrameType]) -> str:
    ours = [frame for frame in frames if _is_ours(frame.f_code.co_filename)]
    if not ours:
        return ""
    code, number = ours[-1].f_code, ours[-1].f_lineno
    source = linecache.getline(code.co_filename, number).strip()
    return f"{os.path.relpath(code.co_filename)}:{number}, {code.co_qualname}: {source}"


def _is_ours(file: str) -> bool:
    return not file.startswith(OTHERS) and "site-packages" not in file
