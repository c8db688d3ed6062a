"""Lines as they come out of a store: all, the last, those of one call. Whether they are genuine is not asked here."""

from collections.abc import AsyncGenerator

from askback.ledger.chain import LedgerLine, read_line
from askback.ledger.codec import UnreadableLine
from askback.ledger.entries import LedgerEntry
from askback.model.store import Store

PAGE = 500
"""Lines that are read at once: some hundred kilobytes."""

REPEATED = frozenset({"asked", "shown", "answered", "expired", "settled", "spent", "guarded"})
"""Events that are recorded again by a worker that takes a round over, or by a call that takes up how a visit ended. A
refusal each time is one more."""


def as_bytes(found: object) -> bytes:
    """A line, whatever a store has in its place that somebody else wrote to."""
    return bytes(found) if isinstance(found, bytes | bytearray) else str(found).encode("utf-8", "replace")


async def read_numbered(store: Store, *, after: int = 0) -> AsyncGenerator[tuple[int, bytes]]:
    """Everything behind that number, also what came meanwhile."""
    while page := await store.read(after=after, limit=PAGE):
        for number, raw in page:
            yield number, as_bytes(raw)
        after = page[-1][0]


async def read_lines(store: Store, *, after: int = 0) -> AsyncGenerator[LedgerLine]:
    """The same, without what is no line of a ledger; `verify` names that."""
    async for number, raw in read_numbered(store, after=after):
        try:
            yield read_line(number, raw)
        except UnreadableLine:
            continue


async def last_line(store: Store, *, near: int = 1) -> tuple[int, bytes] | None:
    """The last there is, looked for from a number that is known to be near: a store tells only what comes next."""
    page = await store.read(after=near - 1, limit=1)
    if not page:
        return await last_line(store) if near > 1 else None
    found, step = page[0], 1
    while page := await store.read(after=found[0] + step - 1, limit=1):
        found, step = page[0], step * 2
    nothing_behind = found[0] + step - 1
    while found[0] < nothing_behind:
        middle = (found[0] + nothing_behind) // 2
        if page := await store.read(after=middle, limit=1):
            found = page[0]
        else:
            nothing_behind = middle
    return found


async def calls_of(store: Store, name: str) -> set[str]:
    """The calls that are meant by an id, or the beginning of one: their own, or one of their questions'."""
    found: set[str] = set()
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is not None and (entry.call.startswith(name) or (entry.question or "").startswith(name)):
            found.add(entry.call)
    return found


async def read_call(store: Store, call: str) -> list[tuple[LedgerLine, LedgerEntry]]:
    """What happened in one call, in order, and what was written twice once."""
    told: list[tuple[LedgerLine, LedgerEntry]] = []
    seen: set[object] = set()
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is None or entry.call != call:
            continue
        sign = _sign(entry) if entry.event in REPEATED else line.raw
        if sign not in seen:
            seen.add(sign)
            told.append((line, entry))
    return told


def _sign(entry: LedgerEntry) -> tuple[object, ...]:
    """The same whoever recorded it, and when."""
    said = (entry.action, entry.digest, entry.reason, entry.word)
    return (entry.event, entry.place, entry.question, *said)


def entry_of(line: LedgerLine) -> LedgerEntry | None:
    """None also where this version cannot read it."""
    try:
        return line.entry()
    except UnreadableLine:
        return None
