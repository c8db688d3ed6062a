"""One line that says a server is at work, while it is. Nothing where nobody watches."""

import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from operator import add
from typing import TextIO

import anyio

from askback.cli.printer import columns_of
from askback.model.cells import cut, cut_middle, width_of
from askback.model.safe import safe_line

PATIENCE = 0.4
"""Seconds before the line appears; most calls are over by then and would only flicker."""

PACE, PLAIN_PACE = 0.2, 5.0
"""Seconds between two updates: of a line that is written over, and of lines that a screen reader reads out."""

MESSAGE = 200
"""Characters of a server's message that are looked at before the line is cut to the width."""

MAX_NAME = 4096
"""Characters of a server's name, which may be a path, that are looked at: a path has no more on Linux."""

MIN_NAME = 16
"""Cells that a server's name keeps, however much the server says. A command's path gives way first."""

MAX_WRITTEN_OUT = 1e15
"""From here on a number is written as 1e+15: nobody counts its digits."""


class StatusLine:
    """The line of one call. Give `progress` to the driver, and `pause()` to whoever writes on the same screen."""

    def __init__(self, what: str, out: TextIO, *, plain: bool = False, begins: str = "starts") -> None:
        self._out, self._plain = out, plain
        self._states = [(safe_line(what, MAX_NAME), begins)] if what else []
        self._said, self._shown, self._hushed = "", "", 0
        self._began = time.monotonic()

    def connected(self) -> None:
        """From here on it is the call that takes its time."""
        self._states = [(name, "works") for name, _ in self._states]

    def set_states(self, states: Mapping[str, str]) -> None:
        """What is waited for, where that is several servers and changes: each by its name, with what it does."""
        self._states = [(safe_line(name, MAX_NAME), state) for name, state in states.items()]

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """What the server says of its work."""
        part = f"{_number(progress)} of {_number(total)}" if total else _number(progress)
        self._said = safe_line(f"{part} {message or ''}".strip(), MESSAGE)

    @asynccontextmanager
    async def display(self) -> AsyncGenerator[None]:
        """While the block runs, and gone without a trace after it."""
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
        """Not a word while somebody is asked; the time counts on afterwards."""
        self._clear()
        self._hushed += 1
        try:
            yield
        finally:
            self._hushed -= 1

    async def _tick(self) -> None:
        await anyio.sleep(PATIENCE)
        while True:
            if not self._hushed:
                self._draw()
            await anyio.sleep(PLAIN_PACE if self._plain else PACE)

    def _draw(self) -> None:
        seconds = int(time.monotonic() - self._began)
        rest = f", {seconds} s{': ' if self._said else ''}{self._said}"
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
        with suppress(
            OSError
        ):  # a terminal that was closed; whoever closed it ends the program too, or does not mind
            self._out.write(text)
            self._out.flush()


def _number(value: float) -> str:
    """As people write it: 1,000,000 and 0.25."""
    if not abs(value) < MAX_WRITTEN_OUT:
        return f"{value:g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")
