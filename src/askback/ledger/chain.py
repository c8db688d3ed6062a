"""The chain: each line names its writer, counts up, carries the mac of the line before and is sealed with its own. One
chain for each writer, which is one run of one process. Pure: knows no store, no clock and no chance.

| in a line | holds |
|---|---|
| `w`, `n` | its writer, and which line of theirs it is, from 1 |
| `p` | the mac of the writer's line before; empty in the first |
| `k` | the id of the key |
| `l` | the store's number of the last line that the writer wrote in the append before; 0 in the first append |
| `b` | how many lines stand before it in its own append |
| `e`, `o` or `t` | an entry; or that the writer has opened its chain, or that old lines were trimmed |
| `m` | the mac of all these bytes |
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from askback.ledger.codec import UnreadableLine, read_object
from askback.ledger.entries import LedgerEntry, read_entry
from askback.ledger.keys import LedgerKey

MAX_LINE_BYTES = 65_536
"""Bytes of a line."""

Kind = Literal["entry", "opened", "trimmed"]

_LETTERS: dict[Kind, str] = {"entry": "e", "opened": "o", "trimmed": "t"}

_SEAL = re.compile(rb',"m":"([0-9a-f]{64})"\}\Z')
_SEAL_BYTES = 72

_TYPES: Mapping[str, type] = {"w": str, "n": int, "p": str, "k": str, "l": int, "b": int}


class LineRecord(NamedTuple):
    """What is to stand in a line."""

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
    """A line as it was found in the store. Whether it is one of ours, `verify` tells."""

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
        """What the mac is of."""
        return self.raw[:-_SEAL_BYTES] + b"}"

    @property
    def at(self) -> float | None:
        """When it was written, if it says so."""
        at = self.record.get("at")
        return at if isinstance(at, int | float) and not isinstance(at, bool) else None

    def entry(self) -> LedgerEntry | None:
        """None where it is about the ledger itself; raises `Unreadable` where a newer Askback may have written it."""
        return read_entry(self.record) if self.kind == "entry" else None


def seal_records(tip: Tip, key: LedgerKey, records: Sequence[LineRecord]) -> tuple[list[bytes], Tip]:
    """The lines of one append, and where the chain ends then, but for the number that only the store knows."""
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
    """Raises `Unreadable` where it does not even look like one of ours."""
    if len(raw) > MAX_LINE_BYTES:
        raise UnreadableLine("it is too long")
    seal = _SEAL.search(raw)
    if seal is None:
        raise UnreadableLine("it has no seal")
    found = read_object(raw)
    holds: list[Kind] = [kind for kind in _LETTERS if isinstance(found.get(_LETTERS[kind]), dict)]
    if len(holds) != 1:
        raise UnreadableLine("it holds nothing that a line of the ledger does")
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
        kind=holds[0],
        record=found[_LETTERS[holds[0]]],
    )
