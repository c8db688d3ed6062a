"""The servers of a desk. They are connected side by side, so that a slow one does not delay the others. A server that
went away is connected again at its next call."""

import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.shared.exceptions import MCPError

from askback.cli.call.people import StatusLine
from askback.cli.call.report import text_lines
from askback.cli.call.server_call import too_slow
from askback.cli.exits import NotConnected
from askback.cli.printer import MAX_NOTE, print_note
from askback.client import Driver
from askback.model.safe import safe_line

STARTUP_TIMEOUT = 2.0
"""Seconds that the desk waits for the other servers once one is connected; they may still come later."""


@dataclass(slots=True, kw_only=True)
class DeskConnection:
    """One connection, and how many calls use it."""

    driver: Driver
    calls: int = 0
    leaving: anyio.Event = field(default_factory=anyio.Event)

    def let_go(self) -> None:
        """End a connection whose server is gone, when its last call has ended: a person may still see its questions."""
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
        """Connect for the first time. After a failure it is not tried again, because each call would wait for it."""
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
        """A connected driver for one call; raises the errors of connecting."""
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
        """Hold a connection in its own task, because the task that opens one must close it."""
        async with self._make() as driver:
            held = DeskConnection(driver=driver)
            task_status.started(held)
            await held.leaving.wait()


class DeskStartup:
    """Connects the servers when a desk begins. `states` has the word for each until it is connected."""

    def __init__(
        self,
        servers: Mapping[str, DeskServer],
        states: Mapping[str, str],
        *,
        limit: float | None,
        lists_tools: bool,
    ) -> None:
        self._servers, self._states = servers, dict(states)
        self._limit, self._lists_tools = limit, lists_tools
        self._working = StatusLine("", sys.stderr)
        self._has_first, self._is_done = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def under_way(self) -> AsyncGenerator[None]:
        """Connect to all servers while the block runs."""
        self._working.set_states(self._states)
        async with anyio.create_task_group() as tasks:
            for label, server in self._servers.items():
                tasks.start_soon(self._connect, label, server)
            yield
            tasks.cancel_scope.cancel()

    async def is_anybody_there(self) -> bool:
        """Wait for the first server and a moment for the others; False if none can be connected."""
        async with self._working.display():
            await self._has_first.wait()
            with anyio.move_on_after(STARTUP_TIMEOUT):
                await self._is_done.wait()
        return any(server.is_connected for server in self._servers.values())

    def tools(self) -> dict[str, list[str]]:
        """The tools that are known by now, safe to print, by server."""
        return {label: [*map(safe_line, server.tools or ())] for label, server in self._servers.items()}

    async def _connect(self, label: str, server: DeskServer) -> None:
        try:
            with anyio.move_on_after(self._limit) as scope:
                await server.connect()
                self._has_first.set()
                await server.list_tools()
        except MCPError as error:
            self._say(error.message)
        else:
            if scope.cancelled_caught:
                self._say(too_slow(label, self._limit or 0).message)
            elif self._lists_tools:
                names = ", ".join(self.tools()[label]) or "no tools"
                self._say(safe_line(f"{label}: {names}", MAX_NOTE))
        del self._states[label]
        self._working.set_states(self._states)
        if not self._states:
            self._has_first.set()
            self._is_done.set()

    def _say(self, text: str) -> None:
        with self._working.pause():
            print_note("\n".join(text_lines(text)))
