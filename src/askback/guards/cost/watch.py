"""A bound on what a blocking driver does in its thread."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

AGAIN = 0.05
"""Seconds between interruptions: one that falls between two calls of the driver is lost."""


@contextmanager
def interrupt_late(interrupt: Callable[[], object], *, timeout: float) -> Generator[threading.Event]:
    """Interrupts what runs longer, until it ends; the event tells afterwards whether it came to that."""
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(timeout):
            late.set()
            while not done.is_set():
                interrupt()
                done.wait(AGAIN)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late
    finally:
        done.set()
        watcher.join()
