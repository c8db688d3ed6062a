"""How JSON is spelled in a line of the ledger, and read back strictly. Knows nothing of what it says."""

import json
from typing import Any, cast

from pydantic_core import to_jsonable_python

from askback.schema.size import exceeds_depth

MAX_LINE_DEPTH = 500
"""Levels of a line. A message has at most some 200, and Python reads this many in each of its versions."""

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class UnreadableLine(ValueError):
    """Not what the ledger writes; says what is wrong with it."""


def compact_json(value: object) -> bytes:
    """Compact, in the order it comes, and printable: whoever looks at the bytes on a terminal is not led astray."""
    text = _COMPACT.encode(value)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)
    return text.encode()


def canonical_json(value: object) -> bytes:
    """The same bytes for the same value, whoever wrote it: keys in order, nothing but ASCII."""
    return _CANONICAL.encode(to_plain(value)).encode()


def to_plain(value: object) -> Any:
    """Of what JSON can say; a number that it cannot is null."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=str)


def read_object(written: bytes) -> dict[str, Any]:
    """One object, and no name in it twice: two readers must not take it for two things."""
    try:
        found: object = json.loads(written.decode(), object_pairs_hook=_once_each, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UnreadableLine("it is no JSON") from error
    if exceeds_depth(found, MAX_LINE_DEPTH):
        raise UnreadableLine("it is nested too deeply")
    if not isinstance(found, dict):
        raise UnreadableLine("it is no JSON object")
    return cast("dict[str, Any]", found)


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if sign <= "\uffff" else json.dumps(sign)[1:-1]


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(constant)
