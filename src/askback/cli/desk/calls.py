"""Calls that are typed one per line: several run at once, and each says its end under its number."""

import shlex
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from askback.cli.call.options import CallRequest, read_line
from askback.cli.call.outcome import CallOutcome
from askback.cli.call.people import Answerer
from askback.cli.call.report import print_outcome
from askback.cli.call.results import text_lines
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCall:
    """A line that was understood: whom it calls, and for what."""

    label: str
    wanted: CallRequest

    def __str__(self) -> str:
        return " ".join(filter(None, (self.label, self.wanted.name)))


class DeskCalls:
    """The calls of one desk, to the servers it keeps."""

    def __init__(
        self, servers: Mapping[str, DeskServer], there: Answerer, *, limit: float | None = None
    ) -> None:
        self.servers, self._there, self._limit = servers, there, limit
        self._count = 0
        self._worst = Exit.DONE

    async def run(self, lines: AsyncGenerator[str], *, waits: bool) -> Exit:
        """Every line until they end or one says to leave; `waits` for what then still runs. Gives the worst exit."""
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
                named = self._read(text)
            except Misused as error:
                self._worst = max(self._worst, Exit.MISUSED)
                print_note("\n".join(text_lines(error.message)))
            else:
                self._count += 1
                tasks.start_soon(self._call, self._count, named)

    def _read(self, text: str) -> NamedCall:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise Misused(f"{text!r} cannot be split into words: {error}.") from error
        label = self._named(words[0])
        if label is not None:
            return NamedCall(label=label, wanted=read_line(words[1:]))
        if len(self.servers) == 1:
            return NamedCall(label=next(iter(self.servers)), wanted=read_line(words))
        labels = ", ".join(self.servers)
        raise Misused(f"{words[0]!r} is none of the servers here: {labels}. Type help for help.")

    def _named(self, word: str) -> str | None:
        """The server that the first word of a line names, whether or not it is connected."""
        if word in self.servers:
            return word
        close = [label for label in self.servers if word in label]
        return close[0] if len(close) == 1 and not self._may_be_a_tool(word) else None

    def _may_be_a_tool(self, word: str) -> bool:
        """Of the only server, whose name can be left out; one that has not listed its tools may have any."""
        only = next(iter(self.servers.values())) if len(self.servers) == 1 else None
        return only is not None and (only.tools is None or word in only.tools)

    async def _call(self, number: int, named: NamedCall) -> None:
        """In a task of its own; whatever the server does to it stays there."""
        if named.wanted.name is not None:
            print_note(safe_line(f"[{number}] {named} ..."))
        try:
            outcome = await self._outcome(named)
        except anyio.get_cancelled_exc_class():
            print_note(safe_line(f"[{number}] {named}: given up. The server is told, if it can be reached."))
            raise
        self._worst = max(self._worst, outcome.exit)
        print_note(safe_line(f"[{number}] {named}:"))
        print_outcome(outcome, Printer())

    async def _outcome(self, named: NamedCall) -> CallOutcome:
        order = ServerCall(wanted=named.wanted, present=self._there, limit=self._limit)
        return await connect_and_run(self.servers[named.label].borrow(), order, label=named.label)
