"""The desk: a page on loopback where a person answers in their own browser."""

from askback.client.desk.person import DeskPerson

__all__ = ["DeskPerson"]
