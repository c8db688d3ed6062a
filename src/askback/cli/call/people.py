"""Who answers questions of a command: the terminal, the desk, a policy before them, or nobody. Also the line in the
terminal that says that a server is at work, which is hidden while a person is asked."""

import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from operator import add
from typing import Any, TextIO

import anyio.to_thread

from askback.answers import Answer
from askback.cli.call.options import ConnectOptions
from askback.cli.console import columns_of, is_terminal, print_note
from askback.client.consent import judge, open_in_browser
from askback.client.desk import DeskPerson
from askback.client.person import Mode, Person, Turn, VisitAsked, VisitReply
from askback.client.policy import Policy, PolicyPerson, load_policy
from askback.client.terminal import TerminalPerson
from askback.model.cells import cut, cut_middle, width_of
from askback.model.safe import safe_line

NOBODY = (
    "Nobody can be asked here: {why}. Run this in a terminal, add --desk to answer in a browser, or --policy FILE "
    "to answer by rules you wrote."
)


PATIENCE = 0.4
"""Seconds before the line appears, so that quick calls do not flicker."""

PACE, PLAIN_PACE = 0.2, 5.0
"""Seconds between two updates: of a line that is overwritten, and of lines for a screen reader."""

MAX_MESSAGE = 200
"""Characters of a server's message that are read before the line is cut to the width."""

MAX_NAME = 4096
"""Characters of a server's name that are read: the longest path on Linux."""

MIN_NAME = 16
"""Cells that a server's name keeps, however long its message is."""

MAX_WRITTEN_OUT = 1e15
"""From here on a number is written as 1e+15."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Who answers the questions of a server."""

    person: Person | None
    own: Person | None
    """Answers our own questions too, such as for missing arguments; a policy never does."""
    nobody: str | None
    """Why nobody can be asked, if so; a policy does not count as somebody."""


class StatusLine:
    """The line of one call. Give `progress` to the driver; use `pause()` to write on the same screen."""

    def __init__(self, what: str, out: TextIO, *, plain: bool = False, begins: str = "starts") -> None:
        self._out, self._plain = out, plain
        self._states = [(safe_line(what, MAX_NAME), begins)] if what else []
        self._message, self._shown, self._pauses = "", "", 0
        self._began = time.monotonic()

    def connected(self) -> None:
        """Say from now on that the server works."""
        self._states = [(name, "works") for name, _ in self._states]

    def set_states(self, states: Mapping[str, str]) -> None:
        """Show several servers, each with its state."""
        self._states = [(safe_line(name, MAX_NAME), state) for name, state in states.items()]

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show the progress that the server reports."""
        part = f"{_format_number(progress)} of {_format_number(total)}" if total else _format_number(progress)
        self._message = safe_line(f"{part} {message or ''}".strip(), MAX_MESSAGE)

    @asynccontextmanager
    async def display(self) -> AsyncGenerator[None]:
        """Show the line while the block runs, and remove it afterwards."""
        if not self._out.isatty():
            yield
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tick)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                self._clear()

    @contextmanager
    def pause(self) -> Generator[None]:
        """Hide the line during the block; the seconds go on."""
        self._clear()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    async def _tick(self) -> None:
        await anyio.sleep(PATIENCE)
        while True:
            if not self._pauses:
                self._draw()
            await anyio.sleep(PLAIN_PACE if self._plain else PACE)

    def _draw(self) -> None:
        seconds = int(time.monotonic() - self._began)
        rest = f", {seconds} s{': ' if self._message else ''}{self._message}"
        columns = columns_of(self._out) - 1
        states = [f" {state}" for _, state in self._states]
        left = columns - width_of(", ".join(states) + rest)
        each = max(MIN_NAME, left // max(1, len(states)))
        names = (cut_middle(name, each) for name, _ in self._states)
        text = cut(", ".join(map(add, names, states)) + rest, columns)
        if text == self._shown:
            return
        self._write(f"{text}\n" if self._plain else f"\r{text}\x1b[K")
        self._shown = text

    def _clear(self) -> None:
        if self._shown and not self._plain:
            self._write("\r\x1b[K")
        self._shown = ""

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal was closed
            self._out.write(text)
            self._out.flush()


def _format_number(value: float) -> str:
    """A number for a reader: 1,000,000 and 0.25."""
    if not abs(value) < MAX_WRITTEN_OUT:
        return f"{value:g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


class PersonWrapper:
    """A person whose methods a subclass can change."""

    def __init__(self, person: Person) -> None:
        self._person = person

    @property
    def modes(self) -> frozenset[Mode]:
        return self._person.modes

    @property
    def shows_several(self) -> bool:
        return self._person.shows_several

    async def answer(self, turn: Turn) -> Answer[Any]:
        return await self._person.answer(turn)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        return await self._person.wait(asked, finished)


class PersonBesideStatus(PersonWrapper):
    """Hides the status line while the person is asked; a person at a desk is told to look there."""

    def __init__(self, person: Person, working: StatusLine | None, *, is_elsewhere: bool) -> None:
        super().__init__(person)
        self._working, self._is_elsewhere = working, is_elsewhere

    async def answer(self, turn: Turn) -> Answer[Any]:
        with self._without_status():
            if self._is_elsewhere:
                print_note(f"{safe_line(turn.asked.asker.label)} asks on the desk.")
            return await super().answer(turn)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        with self._without_status():
            return await super().wait(asked, finished)

    def _without_status(self) -> AbstractContextManager[None]:
        return nullcontext() if self._working is None else self._working.pause()


@asynccontextmanager
async def open_answerer(
    options: ConnectOptions, working: StatusLine | None = None
) -> AsyncGenerator[Answerer]:
    """The person that the options name, during the block."""
    policy = None if options.policy is None else load_policy(options.policy)
    if options.desk:
        async with DeskPerson() as desk:
            # A browser keeps addresses in its history, so it gets one that can be opened once.
            is_open = not options.no_open and await anyio.to_thread.run_sync(
                open_in_browser, judge(desk.opening_url())
            )
            print_note(f"The desk is {'open' if is_open else 'ready: open it'} at {desk.url}")
            person = PersonBesideStatus(desk, working, is_elsewhere=True)
            yield _with_policy(person, policy)
    else:
        # Questions stay on the screen if the result goes elsewhere.
        screen = sys.stderr if not is_terminal(sys.stdout) and is_terminal(sys.stderr) else None
        terminal = TerminalPerson(plain=options.plain, output=screen)
        person = PersonBesideStatus(terminal, working, is_elsewhere=False) if terminal.modes else None
        yield _with_policy(person, policy)


def _with_policy(own: Person | None, policy: Policy | None) -> Answerer:
    person = own if policy is None else PolicyPerson(policy, own)
    if own is not None:
        return Answerer(person=person, own=own, nobody=None)
    is_typed = is_terminal(sys.stdin)
    why = "there is no terminal to ask on" if is_typed else "standard input is not a terminal"
    return Answerer(person=person, own=None, nobody=NOBODY.format(why=why))
