"""The script of a test: gives a reply to each question, and fails the test if script and questions differ."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import to_jsonable_python

from askback.schema.adapter import wire_name


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


class ScriptMismatch(AssertionError):
    """The script and the questions differ; the message shows both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it reached the client."""

    message: str
    schema: Mapping[str, Any]
    key: str | None = None
    mode: str = "form"
    url: str = ""
    """Where a visit leads; empty for a form."""

    @property
    def fields(self) -> list[str]:
        """The names of the form's fields, in order."""
        return list(self.schema.get("properties", {}))

    def __str__(self) -> str:
        return f"{self.message!r} ({self.url or ', '.join(self.fields)})"


Answers = Iterable[Reply] | Mapping[str, Reply] | Callable[[Asked], Reply]


class Script:
    """Replies in order, by key, or from a function of the question."""

    def __init__(self, answers: Answers = ()) -> None:
        self.asked: list[Asked] = []
        self._left: list[Reply] = []
        self._by_key: Mapping[str | None, Reply] = {}
        if callable(answers):
            self._reply = answers
        elif isinstance(answers, Mapping):
            self._by_key = cast("Mapping[str | None, Reply]", answers)
            self._reply = self._reply_by_key
        else:
            self._left = list(answers)
            self._reply = self._reply_in_order

    def reply_to(self, asked: Asked) -> Reply:
        """The reply to this question; each question uses one."""
        self.asked.append(asked)
        reply = self._reply(asked)
        if reply.to is not None and reply.to not in asked.message:
            raise ScriptMismatch(f"The next reply is meant for {reply.to!r}, but the server asked {asked}.")
        return reply

    def content_for(self, accept: Accept, asked: Asked) -> dict[str, Any]:
        """What the form sends if a person fills in these values."""
        content: dict[str, Any] = {}
        for name, value in accept.values.items():
            content |= self._fill_in(name, value, asked)
        return content

    def finish(self, text: str) -> None:
        """Fail if replies are unused; the text of the result often tells why."""
        if self._left:
            raise ScriptMismatch(
                f"The call ended with {len(self._left)} of the script's replies unused; the next was "
                f"{self._left[0]}. It asked: {self._so_far()}. Its result says: {text!r}."
            )
        asked = {asked.key for asked in self.asked}
        if unused := [key for key in self._by_key if key not in asked]:
            raise ScriptMismatch(
                f"The call ended, and nobody asked for the key {unused[0]!r}. It asked: {self._so_far()}. "
                f"Its result says: {text!r}."
            )

    def _reply_by_key(self, asked: Asked) -> Reply:
        if asked.key in self._by_key:
            return self._by_key[asked.key]
        raise ScriptMismatch(
            f"The script has no reply for the key {asked.key!r}: {asked}. Keys travel on the rounds era alone; for "
            "other revisions give the replies in order, or a function of the question."
        )

    def _reply_in_order(self, asked: Asked) -> Reply:
        if self._left:
            return self._left.pop(0)
        raise ScriptMismatch(
            f"The server asked {asked}, and the script has no reply left. Asked so far: {self._so_far()}. "
            "Add a reply, or see why the tool asks more than you expect."
        )

    def _fill_in(self, name: str, value: Any, asked: Asked) -> dict[str, Any]:
        described = asked.schema.get("properties", {}).get(name)
        if described is not None:
            return {name: _to_wire(value, _list_options(described))}
        # 2025-06-18 has no lists: several choices are one boolean each.
        ticks = {one.removeprefix(f"{name}."): one for one in asked.fields if one.startswith(f"{name}.")}
        if not ticks or not isinstance(value, _SEVERAL):
            raise ScriptMismatch(
                f"accept({name}=...) fills in a field that the form does not have. The server asked {asked}."
            )
        chosen: list[Any] = _to_wire(value, ticks)
        if unknown := [one for one in chosen if one not in ticks]:
            raise ScriptMismatch(
                f"accept({name}=...) chooses {unknown[0]!r}, which is not offered. The server asked {asked}."
            )
        return {field: option in chosen for option, field in ticks.items()}

    def _so_far(self) -> str:
        return "; ".join(str(asked) for asked in self.asked) or "nothing"


_SEVERAL = (list, tuple, set, frozenset)


def _list_options(described: Mapping[str, Any]) -> list[Any]:
    """The values that a field of the form offers."""
    whole: Mapping[str, Any] = {**described, **described.get("items", {})}
    titled: list[Mapping[str, Any]] = whole.get("oneOf") or whole.get("anyOf") or []
    return [*whole.get("enum", ()), *(one.get("const") for one in titled)]


def _to_wire(value: Any, offered: Container[Any]) -> Any:
    """A Python value as the protocol writes it; choices are always text."""
    if isinstance(value, _SEVERAL):
        return [_to_wire(one, offered) for one in cast("Iterable[Any]", value)]
    spelling = wire_name(value)
    return spelling if spelling in offered else to_jsonable_python(value)
