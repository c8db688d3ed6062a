"""Secrets and tokens in the store, sealed, under the server that asked, their owner and name. What is kept can be
listed; values cannot."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Literal, NamedTuple, cast
from urllib.parse import quote, quote_plus, unquote

from pydantic_core import from_json, to_json

from askback.errors import VaultUnavailable
from askback.model.store import Store
from askback.vault.keyring import KeyRing

Kind = Literal["secret", "connection"]

_SHELF = "askback/vault/"
"""Before every owner in the store, so that the vault's rows can be told from all others."""

_REJECTED = "askback/rejected/"
"""The same for reasons why something was rejected."""

REASON_KEPT = 86_400.0
"""Seconds for which it is remembered why something was rejected: who comes a day later has forgotten it too."""

MAX_REASON_LENGTH = 300
"""Characters of a reason that are shown."""


class VaultItem(NamedTuple):
    """What somebody may have in the vault."""

    kind: Kind
    name: str

    @property
    def row(self) -> str:
        """Its name in the store."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VaultEntry:
    """What is in the vault under one name. Without a `repr`: it holds the values."""

    values: Mapping[str, str]
    put_at: float
    until: float | None
    version: str
    """Tells it from what is put there later."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProvisionalEntry:
    """What was put there until it is known whether it may stay, and what was there before it."""

    version: str
    former: VaultEntry | None


class ItemSummary(NamedTuple):
    """That something is kept, and since when; never the value."""

    server: str
    owner: str
    item: VaultItem
    put_at: float | None
    """None where no key of the ring opens it."""
    until: float | None


class RotationResult(NamedTuple):
    """What came of sealing everything with the first key."""

    sealed: int
    """Rows that were sealed with another key before."""
    unopened: int
    """Rows that no key of the ring opens; they are as they were."""


class Vault:
    """All that is kept in one store with one ring of keys. A server sees its own room of it: what somebody typed for
    one server is not for another, even where the names are the same."""

    def __init__(self, store: Store, ring: KeyRing, *, clock: Callable[[], float] = time.time) -> None:
        self.store, self.clock, self._ring = store, clock, ring
        self._server = ""
        self._sees = _SHELF

    def for_server(self, server: str) -> "Vault":
        """The same for one server, and for all workers that go by its name."""
        room = Vault(self.store, self._ring, clock=self.clock)
        room._server, room._sees = server, _SHELF + _room(server)
        return room

    async def get(self, owner: str, item: VaultItem) -> VaultEntry | None:
        """What this owner has under that name, if its time is not over."""
        whose = self._whose(owner)
        row = await self.store.get(_SHELF + whose, item.row)
        kept = None if row is None else self._read(whose, item.row, row)
        # The store forgets in time too; what the seal says nobody can change who writes to the store.
        return None if kept is None or self._is_over(kept) else kept

    async def put(
        self, owner: str, item: VaultItem, values: Mapping[str, str], *, until: float | None = None
    ) -> str:
        """Keep it in place of what was there; for good where no time is given. Gives its version."""
        whose, version = self._whose(owner), token_hex(8)
        row = self._sealed(whose, item, values, until, version)
        await self.store.put(_SHELF + whose, item.row, row, until=until)
        await self.store.delete(_REJECTED + whose, item.row)
        return version

    async def put_for_now(
        self, owner: str, item: VaultItem, values: Mapping[str, str], *, until: float | None = None
    ) -> ProvisionalEntry:
        """Like `put`, for whoever may have to take it back."""
        try:
            former = await self.get(owner, item)
        except VaultUnavailable:  # nobody could use it, so nobody misses it
            former = None
        return ProvisionalEntry(version=await self.put(owner, item, values, until=until), former=former)

    async def take_back(self, owner: str, item: VaultItem, put: ProvisionalEntry) -> bool:
        """Have what was there before instead, for the rest of its time; False where something else came since."""
        former = put.former
        if former is None or self._is_over(former):
            return await self.forget(owner, item, version=put.version)
        whose = self._whose(owner)
        row = await self._row(whose, item, put.version)
        if row is None:
            return False
        # Under a version of its own: what was begun with the former one came to nothing while it was away.
        anew = self._sealed(whose, item, former.values, former.until, token_hex(8), put_at=former.put_at)
        return await self.store.replace(_SHELF + whose, item.row, row, anew, until=former.until)

    async def replace(self, owner: str, item: VaultItem, values: Mapping[str, str], *, version: str) -> bool:
        """Keep it for good in place of that version; False, with nothing changed, where that is no longer there."""
        whose = self._whose(owner)
        row = await self._row(whose, item, version)
        if row is None:
            return False
        anew = self._sealed(whose, item, values, None, token_hex(8))
        return await self.store.replace(_SHELF + whose, item.row, row, anew)

    async def forget(self, owner: str, item: VaultItem, *, version: str | None = None) -> bool:
        """Whether there was something to forget. With a version, only that one: what came later stays."""
        whose = self._whose(owner)
        if version is None:
            return await self.store.delete(_SHELF + whose, item.row)
        row = await self._row(whose, item, version)
        return row is not None and await self.store.replace(_SHELF + whose, item.row, row, None)

    async def reject(self, owner: str, item: VaultItem, reason: str, *, version: str) -> None:
        """Forget it because it was wrong. The reason is shown when it is asked for again, without the value in it."""
        kept = await self.get(owner, item)
        if kept is None or not await self.forget(owner, item, version=version):
            return
        whose = self._whose(owner)
        told = redact(reason, kept.values.values())[:MAX_REASON_LENGTH].encode("utf-8", "replace")
        sealed = self._ring.seal(told, owner=whose, name=_REJECTED + item.row)
        await self.store.put(_REJECTED + whose, item.row, sealed, until=self.clock() + REASON_KEPT)

    async def rejection_reason(self, owner: str, item: VaultItem) -> str:
        """Why what was there before is no longer; empty if nobody said."""
        whose = self._whose(owner)
        row = await self.store.get(_REJECTED + whose, item.row)
        try:
            return (
                "" if row is None else self._ring.open(row, owner=whose, name=_REJECTED + item.row).decode()
            )
        except VaultUnavailable:  # its key was taken off since; nobody should wait for a reason
            return ""

    async def list_items(self, owner: str | None = None) -> list[ItemSummary]:
        """What is kept here, of one owner or of all; also what does not open, so that it can be forgotten."""
        notes: list[ItemSummary] = []
        for whose, name in await self._rows(owner):
            row = await self.store.get(_SHELF + whose, name)
            if row is not None:
                notes.append(self._note(whose, name, row))
        return notes

    async def rotate(self) -> RotationResult:
        """Seal with the first key what was sealed with another. Servers may go on meanwhile: what one of them puts or
        forgets stands."""
        sealed = unopened = 0
        for whose, name in await self._rows():
            row = await self.store.get(_SHELF + whose, name)
            if row is None or self._ring.is_current(row):
                continue
            try:
                written = self._ring.open(row, owner=whose, name=name)
            except VaultUnavailable:
                unopened += 1
                continue
            anew, until = self._ring.seal(written, owner=whose, name=name), _kept(written).until
            sealed += await self.store.replace(_SHELF + whose, name, row, anew, until=until)
        return RotationResult(sealed, unopened)

    def _whose(self, owner: str) -> str:
        """The owner as the store and the seal know them: in the room of one server."""
        return f"{_room(self._server)}{owner}"

    async def _row(self, whose: str, item: VaultItem, version: str) -> bytes | None:
        """As the store has it, if it is of that version."""
        row = await self.store.get(_SHELF + whose, item.row)
        return row if row is not None and self._read(whose, item.row, row).version == version else None

    def _is_over(self, kept: VaultEntry) -> bool:
        return kept.until is not None and kept.until <= self.clock()

    def _sealed(
        self,
        whose: str,
        item: VaultItem,
        values: Mapping[str, str],
        until: float | None,
        version: str,
        *,
        put_at: float | None = None,
    ) -> bytes:
        since = self.clock() if put_at is None else put_at
        written = to_json([dict(values), since, until, version])
        return self._ring.seal(written, owner=whose, name=item.row)

    def _read(self, whose: str, name: str, row: bytes) -> VaultEntry:
        return _kept(self._ring.open(row, owner=whose, name=name))

    def _note(self, whose: str, name: str, row: bytes) -> ItemSummary:
        room, owner = _room_and_owner(whose)
        kind, _, called = name.partition(":")
        server, item = unquote(room), VaultItem(cast("Kind", kind), called)
        try:
            kept = self._read(whose, name, row)
        except VaultUnavailable:
            return ItemSummary(server, owner, item, None, None)
        return ItemSummary(server, owner, item, kept.put_at, kept.until)

    async def _rows(self, owner: str | None = None) -> list[tuple[str, str]]:
        """Of one owner or of all; nothing of anybody else's is opened on the way."""
        found: list[tuple[str, str]] = []
        after: tuple[str, str] | None = None
        prefix = self._sees + (owner if owner is not None and self._server else "")
        while page := await self.store.rows(prefix=prefix, after=after):
            found.extend((whose.removeprefix(_SHELF), name) for whose, name in page)
            after = page[-1]
        return [row for row in found if owner is None or _room_and_owner(row[0])[1] == owner]


def _room(server: str) -> str:
    return quote(server, safe="") + "/"


def _room_and_owner(whose: str) -> tuple[str, str]:
    room, _, owner = whose.partition("/")
    return room, owner


def _kept(written: bytes) -> VaultEntry:
    # Strings that were read often are cached, and would outlive their secret.
    values, put_at, until, version = from_json(written, cache_strings="none")
    return VaultEntry(values=values, put_at=put_at, until=until, version=version)


def redact(text: str, values: Iterable[str]) -> str:
    """The text with every value in it covered, also as addresses spell it; the longest first, since one may hold
    another."""
    spelled = {
        way(value) for value in values if value for way in (str, quote, quote_plus, partial(quote, safe=""))
    }
    for value in sorted(spelled, key=len, reverse=True):
        text = text.replace(value, "…")
    return text
