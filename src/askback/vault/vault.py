"""Secrets and tokens in the store: encrypted, and kept by server, owner and name. What is stored can be listed; values
cannot."""

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

VALUES_PREFIX, REASONS_PREFIX = "askback/vault/", "askback/rejected/"
"""Before every owner in the store: for values, and for the reasons why values were rejected."""

REASON_KEPT = 86_400.0
"""Seconds for which the reason of a rejection is kept: a person who comes back later no longer needs it."""

MAX_REASON_LENGTH = 300
"""Characters of a reason that are shown."""


class VaultItem(NamedTuple):
    """What an owner may have in the vault."""

    kind: Kind
    name: str

    @property
    def row(self) -> str:
        """Its name in the store."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VaultEntry:
    """What the vault holds under one name. It has no `repr`, because it holds the values."""

    values: Mapping[str, str]
    put_at: float
    until: float | None
    version: str
    """Tells it from what is put there later."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProvisionalEntry:
    """What was put before it is known whether it may stay, and what was there before it."""

    version: str
    former: VaultEntry | None


class ItemSummary(NamedTuple):
    """What is stored, and since when; never the value."""

    server: str
    owner: str
    item: VaultItem
    put_at: float | None
    """None if no key of the ring opens it."""
    until: float | None


class RotationResult(NamedTuple):
    """How many rows were sealed with the first key, and how many were not."""

    sealed: int
    """Rows that were sealed with another key before."""
    unopened: int
    """Rows that no key of the ring opens; they are unchanged."""


class Vault:
    """Everything that one store holds under one ring of keys. Each server sees its own part of it: a secret that was
    typed for one server is not for another, even under the same name."""

    def __init__(
        self,
        store: Store,
        ring: KeyRing,
        *,
        clock: Callable[[], float] = time.time,
        server: str | None = None,
    ) -> None:
        """Without a server, owners are found in the parts of all servers."""
        self.store, self.clock, self._ring = store, clock, ring
        self._is_whole, self._part = server is None, quote(server or "", safe="") + "/"

    def for_server(self, server: str) -> "Vault":
        """The part of one server, which all workers of this name share."""
        return Vault(self.store, self._ring, clock=self.clock, server=server)

    async def get(self, owner: str, item: VaultItem) -> VaultEntry | None:
        """What this owner has under that name, unless it has expired."""
        row = await self.store.get(VALUES_PREFIX + self._part + owner, item.row)
        entry = None if row is None else self._open(self._part + owner, item.row, row)
        # The store drops expired rows too, but only the sealed time is safe from someone who writes to the store.
        return None if entry is None or self._is_over(entry) else entry

    async def put(
        self, owner: str, item: VaultItem, values: Mapping[str, str], *, until: float | None = None
    ) -> str:
        """Store it in place of what was there, for good if no time is given. Returns its version."""
        version = token_hex(8)
        row = self._seal(owner, item, values, until=until, version=version)
        await self.store.put(VALUES_PREFIX + self._part + owner, item.row, row, until=until)
        await self.store.delete(REASONS_PREFIX + self._part + owner, item.row)
        return version

    async def put_for_now(
        self, owner: str, item: VaultItem, values: Mapping[str, str], *, until: float | None = None
    ) -> ProvisionalEntry:
        """Like `put`, for a caller who may have to take it back."""
        try:
            former = await self.get(owner, item)
        except VaultUnavailable:  # no key opens it, so nobody can miss it
            former = None
        return ProvisionalEntry(version=await self.put(owner, item, values, until=until), former=former)

    async def take_back(self, owner: str, item: VaultItem, put: ProvisionalEntry) -> bool:
        """Restore what was there before, for the rest of its time. False if something else was put since."""
        former = put.former
        if former is None or self._is_over(former):
            return await self.forget(owner, item, version=put.version)
        # It gets a new version: a refresh that began with the former one has failed while it was away.
        row = self._seal(owner, item, former.values, until=former.until, put_at=former.put_at)
        return await self._swap(owner, item, put.version, row, until=former.until)

    async def replace(self, owner: str, item: VaultItem, values: Mapping[str, str], *, version: str) -> bool:
        """Store it for good in place of that version. False, with nothing changed, if another one is there."""
        return await self._swap(owner, item, version, self._seal(owner, item, values))

    async def forget(self, owner: str, item: VaultItem, *, version: str | None = None) -> bool:
        """Whether there was something to delete. With a version, only that one is deleted."""
        if version is None:
            return await self.store.delete(VALUES_PREFIX + self._part + owner, item.row)
        return await self._swap(owner, item, version, None)

    async def reject(self, owner: str, item: VaultItem, reason: str, *, version: str) -> None:
        """Delete a value that was wrong. The reason, without the value in it, is shown when it is asked for again."""
        entry = await self.get(owner, item)
        if entry is None or not await self.forget(owner, item, version=version):
            return
        text = redact(reason, entry.values.values())[:MAX_REASON_LENGTH].encode("utf-8", "replace")
        sealed = self._ring.seal(text, owner=self._part + owner, name=REASONS_PREFIX + item.row)
        until = self.clock() + REASON_KEPT
        await self.store.put(REASONS_PREFIX + self._part + owner, item.row, sealed, until=until)

    async def rejection_reason(self, owner: str, item: VaultItem) -> str:
        """Why the last value was rejected; empty if there is no reason."""
        row = await self.store.get(REASONS_PREFIX + self._part + owner, item.row)
        if row is None:
            return ""
        try:
            return self._ring.open(row, owner=self._part + owner, name=REASONS_PREFIX + item.row).decode()
        except VaultUnavailable:  # its key was removed since, and a question should not fail for a reason
            return ""

    async def list_items(self, owner: str | None = None) -> list[ItemSummary]:
        """What is stored for one owner or for all; also what no key opens, so that it can be deleted."""
        items: list[ItemSummary] = []
        for whose, name in await self._rows(owner):
            row = await self.store.get(VALUES_PREFIX + whose, name)
            if row is None:
                continue
            (server, _, found), (kind, _, called) = whose.partition("/"), name.partition(":")
            try:
                entry = self._open(whose, name, row)
                times = entry.put_at, entry.until
            except VaultUnavailable:
                times = None, None
            items.append(ItemSummary(unquote(server), found, VaultItem(cast("Kind", kind), called), *times))
        return items

    async def rotate(self) -> RotationResult:
        """Seal everything with the first key. Servers may go on meanwhile: what they put or delete stands."""
        sealed = unopened = 0
        for whose, name in await self._rows():
            row = await self.store.get(VALUES_PREFIX + whose, name)
            if row is None or self._ring.is_current(row):
                continue
            try:
                written = self._ring.open(row, owner=whose, name=name)
            except VaultUnavailable:
                unopened += 1
                continue
            new, until = self._ring.seal(written, owner=whose, name=name), _read(written).until
            sealed += await self.store.replace(VALUES_PREFIX + whose, name, row, new, until=until)
        return RotationResult(sealed, unopened)

    def _is_over(self, entry: VaultEntry) -> bool:
        return entry.until is not None and entry.until <= self.clock()

    def _seal(
        self,
        owner: str,
        item: VaultItem,
        values: Mapping[str, str],
        *,
        until: float | None = None,
        version: str | None = None,
        put_at: float | None = None,
    ) -> bytes:
        since = self.clock() if put_at is None else put_at
        written = to_json([dict(values), since, until, version or token_hex(8)])
        return self._ring.seal(written, owner=self._part + owner, name=item.row)

    def _open(self, whose: str, name: str, row: bytes) -> VaultEntry:
        return _read(self._ring.open(row, owner=whose, name=name))

    async def _swap(
        self, owner: str, item: VaultItem, version: str, new: bytes | None, *, until: float | None = None
    ) -> bool:
        """Replace the row if it has that version; with None, delete it."""
        whose = self._part + owner
        row = await self.store.get(VALUES_PREFIX + whose, item.row)
        if row is None or self._open(whose, item.row, row).version != version:
            return False
        return await self.store.replace(VALUES_PREFIX + whose, item.row, row, new, until=until)

    async def _rows(self, owner: str | None = None) -> list[tuple[str, str]]:
        """The rows of one owner or of all, with the owner's part. Rows of others are not opened."""
        found: list[tuple[str, str]] = []
        after: tuple[str, str] | None = None
        prefix = VALUES_PREFIX if self._is_whole else VALUES_PREFIX + self._part + (owner or "")
        while page := await self.store.rows(prefix=prefix, after=after):
            found.extend((whose.removeprefix(VALUES_PREFIX), name) for whose, name in page)
            after = page[-1]
        return [row for row in found if owner is None or row[0].partition("/")[2] == owner]


def _read(written: bytes) -> VaultEntry:
    # pydantic caches strings that it reads often, and they would outlive their secret.
    values, put_at, until, version = from_json(written, cache_strings="none")
    return VaultEntry(values=values, put_at=put_at, until=until, version=version)


def redact(text: str, values: Iterable[str]) -> str:
    """The text with every value in it covered, also as addresses spell it; the longest first, since one may contain
    another."""
    spelled = {
        way(value) for value in values if value for way in (str, quote, quote_plus, partial(quote, safe=""))
    }
    for value in sorted(spelled, key=len, reverse=True):
        text = text.replace(value, "…")
    return text
