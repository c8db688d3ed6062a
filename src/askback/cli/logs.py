"""What libraries log, kept off the screen; what we warn of, made safe and put on it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from askback.cli.printer import print_note
from askback.model.safe import safe_line

MOST = 1000
"""Characters of one warning."""


class OnScreen(logging.Handler):
    """One line for each warning; it may repeat what a server wrote."""

    def emit(self, record: logging.LogRecord) -> None:
        print_note(safe_line(record.getMessage(), MOST))


@contextmanager
def logs_on_screen() -> Generator[None]:
    """For a program with a person before it: without this, Python prints warnings of any library as they are."""
    handlers = {"": logging.NullHandler(), "askback": OnScreen(logging.WARNING)}
    for name, handler in handlers.items():
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, handler in handlers.items():
            logging.getLogger(name).removeHandler(handler)
