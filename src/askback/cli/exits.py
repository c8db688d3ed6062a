"""How a command ends: its exit code, what was wrong with the words of the command, and signals. SIGTERM and SIGHUP end
a command as Ctrl-C does: the terminal is restored, and servers are told and ended."""

import asyncio
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import anyio

from askback.errors import OperatorError

T = TypeVar("T")


class Exit(IntEnum):
    """Codes for the shell, listed in docs/reference/command-line.md; a new meaning gets a new number."""

    DONE = 0
    FAILED = 1
    MISUSED = 2
    NOT_CONNECTED = 3
    NOBODY_ANSWERED = 4
    OUT_OF_TIME = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


SIGNALS = {signal.SIGTERM: Exit.TERMINATED}
if sys.platform != "win32":
    SIGNALS[signal.SIGHUP] = Exit.HUNG_UP

INSTALL_EXTRA = 'Install it with: pip install "askback[client]"'


class Misused(OperatorError):
    """The words of the command, or a file that they name, make no sense. Nothing was called."""


class NotConnected(OperatorError):
    """A server of a desk was not connected when the desk began. Nothing was called."""

    def __init__(self, label: str) -> None:
        self.label = label
        super().__init__(
            f"{label} is not connected. The reason was printed when the desk began: correct it, and start the desk "
            "again."
        )


class CommandInterrupted(Exception):
    """A signal ended the command; everything it had open is closed."""

    def __init__(self, exit_: Exit) -> None:
        super().__init__(exit_)
        self.exit = exit_


def import_optional(name: str) -> ModuleType | None:
    """The module, or None if an extra that it needs is missing. A missing module of Askback is an error."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        return None


def run(work: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Like `anyio.run`; raises `CommandInterrupted` after Ctrl-C, SIGTERM and SIGHUP."""
    try:
        return anyio.run(_run_until_signal, partial(work, *arguments))
    except KeyboardInterrupt:
        raise CommandInterrupted(Exit.INTERRUPTED) from None


async def _run_until_signal(work: Callable[[], Awaitable[T]]) -> T:
    came: list[signal.Signals] = []
    with anyio.CancelScope() as scope, _on_signal(lambda number: (came.append(number), scope.cancel())):
        try:
            return await work()
        except Exception:  # closing after a signal may fail
            if not came:
                raise
    raise CommandInterrupted(SIGNALS[came[0]])


@contextmanager
def _on_signal(act: Callable[[signal.Signals], object]) -> Generator[None]:
    """Call `act` at the first signal; a second one ends the program at once, as it would without us."""
    loop = asyncio.get_running_loop()
    # Under nohup a program must outlive its terminal. Only the main thread can handle signals.
    can_handle = sys.platform != "win32" and threading.current_thread() is threading.main_thread()
    handled = [one for one in SIGNALS if can_handle and signal.getsignal(one) != signal.SIG_IGN]

    def stop_handling() -> None:
        for one in handled:
            loop.remove_signal_handler(one)

    def handle(number: signal.Signals) -> None:
        stop_handling()
        act(number)

    for one in handled:
        loop.add_signal_handler(one, handle, one)
    try:
        yield
    finally:
        stop_handling()
