"""What the tests of the contract share: a clock, two ways into one store, and calls that are under way meanwhile."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Generic, TypeVar

import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from askback.model.store import Granted, Store, Verdict

T = TypeVar("T")

BOUND = 20.0
"""Seconds after which a wait counts as a hang; on a busy machine the longest take one."""

HOUR = 3600.0


class Clock:
    """Time stands still until a test moves it on."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def hence(self, seconds: float) -> float:
        return self.now + seconds


class Contract(ABC):
    """How a store is opened; what the tests take from it."""

    pytestmark = pytest.mark.anyio

    @abstractmethod
    def open_store(self, place: Path, clock: Clock) -> Store:
        """The store of that place, which is an empty directory at first."""

    def open_again(self, store: Store, place: Path, clock: Clock) -> Store:
        """Open the store of that place as another process would; override it where that is `store` itself."""
        return self.open_store(place, clock)

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    async def store(self, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
        store = self.open_store(tmp_path, clock)
        yield store
        await store.close()

    @pytest.fixture
    async def other(self, store: Store, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
        other = self.open_again(store, tmp_path, clock)
        yield other
        await other.close()


class UnderWay(Generic[T]):
    """A call in a task of its own."""

    def __init__(self, call: Callable[[], Awaitable[T]]) -> None:
        self._call = call
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._outcome: list[T] = []

    async def run(self) -> None:
        with self._scope:
            self._outcome.append(await self._call())
        self._ended.set()

    def cancel(self) -> None:
        self._scope.cancel()

    @property
    def is_waiting(self) -> bool:
        return not self._ended.is_set()

    async def outcome(self) -> T | None:
        """What it gave; None if it was cancelled."""
        with anyio.fail_after(BOUND):
            await self._ended.wait()
        return self._outcome[0] if self._outcome else None


async def begin(group: TaskGroup, call: Callable[[], Awaitable[T]]) -> UnderWay[T]:
    """Start a call and let it come as far as it can by itself."""
    under_way = UnderWay(call)
    group.start_soon(under_way.run)
    for _ in range(3):
        await anyio.lowlevel.checkpoint()
    await anyio.wait_all_tasks_blocked()
    return under_way


async def together(*calls: Callable[[], Awaitable[T]]) -> list[T]:
    """All at once; what they gave, in order."""
    all_under_way = [UnderWay(call) for call in calls]
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for under_way in all_under_way:
                group.start_soon(under_way.run)
    outcomes = [await under_way.outcome() for under_way in all_under_way]
    return [outcome for outcome in outcomes if outcome is not None]


async def bounded(call: Awaitable[T]) -> T:
    """A call that must not hang."""
    with anyio.fail_after(BOUND):
        return await call


def granted(verdict: Verdict | None) -> Granted:
    assert isinstance(verdict, Granted)
    return verdict
