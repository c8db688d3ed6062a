"""Reads lines from a store: all, the last, those of one call. It does not check whether they are genuine."""

from collections.abc import AsyncGenerator

from askback.ledger.chain import LedgerLine, read_line
from askback.ledger.entries import LedgerEntry
from askback.ledger.keys import UnreadableLine
from askback.model.store import Store

PAGE = 500
"""Lines of one read: some hundred kilobytes."""

REPEATED = frozenset({"asked", "shown", "answered", "expired", "settled", "spent", "guarded"})
"""Events that a worker records again when it takes over a round, or a call when it learns how a visit ended. A refusal
is never such a copy."""


def as_bytes(found: object) -> bytes:
    """A line as bytes, also if somebody else wrote another type to the store."""
    return bytes(found) if isinstance(found, bytes | bytearray) else str(found).encode("utf-8", "replace")


async def read_numbered(store: Store, *, after: int = 0) -> AsyncGenerator[tuple[int, bytes]]:
    """All lines after this number, also those that are added while reading."""
    while page := await store.read(after=after, limit=PAGE):
        for number, raw in page:
            yield number, as_bytes(raw)
        after = page[-1][0]


async def read_lines(store: Store, *, after: int = 0) -> AsyncGenerator[LedgerLine]:
    """All readable lines after this number; `Ledger.verify` reports the others."""
    async for number, raw in read_numbered(store, after=after):
        try:
            yield read_line(number, raw)
        except UnreadableLine:
            continue


async def last_line(store: Store, *, near: int = 1) -> tuple[int, bytes] | None:
    """The last line, searched for from a number that is near it, because a store can only read forward."""
    page = await store.read(after=near - 1, limit=1)
    if not page:
        return await last_line(store) if near > 1 else None
    found, step = page[0], 1
    while page := await store.read(after=found[0] + step - 1, limit=1):
        found, step = page[0], step * 2
    upper = found[0] + step - 1
    while found[0] < upper:
        middle = (found[0] + upper) // 2
        if page := await store.read(after=middle, limit=1):
            found = page[0]
        else:
            upper = middle
    return found


async def calls_of(store: Store, name: str) -> set[str]:
    """The calls whose id, or the id of one of whose questions, begins so."""
    found: set[str] = set()
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is not None and (entry.call.startswith(name) or (entry.question or "").startswith(name)):
            found.add(entry.call)
    return found


async def read_call(store: Store, call: str) -> list[tuple[LedgerLine, LedgerEntry]]:
    """The entries of one call in order, without copies."""
    story: list[tuple[LedgerLine, LedgerEntry]] = []
    seen: set[object] = set()
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is None or entry.call != call:
            continue
        said = (entry.action, entry.digest, entry.reason, entry.word)
        copied = (entry.event, entry.place, entry.question, *said)
        identity = copied if entry.event in REPEATED else line.raw
        if identity not in seen:
            seen.add(identity)
            story.append((line, entry))
    return story


def entry_of(line: LedgerLine) -> LedgerEntry | None:
    """The entry of a line; None if it has none, or one that this version cannot read."""
    try:
        return line.entry()
    except UnreadableLine:
        return None
