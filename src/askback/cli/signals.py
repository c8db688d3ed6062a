"""SIGTERM and SIGHUP end a command as Ctrl-C does: the terminal is put back, and servers are told and ended."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import anyio

from askback.cli.exits import CommandInterrupted, Exit

T = TypeVar("T")

ENDINGS = {signal.SIGTERM: Exit.TERMINATED, signal.SIGHUP: Exit.HUNG_UP}


def run(work: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Like `anyio.run`; raises `Interrupted` for Ctrl-C and for signals that mean the same."""
    try:
        return anyio.run(_heeding, partial(work, *arguments))
    except KeyboardInterrupt:
        raise CommandInterrupted(Exit.INTERRUPTED) from None


async def _heeding(work: Callable[[], Awaitable[T]]) -> T:
    came: list[signal.Signals] = []
    with anyio.CancelScope() as scope, _heard(lambda number: (came.append(number), scope.cancel())):
        try:
            return await work()
        except Exception:  # what was being closed may complain of that
            if not came:
                raise
    raise CommandInterrupted(ENDINGS[came[0]])


@contextmanager
def _heard(act: Callable[[signal.Signals], object]) -> Generator[None]:
    """Once: a second signal ends the program at once, as it would without us."""
    loop = asyncio.get_running_loop()
    # Programs under nohup are not to end with their terminal, and only the main thread may listen.
    may_listen = threading.current_thread() is threading.main_thread()
    heard = [one for one in ENDINGS if may_listen and signal.getsignal(one) != signal.SIG_IGN]

    def forget() -> None:
        for one in heard:
            loop.remove_signal_handler(one)

    def hear(number: signal.Signals) -> None:
        forget()
        act(number)

    for one in heard:
        loop.add_signal_handler(one, hear, one)
    try:
        yield
    finally:
        forget()
