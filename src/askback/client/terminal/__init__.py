"""The person who answers at a terminal: on a screen, or line by line."""

from askback.client.terminal.terminal_person import TerminalPerson

__all__ = ["TerminalPerson"]
