"""A server that a desk keeps connected; one that went away is connected to again when it is next called."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup, TaskStatus

from askback.cli.exits import NotConnected
from askback.cli.printer import print_note
from askback.client import Driver
from askback.model.safe import safe_line


@dataclass(slots=True, kw_only=True)
class DeskConnection:
    """One connection, and how many calls use it."""

    driver: Driver
    calls: int = 0
    leaving: anyio.Event = field(default_factory=anyio.Event)

    def let_go(self) -> None:
        """End a connection that is of no use; a person may still look at what its last calls have asked."""
        if self.driver.is_gone and not self.calls:
            self.leaving.set()


class DeskServer:
    """One server of a desk. `make` gives a driver that is not connected yet."""

    def __init__(self, label: str, make: Callable[[], Driver], tasks: TaskGroup) -> None:
        self._label, self._make, self._tasks = label, make, tasks
        self._connecting = anyio.Lock()
        self._held: DeskConnection | None = None
        self._is_missing = False
        self.tools: list[str] | None = None
        """The names of its tools, once it has listed them."""

    async def connect(self) -> None:
        """For the first time. One that does not come now is not tried again: each of its calls would wait for it."""
        try:
            await self._current()
        finally:
            self._is_missing = self._held is None

    async def list_tools(self) -> None:
        async with self.borrow() as driver:
            self.tools = [tool.name for tool in await driver.list_tools()]

    @property
    def is_connected(self) -> bool:
        return self._held is not None

    @asynccontextmanager
    async def borrow(self) -> AsyncGenerator[Driver]:
        """A driver that is connected, for one call; raises what connecting raises."""
        held = await self._current()
        held.calls += 1
        try:
            yield held.driver
        finally:
            held.calls -= 1
            held.let_go()

    def leave(self) -> None:
        """End the connection."""
        if self._held is not None:
            self._held.leaving.set()

    async def _current(self) -> DeskConnection:
        async with self._connecting:
            if self._is_missing:
                raise NotConnected(self._label)
            before = self._held
            if before is None or before.driver.is_gone:
                self._held = await self._tasks.start(self._hold)
            if before is not None and before is not self._held:
                before.let_go()
                print_note(f"{safe_line(self._label)} had gone away, and is connected again.")
            assert self._held is not None
            return self._held

    async def _hold(self, *, task_status: TaskStatus[DeskConnection]) -> None:
        """In a task of its own, since the one that opens a connection has to close it."""
        async with self._make() as driver:
            held = DeskConnection(driver=driver)
            task_status.started(held)
            await held.leaving.wait()
