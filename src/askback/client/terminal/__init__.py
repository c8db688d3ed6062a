"""People who answer at a terminal: on a screen, or line by line."""

from askback.client.terminal.plain_person import PlainPerson
from askback.client.terminal.terminal_person import TerminalPerson

__all__ = ["PlainPerson", "TerminalPerson"]
