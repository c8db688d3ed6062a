"""Secrets and tokens in the store, sealed, under their owner and name. What is kept can be listed; values cannot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Literal, NamedTuple, cast

from pydantic_core import from_json, to_json

from askback.stores.protocol import Store
from askback.vault.sealing import KeyRing

Kind = Literal["secret", "connection"]

_SHELF = "askback/vault/"
"""Before every owner in the store, so that the vault's rows can be told from all others."""

_REJECTED = "askback/rejected/"
"""The same for reasons why something was rejected."""

REASON_KEPT = 86_400.0
"""Seconds for which it is remembered why something was rejected: who comes a day later has forgotten it too."""

MOST_REASON = 300
"""Characters of a reason that are shown."""


class Item(NamedTuple):
    """What somebody may have in the vault."""

    kind: Kind
    name: str

    @property
    def row(self) -> str:
        """Its name in the store."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Kept:
    """What is in the vault under one name. Without a `repr`: it holds the values."""

    values: Mapping[str, str]
    put_at: float
    until: float | None
    version: str
    """Tells it from what is put there later."""


class Note(NamedTuple):
    """That something is kept, and since when; never the value."""

    owner: str
    item: Item
    put_at: float
    until: float | None


class Vault:
    """The vault of one server, or of all workers that share its store and its keys."""

    def __init__(self, store: Store, ring: KeyRing, *, clock: Callable[[], float]) -> None:
        self.store, self._ring, self._clock = store, ring, clock

    async def get(self, owner: str, item: Item) -> Kept | None:
        """What this owner has under that name, if its time is not over."""
        row = await self.store.get(_SHELF + owner, item.row)
        if row is None:
            return None
        values, put_at, until, version = from_json(
            self._ring.open(row, owner=owner, name=item.row), cache_strings="none"
        )
        return Kept(values=values, put_at=put_at, until=until, version=version)

    async def put(
        self, owner: str, item: Item, values: Mapping[str, str], *, until: float | None = None
    ) -> None:
        """Keep it in place of what was there; for good where no time is given."""
        written = to_json([dict(values), self._clock(), until, token_hex(8)])
        await self._write(owner, item.row, written, until)
        await self.store.delete(_REJECTED + owner, item.row)

    async def forget(self, owner: str, item: Item, *, version: str | None = None) -> bool:
        """Whether there was something to forget. With a version, only that one: what came later stays."""
        if version is not None:
            kept = await self.get(owner, item)
            if kept is None or kept.version != version:
                return False
        return await self.store.delete(_SHELF + owner, item.row)

    async def reject(self, owner: str, item: Item, reason: str, *, version: str) -> None:
        """Forget it because it was wrong. The reason is shown when it is asked for again, without the value in it."""
        kept = await self.get(owner, item)
        if kept is None or not await self.forget(owner, item, version=version):
            return
        for value in filter(None, kept.values.values()):
            reason = reason.replace(value, "…")
        until = self._clock() + REASON_KEPT
        await self.store.put(_REJECTED + owner, item.row, reason[:MOST_REASON].encode(), until=until)

    async def why_rejected(self, owner: str, item: Item) -> str:
        """Why what was there before is no longer; empty if nobody said."""
        reason = await self.store.get(_REJECTED + owner, item.row)
        return "" if reason is None else reason.decode()

    async def notes(self, owner: str | None = None) -> list[Note]:
        """What is kept of one owner, or of all."""
        notes: list[Note] = []
        for whose, row in await self._rows(owner):
            kind, _, name = row.partition(":")
            item = Item(cast("Kind", kind), name)
            kept = await self.get(whose, item)
            if kept is not None:
                notes.append(Note(whose, item, kept.put_at, kept.until))
        return notes

    async def rotate(self) -> int:
        """Seal with the first key what was sealed with another; how many rows that were."""
        count = 0
        for owner, name in await self._rows(None):
            row = await self.store.get(_SHELF + owner, name)
            if row is None or self._ring.is_current(row):
                continue
            written = self._ring.open(row, owner=owner, name=name)
            await self._write(owner, name, written, from_json(written, cache_strings="none")[2])
            count += 1
        return count

    async def _write(self, owner: str, name: str, written: bytes, until: float | None) -> None:
        sealed = self._ring.seal(written, owner=owner, name=name)
        await self.store.put(_SHELF + owner, name, sealed, until=until)

    async def _rows(self, owner: str | None) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        after: tuple[str, str] | None = None
        while page := await self.store.rows(prefix=_SHELF + (owner or ""), after=after):
            found.extend((whose.removeprefix(_SHELF), name) for whose, name in page)
            after = page[-1]
        return [pair for pair in found if owner is None or pair[0] == owner]
