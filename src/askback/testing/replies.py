"""Replies of a scripted person to one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """Fill in these fields and send; other fields keep their defaults."""

    values: Mapping[str, Any]
    to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Send exactly this, also if it does not fit."""

    reply: Any
    to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Send a JSON-RPC error instead of an answer."""

    code: int
    message: str
    to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Never answer, for questions with a timeout."""

    to: str | None = None


Reply = Accept | Raw | Fail | Silence


def accept(value: Any = None, /, *, to: str | None = None, **fields: Any) -> Accept:
    """Accept with these fields, or with one bare value where a scalar was asked.

    `to` is a part of the message of the question; the test fails if another question comes.
    """
    if value is not None and not fields and not isinstance(value, Mapping):
        return Accept(values={"value": value}, to=to)
    return Accept(values={**(value or {}), **fields}, to=to)


def decline(*, to: str | None = None) -> Raw:
    """Say no."""
    return Raw(reply={"action": "decline"}, to=to)


def cancel(*, to: str | None = None) -> Raw:
    """Close the form without a choice."""
    return Raw(reply={"action": "cancel"}, to=to)


def raw(reply: Any, *, to: str | None = None) -> Raw:
    """Send `reply` as it is, to test how the server handles it."""
    return Raw(reply=reply, to=to)


def fail(code: int = -32603, message: str = "the client broke", *, to: str | None = None) -> Fail:
    """Answer the question with a JSON-RPC error; in the rounds era the client gives up the call."""
    return Fail(code=code, message=message, to=to)


def silence(*, to: str | None = None) -> Silence:
    """Leave the question unanswered."""
    return Silence(to=to)
