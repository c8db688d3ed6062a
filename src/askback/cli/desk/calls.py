"""Calls of a desk, one per line, from a terminal or a pipe. Several run at once; each prints its outcome under its
number."""

import os
import shlex
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TextIO

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import DynamicCompleter, NestedCompleter
from prompt_toolkit.patch_stdout import patch_stdout

from askback.cli.call.options import CallRequest, read_line
from askback.cli.call.people import Answerer
from askback.cli.call.report import print_outcome, text_lines
from askback.cli.call.server_call import ServerCall, connect_and_run
from askback.cli.desk.servers import DeskServer
from askback.cli.exits import Exit, Misused
from askback.cli.printer import Printer, print_note
from askback.model.safe import safe_line

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
