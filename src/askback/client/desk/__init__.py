"""The desk: a page on loopback where a person answers in their own browser."""

from askback.client.desk.desk_person import DeskPerson

__all__ = ["DeskPerson"]
