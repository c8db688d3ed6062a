"""A desk: servers that are kept connected, and their calls, one per line, from a terminal or a pipe.

Servers are connected side by side, so that a slow one does not delay the others. A server that went away is connected
again at its next call. Several calls run at once; each prints its outcome under its number.
"""

import os
import shlex
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TextIO

import anyio.lowlevel
from anyio.abc import TaskGroup, TaskStatus
from mcp.shared.exceptions import MCPError
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import DynamicCompleter, NestedCompleter
from prompt_toolkit.patch_stdout import patch_stdout

from askback.cli.call.options import CallRequest, read_line
from askback.cli.call.people import Answerer, StatusLine
from askback.cli.call.report import print_outcome, text_lines
from askback.cli.call.server_call import ServerCall, connect_and_run, too_slow
from askback.cli.console import MAX_NOTE, Exit, Misused, NotConnected, Printer, print_note
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


HELP = """\
Type one call per line; its questions appear on the desk.
  SERVER                      what it offers
  SERVER TOOL name=value ...  call a tool
  SERVER --prompt NAME ...    get a prompt
  SERVER --resource URI       read a resource
  help, quit
A part of SERVER is enough if no other has it; where the desk was given one server it can be left out."""

LEAVING = {"quit", "exit"}


PROMPT = "askback> "

READ_SIZE = 65536
"""Bytes of one read from a pipe, which may hold many lines."""

Tools = Callable[[], Mapping[str, Sequence[str]]]
"""The tools that are known by now, by server."""


class DeskCalls:
    """Reads and runs the calls of one desk."""

    def __init__(
        self, servers: Mapping[str, DeskServer], there: Answerer, *, limit: float | None = None
    ) -> None:
        self.servers, self._there, self._limit = servers, there, limit
        self._count = 0
        self._worst = Exit.DONE

    async def run(self, lines: AsyncGenerator[str], *, waits: bool) -> Exit:
        """Run lines until they end or one says to leave; `waits` for calls that still run. Gives the worst exit."""
        async with anyio.create_task_group() as tasks, aclosing(lines):
            async for text in lines:
                if text.strip() in LEAVING:
                    tasks.cancel_scope.cancel()
                    break
                self._take(text, tasks)
            if not waits:
                tasks.cancel_scope.cancel()
        return self._worst

    def _take(self, text: str, tasks: TaskGroup) -> None:
        if text.strip() in {"help", "?"}:
            print_note(HELP)
        elif text.strip():
            try:
                label, wanted = self._read(text)
            except Misused as error:
                self._worst = max(self._worst, Exit.MISUSED)
                print_note("\n".join(text_lines(error.message)))
            else:
                self._count += 1
                tasks.start_soon(self._call, self._count, label, wanted)

    def _read(self, text: str) -> tuple[str, CallRequest]:
        """The server that a line names, and what is wanted from it."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise Misused(f"{text!r} cannot be split into words: {error}.") from error
        label = self._find_server(words[0])
        if label is not None:
            return label, read_line(words[1:])
        if len(self.servers) == 1:
            return next(iter(self.servers)), read_line(words)
        labels = ", ".join(self.servers)
        raise Misused(f"{words[0]!r} is not one of the servers here: {labels}. Type help for help.")

    def _find_server(self, word: str) -> str | None:
        """The server that the first word of a line names, connected or not."""
        if word in self.servers:
            return word
        close = [label for label in self.servers if word in label]
        if len(self.servers) == 1:
            # Its name can be left out, so the word may be a tool; any word may, while its tools are unknown.
            tools = next(iter(self.servers.values())).tools
            if tools is None or word in tools:
                return None
        return close[0] if len(close) == 1 else None

    async def _call(self, number: int, label: str, wanted: CallRequest) -> None:
        name = safe_line(f"[{number}] {' '.join(filter(None, (label, wanted.name)))}")
        if wanted.name is not None:
            print_note(f"{name} ...")
        order = ServerCall(wanted=wanted, present=self._there, limit=self._limit)
        try:
            outcome = await connect_and_run(self.servers[label].borrow(), order, label=label)
        except anyio.get_cancelled_exc_class():
            print_note(f"{name}: given up. The server is told, if it can be reached.")
            raise
        self._worst = max(self._worst, outcome.exit)
        print_note(f"{name}:")
        print_outcome(outcome, Printer())


async def read_typed_lines(tools: Tools) -> AsyncGenerator[str]:
    """Lines from a terminal, with history and completion, until Ctrl-D or Ctrl-C; calls print above the prompt."""
    completer = DynamicCompleter(lambda: _completer(tools()))
    session: PromptSession[str] = PromptSession(PROMPT, completer=completer, complete_while_typing=False)
    with patch_stdout(raw=True):
        while True:
            try:
                yield await session.prompt_async(handle_sigint=False)
            except (EOFError, KeyboardInterrupt):
                return


def _completer(tools: Mapping[str, Sequence[str]]) -> NestedCompleter:
    servers = {label: dict.fromkeys(names) for label, names in tools.items()}
    only = next(iter(servers.values())) if len(servers) == 1 else {}
    return NestedCompleter.from_nested_dict({**servers, **only, "help": None, "quit": None})


async def read_piped_lines(stream: TextIO | None) -> AsyncGenerator[str]:
    """Lines from a pipe or a file until it ends; None has no lines."""
    waiting = b""
    while stream is not None:
        try:  # wait in the event loop, because a thread that reads cannot be cancelled
            await anyio.wait_readable(stream.fileno())
        except PermissionError:  # epoll does not know files and /dev/null, which never block
            await anyio.lowlevel.checkpoint()
        chunk = os.read(stream.fileno(), READ_SIZE)
        *whole, waiting = (waiting + chunk).split(b"\n")
        for line in whole if chunk else [waiting]:
            yield line.decode("utf-8", "replace")
        if not chunk:
            return
