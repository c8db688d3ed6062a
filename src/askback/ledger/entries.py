"""Entries of the ledger: one for each event of a question, and how an entry is written and read. Knows nothing of the
chain that holds the entries."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from math import isfinite
from typing import Any, TypeAlias

from askback.ledger.keys import UnreadableLine, compact_json, to_plain
from askback.model.events import Event

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One recorded event. A field that is None is unknown or does not apply, and is not written."""

    event: Event
    at: float
    """Seconds since 1970, by the server's clock."""
    server: str
    call: str
    """The id of the conversation, equal for all events of one call."""
    kind: str | None = None
    """`tool`, `prompt` or `resource`."""
    target: str | None = None
    """The name of the tool or prompt, or the URI of the resource."""
    arguments: str | None = None
    """SHA-256 of the arguments in canonical JSON."""
    caller: str | None = None
    client: str | None = None
    """Name and version of the client, as the client itself gives them."""
    revision: str | None = None
    channel: str | None = None
    """`form`, `page`, `desk`, `terminal`, `policy`, `script` or `link`."""
    question: str | None = None
    """The question's id."""
    place: str | None = None
    """The key of the question or effect in the body."""
    message: str | None = None
    """The exact text of the question."""
    asks: Mapping[str, Any] | None = None
    """The form's schema as it was sent, or the link's address without its id. Prefilled values are included only if
    answers are kept for this target."""
    action: str | None = None
    """`accept`, `decline` or `cancel`."""
    digest: str | None = None
    """A keyed digest of the answer, so that a short answer cannot be guessed: see `Ledger.digest_of`."""
    word: str | None = None
    """On whose word the answer stands: `client`, `page`, `policy` or `server`."""
    rule: str | None = None
    """The rule of a policy that answered."""
    answer: JSON = None
    """The answer itself, only if `Ledger(answers=...)` names the target."""
    reason: str | None = None
    facts: Mapping[str, Any] | None = None
    """What a guard knew when it asked: personal columns, cost, writes, digests; never the answer."""
    cut: Mapping[str, Any] | None = None
    """For each field that was too long for a line: its bytes in JSON, and their SHA-256."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields that a newer version of Askback wrote."""


MAX_FIELD_BYTES: Mapping[str, int] = {
    "message": 30_100,
    "asks": 14_000,
    "answer": 6_000,
    "more": 1_500,
    "facts": 14_000,
}
"""Bytes in JSON. A message has room for ten thousand letters of any script, the limit for authors. Facts and a form
share their room: a guard's line has no form."""

MAX_TEXT_BYTES = 500
"""Bytes of every other text. With these limits a line always stays below 64 KiB."""

_OWN = tuple(one.name for one in fields(LedgerEntry) if one.name not in {"cut", "more"})
_MUST: Mapping[str, type] = {"event": str, "server": str, "call": str}
_MAY: Mapping[str, type] = {
    **dict.fromkeys((name for name in _OWN if name not in {*_MUST, "at", "answer"}), str),
    "asks": dict,
    "facts": dict,
    "cut": dict,
}


def encode_entry(entry: LedgerEntry) -> bytes:
    """The entry as JSON. A value that is too long is cut, and its digest is recorded in `cut`."""
    record: dict[str, Any] = {"event": entry.event, "at": entry.at}
    cut = dict(entry.cut or {})
    for name in _OWN:
        value: Any = getattr(entry, name)
        if value is not None and name not in record:
            taken = len(compact_json(record["asks"])) if name == "facts" and "asks" in record else 0
            kept = _fit(name, value, cut, taken=taken)
            if kept is not None:
                record[name] = kept
    more: Mapping[str, Any] = (entry.more and _fit("more", entry.more, cut)) or {}
    return compact_json({**record, **({"cut": cut} if cut else {}), **more})


def read_entry(record: Mapping[str, Any]) -> LedgerEntry:
    """Read an entry and check the types of its fields. Unknown fields and events are kept."""
    at = record.get("at")
    if isinstance(at, bool) or not isinstance(at, int | float) or not isfinite(at):
        raise UnreadableLine("it has no time")
    _require(record, _MUST, optional=False)
    _require(record, _MAY, optional=True)
    known = {name: value for name, value in record.items() if name in _OWN or name == "cut"}
    return LedgerEntry(**known, more={name: value for name, value in record.items() if name not in known})


def _require(record: Mapping[str, Any], kinds: Mapping[str, type], *, optional: bool) -> None:
    for name, kind in kinds.items():
        if not (optional and name not in record) and not isinstance(record.get(name), kind):
            raise UnreadableLine(f"its {name} is missing or of a wrong type")


def _fit(name: str, value: Any, cut: dict[str, Any], *, taken: int = 0) -> Any:
    """The value if there is room for it. Otherwise the beginning of a text, the first of a guard's facts, or None."""
    room = MAX_FIELD_BYTES.get(name, MAX_TEXT_BYTES) - taken
    if not isinstance(value, str):
        value = to_plain(value)
    elif len(value) * (2 if value.isascii() and value.isprintable() else 12) + 2 <= room:
        return value  # no character takes more bytes
    whole = compact_json(value)
    if len(whole) <= room:
        return value
    cut[name] = {"bytes": len(whole), "sha256": sha256(whole).hexdigest()}
    if isinstance(value, str):
        return _cut_text(value[:room], room)
    return _cut_facts(value, room) if name == "facts" else None


def _cut_facts(facts: Mapping[str, Any], room: int) -> dict[str, Any] | None:
    """As many facts as fit; a guard writes the important ones first."""
    kept: dict[str, Any] = {}
    size = 1
    for name, fact in facts.items():
        size += len(compact_json({name: fact})) - 1  # one pair of braces, and a comma between two
        if size > room:
            break
        kept[name] = fact
    return kept or None


def _cut_text(text: str, room: int) -> str:
    sizes = range(1, len(text) + 1)
    return text[: bisect_right(sizes, room, key=lambda length: len(compact_json(text[:length])))]
