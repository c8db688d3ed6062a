"""The chain of a ledger: each line names its writer, counts up, holds the mac of the writer's previous line and is
sealed with its own mac. Each writer, which is one run of one process, has one chain. Pure: no store, no clock.

| in a line | holds |
|---|---|
| `w`, `n` | the writer, and the number of the line in the writer's chain, from 1 |
| `p` | the mac of the writer's previous line; empty in the first |
| `k` | the id of the key |
| `l` | the store's number of the last line of the writer's previous append; 0 in the first append |
| `b` | how many lines stand before it in its own append |
| `e`, `o` or `t` | an entry, the start of a writer, or a mark that old lines were trimmed |
| `m` | the mac of all these bytes |

Heads say where each chain ends, sealed, to be kept on another machine. Who has an earlier head notices when the end of
the ledger was cut off.
"""

import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter, ValidationError

from askback.errors import OperatorError
from askback.ledger.entries import LedgerEntry, read_entry
from askback.ledger.keys import (
    LedgerKey,
    LedgerKeyRing,
    UnreadableLine,
    canonical_json,
    compact_json,
    read_object,
)


class Head(NamedTuple):
    """The last line of one writer."""

    n: int
    mac: str
    number: int
    """In the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The heads of all writers in the store, at one time."""

    at: float
    last: int
    """The number of the store's last line."""
    key: str
    writers: Mapping[str, Head]
    mac: str

    def is_genuine(self, ring: LedgerKeyRing) -> bool:
        key = ring.find(self.key)
        if key is None:
            raise OperatorError(
                f"The head was made with the key {self.key}, which is not here. Put that key behind the others."
            )
        return hmac.compare_digest(key.seal_heads(_body(self)), self.mac)

    def to_json(self) -> str:
        """One line, for a file."""
        return json.dumps(asdict(self))


def seal_heads(writers: Mapping[str, Head], *, last: int, at: float, key: LedgerKey) -> Heads:
    """Make the heads of now."""
    unsealed = Heads(at=at, last=last, key=key.id, writers=dict(writers), mac="")
    return replace(unsealed, mac=key.seal_heads(_body(unsealed)))


def read_heads(written: str) -> Heads:
    """Read heads from the text of a file. `Ledger.verify(heads)` checks whether they are genuine."""
    try:
        return _HEADS.validate_json(written)
    except ValidationError as error:
        raise OperatorError(
            "This is not the head of a ledger. `askback ledger heads` prints one; keep it as it was printed."
        ) from error


def _body(heads: Heads) -> bytes:
    return canonical_json([heads.at, heads.last, heads.key, heads.writers])


_HEADS = TypeAdapter(Heads)


MAX_LINE_BYTES = 65_536

MAX_CHAINS_PER_MARK = 400
"""Chains in one trim mark: about forty kilobytes."""

MAX_WRONG_LINES = 20
"""Line numbers in a trim mark that did not verify when they were trimmed."""

Kind = Literal["entry", "opened", "trimmed"]

_LETTERS: dict[Kind, str] = {"entry": "e", "opened": "o", "trimmed": "t"}

_SEAL = re.compile(rb',"m":"([0-9a-f]{64})"\}\Z')
_SEAL_BYTES = 72

_TYPES: Mapping[str, type] = {"w": str, "n": int, "p": str, "k": str, "l": int, "b": int}

_KEY_ID = re.compile(r"[0-9a-f]{16}")

SealStatus = Literal["sealed", "changed", "renamed", "unnamed", "keyless"]
"""Sealed with a known key; the content does not fit the seal; sealed with a known key under the id of another; a key id
that no key can have; or sealed with an unknown key, so that nothing can be said."""


class LineRecord(NamedTuple):
    """The content of a line, without its place in a chain."""

    kind: Kind
    written: bytes
    """A JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip:
    """Where a writer's chain ends."""

    writer: str
    n: int = 0
    mac: str = ""
    number: int = 0
    """In the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """A line as it was found in the store. Only `Ledger.verify` tells whether it is genuine."""

    number: int
    raw: bytes
    writer: str
    n: int
    previous: str
    key: str
    last: int
    step: int
    mac: str
    kind: Kind
    record: Mapping[str, Any]

    @property
    def body(self) -> bytes:
        """The bytes that the mac covers."""
        return self.raw[:-_SEAL_BYTES] + b"}"

    @property
    def at(self) -> float | None:
        """When it was written, if it says so."""
        at = self.record.get("at")
        return at if isinstance(at, int | float) and not isinstance(at, bool) else None

    def entry(self) -> LedgerEntry | None:
        """The entry; None if the line is about the ledger itself. Raises `UnreadableLine` if this version cannot read
        it."""
        return read_entry(self.record) if self.kind == "entry" else None


class SeenLine(NamedTuple):
    """The last line of the store when a writer began."""

    number: int
    writer: str
    n: int
    mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimMark:
    """Lines below `before` were removed because of their age; each chain goes on behind its head in `cut`."""

    before: int
    cut: Mapping[str, Head]
    wrong: Sequence[int]
    """Removed lines that did not verify."""


def seal_records(tip: Tip, key: LedgerKey, records: Sequence[LineRecord]) -> tuple[list[bytes], Tip]:
    """The lines of one append, and the new end of the chain; its number comes from the store."""
    lines: list[bytes] = []
    n, mac = tip.n, tip.mac
    for step, record in enumerate(records):
        n += 1
        body = (
            f'{{"w":"{tip.writer}","n":{n},"p":"{mac}","k":"{key.id}","l":{tip.number},"b":{step},'
            f'"{_LETTERS[record.kind]}":'
        ).encode() + record.written
        mac = key.seal(body + b"}")
        lines.append(body + f',"m":"{mac}"}}'.encode())
    return lines, Tip(writer=tip.writer, n=n, mac=mac, number=tip.number)


def read_line(number: int, raw: bytes) -> LedgerLine:
    """The parts of a line; raises `UnreadableLine` if it does not have the form of a ledger's line."""
    if len(raw) > MAX_LINE_BYTES:
        raise UnreadableLine("it is too long")
    seal = _SEAL.search(raw)
    if seal is None:
        raise UnreadableLine("it has no seal")
    found = read_object(raw)
    kinds: list[Kind] = [kind for kind, letter in _LETTERS.items() if isinstance(found.get(letter), dict)]
    if len(kinds) != 1:
        raise UnreadableLine("it does not hold exactly one entry or mark")
    if not all(type(found.get(name)) is expected for name, expected in _TYPES.items()):
        raise UnreadableLine("it has no place in a chain")
    return LedgerLine(
        number=number,
        raw=raw,
        writer=found["w"],
        n=found["n"],
        previous=found["p"],
        key=found["k"],
        last=found["l"],
        step=found["b"],
        mac=seal[1].decode(),
        kind=kinds[0],
        record=found[_LETTERS[kinds[0]]],
    )


def judge_seal(line: LedgerLine, ring: LedgerKeyRing) -> SealStatus:
    """Check the seal of one line, and tell an unknown key from a forged key id as far as the line shows it."""
    key = ring.find(line.key)
    if key is not None:
        return "sealed" if hmac.compare_digest(key.seal(line.body), line.mac) else "changed"
    if not _KEY_ID.fullmatch(line.key):
        return "unnamed"
    named = f'"k":"{line.key}"'.encode()
    for known in ring:
        body = line.body.replace(named, f'"k":"{known.id}"'.encode(), 1)
        if hmac.compare_digest(known.seal(body), line.mac):
            return "renamed"
    return "keyless"


def opened_record(saw: LedgerLine | None, *, at: float) -> LineRecord:
    """The first line of a chain: it names the last line of the store."""
    last = None if saw is None else SeenLine(saw.number, saw.writer, saw.n, saw.mac)
    return LineRecord("opened", compact_json({"at": at, "saw": last}))


def trimmed_records(mark: TrimMark, *, at: float) -> Iterator[LineRecord]:
    """The mark, in as many lines as it needs."""
    chains = list(mark.cut.items())
    for start in range(0, len(chains), MAX_CHAINS_PER_MARK):
        cut = dict(chains[start : start + MAX_CHAINS_PER_MARK])
        wrong = [] if start else list(mark.wrong[:MAX_WRONG_LINES])
        yield LineRecord(
            "trimmed", compact_json({"at": at, "before": mark.before, "cut": cut, "wrong": wrong})
        )


def read_opened(line: LedgerLine) -> SeenLine | None:
    """The line that the writer saw when it began. Call it only for a verified line."""
    try:
        return _SEEN_LINE.validate_python(line.record.get("saw"))
    except ValidationError as error:
        raise UnreadableLine("it does not say what its writer saw") from error


def read_trimmed(line: LedgerLine) -> TrimMark:
    """The trim mark. Call it only for a verified line, because a mark explains why lines are missing."""
    try:
        return _TRIM_MARK.validate_python(line.record)
    except ValidationError as error:
        raise UnreadableLine("it does not say what was trimmed") from error


_SEEN_LINE: TypeAdapter[SeenLine | None] = TypeAdapter(SeenLine | None)
_TRIM_MARK = TypeAdapter(TrimMark)
