"""Writes JSON for lines of the ledger, and reads it back strictly."""

import json
from typing import Any, cast

from pydantic_core import to_jsonable_python

from askback.schema.size import exceeds_depth

MAX_LINE_DEPTH = 500
"""A message has at most some 200 levels, and each Python version can read this many."""

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class UnreadableLine(ValueError):
    """A line that the ledger does not write; the text says what is wrong with it."""


def compact_json(value: object) -> bytes:
    """Compact JSON with keys in the given order. Characters that could move a terminal are escaped."""
    text = _COMPACT.encode(value)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else _escape(char) for char in text)
    return text.encode()


def canonical_json(value: object) -> bytes:
    """Equal values give equal bytes: sorted keys, ASCII only."""
    return _CANONICAL.encode(to_plain(value)).encode()


def to_plain(value: object) -> Any:
    """The value as plain JSON types; a number that JSON cannot hold becomes null."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=str)


def read_object(written: bytes) -> dict[str, Any]:
    """Read one object. A name that occurs twice is refused, because two readers could understand it differently."""
    try:
        found: object = json.loads(
            written.decode(), object_pairs_hook=_unique_members, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableLine("it is no JSON") from error
    if exceeds_depth(found, MAX_LINE_DEPTH):
        raise UnreadableLine("it is nested too deeply")
    if not isinstance(found, dict):
        raise UnreadableLine("it is no JSON object")
    return cast("dict[str, Any]", found)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if char <= "\uffff" else json.dumps(char)[1:-1]


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)
