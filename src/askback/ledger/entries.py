"""What is recorded: one entry for each thing that happened to a question, and how it is written down. Knows neither
the chain that holds the entries nor where they are kept."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from math import isfinite
from typing import Any, Literal, TypeAlias

from askback.ledger.codec import UnreadableLine, compact_json, to_plain

Event = Literal["asked", "shown", "answered", "refused", "expired", "settled", "spent", "guarded"]

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """Whatever is None is not known, or does not apply, and is not written down."""

    event: Event
    at: float
    """Seconds since 1970, by the server's clock."""
    server: str
    call: str
    """The conversation's id: the same for all that happens in one call."""
    kind: str | None = None
    """`tool`, `prompt` or `resource`."""
    target: str | None = None
    """Its name or URI."""
    arguments: str | None = None
    """SHA-256 of the arguments in canonical JSON."""
    caller: str | None = None
    client: str | None = None
    """How the caller's client calls itself, with its version; it could call itself anything."""
    revision: str | None = None
    channel: str | None = None
    """`form`, `page`, `desk`, `terminal`, `policy`, `script` or `link`."""
    question: str | None = None
    """The question's id."""
    place: str | None = None
    """The key of the question or effect in the body."""
    message: str | None = None
    """The exact text."""
    asks: Mapping[str, Any] | None = None
    """The form's schema as it was sent, or the link's address without its id. What was filled in beforehand is there
    only where the answer would be."""
    action: str | None = None
    """`accept`, `decline` or `cancel`."""
    digest: str | None = None
    """Of the answer, keyed, so that a short one cannot be guessed: see `Ledger.digest_of`."""
    word: str | None = None
    """On whose word the answer stands: `client`, `page`, `policy` or `server`."""
    rule: str | None = None
    """Which rule of a policy answered."""
    answer: JSON = None
    """Word for word, only where `Ledger(answers=...)` names the target."""
    reason: str | None = None
    facts: Mapping[str, Any] | None = None
    """What a guard knew when it asked: personal columns, cost, writes, digests; nothing that was answered."""
    cut: Mapping[str, Any] | None = None
    """By field, what was too long for a line: how many bytes it had in JSON, and their SHA-256."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields that a newer Askback wrote and this one does not know."""


MAX_FIELD_BYTES: Mapping[str, int] = {
    "message": 30_100,
    "asks": 14_000,
    "answer": 6_000,
    "more": 1_500,
    "facts": 14_000,
}
"""Bytes in JSON: room for ten thousand letters of any script, which is what our servers let an author write. Facts have
the room that a form leaves: a guard's line has none."""

MAX_TEXT_BYTES = 500
"""Bytes of every other text. With these a line stays below 64 KiB, whatever is in it."""

_OWN = tuple(one.name for one in fields(LedgerEntry) if one.name not in {"cut", "more"})
_MUST: Mapping[str, type] = {"event": str, "server": str, "call": str}
_MAY: Mapping[str, type] = {
    **dict.fromkeys((name for name in _OWN if name not in {*_MUST, "at", "answer"}), str),
    "asks": dict,
    "facts": dict,
    "cut": dict,
}


def encode_entry(entry: LedgerEntry) -> bytes:
    """As it stands in a line, fields in their order; what is too long is cut, and marked with the whole's digest."""
    record: dict[str, Any] = {"event": entry.event, "at": entry.at}
    cut = dict(entry.cut or {})
    for name in _OWN:
        value: Any = getattr(entry, name)
        if value is not None and name not in record:
            kept = _fitted(name, value, cut, taken=_taken(name, record))
            if kept is not None:
                record[name] = kept
    more: Mapping[str, Any] = (entry.more and _fitted("more", entry.more, cut)) or {}
    return compact_json({**record, **({"cut": cut} if cut else {}), **more})


def read_entry(record: Mapping[str, Any]) -> LedgerEntry:
    """Strict in its types. A name that this version does not know is kept, and so is an event."""
    at = record.get("at")
    if isinstance(at, bool) or not isinstance(at, int | float) or not isfinite(at):
        raise UnreadableLine("it has no time")
    _require(record, _MUST, optional=False)
    _require(record, _MAY, optional=True)
    known = {name: value for name, value in record.items() if name in _OWN or name == "cut"}
    more = {name: value for name, value in record.items() if name not in known}
    return LedgerEntry(**known, more=more)


def _require(record: Mapping[str, Any], kinds: Mapping[str, type], *, optional: bool) -> None:
    for name, kind in kinds.items():
        if not (optional and name not in record) and not isinstance(record.get(name), kind):
            raise UnreadableLine(f"its {name} is none")


def _taken(name: str, record: Mapping[str, Any]) -> int:
    """Bytes of its room that are not there for it."""
    return len(compact_json(record["asks"])) if name == "facts" and "asks" in record else 0


def _fitted(name: str, value: Any, cut: dict[str, Any], *, taken: int = 0) -> Any:
    """The value, or as much of it as there is room for: the beginning of a text, the first of a guard's facts, and
    nothing of anything else."""
    most = MAX_FIELD_BYTES.get(name, MAX_TEXT_BYTES) - taken
    if not isinstance(value, str):
        value = to_plain(value)
    elif len(value) * (2 if value.isascii() and value.isprintable() else 12) + 2 <= most:
        return value  # no letter takes more bytes
    whole = compact_json(value)
    if len(whole) <= most:
        return value
    cut[name] = {"bytes": len(whole), "sha256": sha256(whole).hexdigest()}
    if isinstance(value, str):
        return _beginning(value[:most], most)
    return _first(value, most) if name == "facts" else None


def _first(facts: Mapping[str, Any], most: int) -> dict[str, Any] | None:
    """As many as fit, in the order they come: whoever writes them puts first what matters."""
    kept: dict[str, Any] = {}
    size = 1
    for name, fact in facts.items():
        size += len(compact_json({name: fact})) - 1  # one pair of braces, and a comma between two
        if size > most:
            break
        kept[name] = fact
    return kept or None


def _beginning(text: str, most: int) -> str:
    """As many letters as fit."""
    sizes = range(1, len(text) + 1)
    return text[: bisect_right(sizes, most, key=lambda length: len(compact_json(text[:length])))]
