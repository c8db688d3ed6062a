"""Questions line by line: nothing moves on the screen, so that a screen reader can follow."""

from askback.client.terminal.plain.plain_person import PlainPerson

__all__ = ["PlainPerson"]
