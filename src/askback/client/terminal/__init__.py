"""People who answer at a terminal: on a screen, or line by line."""

from askback.client.terminal.person import TerminalPerson
from askback.client.terminal.plain import PlainPerson

__all__ = ["PlainPerson", "TerminalPerson"]
