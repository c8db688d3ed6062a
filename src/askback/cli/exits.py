"""How a command ends: its exit code, and what is wrong with what was typed."""

from enum import IntEnum
from importlib import import_module
from types import ModuleType

from askback.errors import OperatorError


class Exit(IntEnum):
    """Codes for the shell, as the page on the command line lists them; new meanings get new numbers."""

    DONE = 0
    FAILED = 1
    MISUSED = 2
    NOT_CONNECTED = 3
    NOBODY_ANSWERED = 4
    OUT_OF_TIME = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class Misused(OperatorError):
    """What was typed, or a file it names, cannot be followed. Nothing was called."""


class NotConnected(OperatorError):
    """A server of a desk that did not come when the desk began. Nothing was called."""

    def __init__(self, label: str) -> None:
        self.label = label
        super().__init__(
            f"{label} is not connected. Why was said when the desk began: mend that, and begin again."
        )


class CommandInterrupted(Exception):
    """Somebody outside has ended the command; everything it had open is closed by now."""

    def __init__(self, exit_: Exit) -> None:
        super().__init__(exit_)
        self.exit = exit_


INSTALL_EXTRA = 'Install it with: pip install "askback[client]"'
EXTRA_MISSING = f"This command needs the client extra. {INSTALL_EXTRA}"


def import_optional(name: str) -> ModuleType | None:
    """The module, or None if an extra that it needs is missing. A module of ours that is missing is an error."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        return None
