"""The servers of a desk, connected side by side: one that is slow or never comes keeps nobody from the others."""

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import anyio
from mcp.shared.exceptions import MCPError

from askback.cli.call.outcome import too_slow
from askback.cli.call.results import text_lines
from askback.cli.call.status_line import StatusLine
from askback.cli.desk.servers import DeskServer
from askback.cli.printer import MAX_NOTE, print_note
from askback.model.safe import safe_line

PATIENCE = 2.0
"""Seconds that the first server waits for the others before lines are taken; those still missing may come later."""


class DeskStartup:
    """Who has come and who is still waited for. `states` says of each server what it does until then."""

    def __init__(
        self,
        servers: Mapping[str, DeskServer],
        states: Mapping[str, str],
        *,
        limit: float | None,
        tells: bool,
    ) -> None:
        self._servers, self._states = servers, dict(states)
        self._limit, self._tells = limit, tells
        self._working = StatusLine("", sys.stderr)
        self._one_is_there, self._all_are_done = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def under_way(self) -> AsyncGenerator[None]:
        """While the block runs, all are being connected to; who has not come by its end is waited for no longer."""
        self._tell_state()
        async with anyio.create_task_group() as tasks:
            for label, server in self._servers.items():
                tasks.start_soon(self._greet, label, server)
            yield
            tasks.cancel_scope.cancel()

    async def is_anybody_there(self) -> bool:
        """Once one has come, and the others have had a moment; no, once none of them can."""
        async with self._working.display():
            await self._one_is_there.wait()
            with anyio.move_on_after(PATIENCE):
                await self._all_are_done.wait()
        return any(server.is_connected for server in self._servers.values())

    def tools(self) -> dict[str, list[str]]:
        """What can be called by now, safe to show; whoever has not come is listed by its name alone."""
        return {label: [*map(safe_line, server.tools or ())] for label, server in self._servers.items()}

    async def _greet(self, label: str, server: DeskServer) -> None:
        try:
            with anyio.move_on_after(self._limit) as scope:
                await server.connect()
                self._one_is_there.set()
                await server.list_tools()
        except MCPError as error:
            self._say(error.message)
        else:
            if scope.cancelled_caught:
                self._say(too_slow(label, self._limit or 0).message)
            elif self._tells:
                names = ", ".join(self.tools()[label]) or "no tools"
                self._say(safe_line(f"{label}: {names}", MAX_NOTE))
        self._leave_out(label)

    def _say(self, text: str) -> None:
        with self._working.pause():
            print_note("\n".join(text_lines(text)))

    def _leave_out(self, label: str) -> None:
        del self._states[label]
        self._tell_state()
        if not self._states:
            self._one_is_there.set()
            self._all_are_done.set()

    def _tell_state(self) -> None:
        self._working.set_states(self._states)
