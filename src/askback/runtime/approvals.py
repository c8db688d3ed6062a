"""Approvals that last beyond their call: kept in the store by owner, until they expire or are revoked. An approval
never covers more than the person was shown."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from askback.model.durations import CLOCK_SKEW
from askback.model.store import Store

OWNER_PREFIX = "askback/approvals/"
"""Before every owner in the store, so that approvals can be told from all else that is kept."""

PAGE = 100
"""Rows that are looked up at a time."""


class Scope(NamedTuple):
    """Where an approval holds: all of these must be equal."""

    owner: str
    """The caller; an unknown caller has no lasting approvals."""
    server: str
    target: str
    """The tool, prompt or resource that was called."""
    guard: str
    """A digest of which guard it is, before which function."""
    key: str
    """A digest of the arguments that count."""
    depends: str = ""
    """A digest of what else was looked at, such as a catalogue."""

    @property
    def name(self) -> str:
        """What it is kept under: a digest of all of these."""
        return sha256(json.dumps(self).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One that was given."""

    owner: str
    name: str
    """The digest of its scope; with the owner, what it is revoked by."""
    server: str
    tool: str
    """The tool, prompt or resource that was called."""
    covers: str
    """In the words that the person read."""
    message: str
    """The question that it was given to."""
    granted: float
    until: float
    call: str
    """The conversation in which it was given."""
    word: str | None = None
    """On whose word: `client` or `policy`."""


_WRITTEN = ("server", "tool", "covers", "message", "granted", "until", "call", "word")


class Approvals:
    """The approvals of one store."""

    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock

    async def find(self, scope: Scope) -> Approval | None:
        """The approval that holds now, if there is one."""
        row = await self._store.get(_shelf(scope.owner), scope.name)
        return None if row is None else self._read(scope.owner, scope.name, row)

    async def grant(
        self,
        scope: Scope,
        *,
        seconds: float,
        covers: str,
        message: str,
        call: str,
        place: str,
        remembered: float,
        word: str | None = None,
    ) -> None:
        """Keep what the person chose at this place of this call.

        Once per place and call: a copy of the same round, up to `remembered` seconds after it expires, neither
        prolongs it nor brings back an approval that was revoked since.
        """
        now = self._clock()
        approval = Approval(
            owner=scope.owner,
            name=scope.name,
            server=scope.server,
            tool=scope.target,
            covers=covers,
            message=message,
            granted=now,
            until=now + seconds,
            call=call,
            word=word,
        )
        if await self.record_consent(call, place, seconds=seconds + remembered):
            written = to_json({name: getattr(approval, name) for name in _WRITTEN})
            await self._store.put(_shelf(scope.owner), scope.name, written, until=approval.until)

    async def record_consent(self, call: str, place: str, *, seconds: float) -> bool:
        """Record that the person agreed at this place of this call; True if that is new. Raises `StoreUnavailable`, so
        that nothing is run on a yes that could not be kept."""
        mark = token_hex(8).encode()
        until = (
            self._clock() + seconds + 2 * CLOCK_SKEW
        )  # no sooner than any copy of the round that brought it
        return await self._store.settle(_given(call, place), mark, until=until) == mark

    async def rows(self, owner: str | None = None) -> list[Approval]:
        """The approvals that hold now, of one owner or of all, sorted by owner."""
        found: list[Approval] = []
        after: tuple[str, str] | None = None
        prefix = OWNER_PREFIX if owner is None else _shelf(owner)
        while page := await self._store.rows(prefix=prefix, after=after, limit=PAGE):
            for shelf, name in page:
                whose, row = shelf.removeprefix(OWNER_PREFIX), await self._store.get(shelf, name)
                approval = None if row is None else self._read(whose, name, row)
                if approval is not None and owner in {None, whose}:
                    found.append(approval)
            after = page[-1]
        return found

    async def revoke(self, approval: Approval) -> bool:
        """From now on it is asked again; whether there was anything to revoke."""
        return await self._store.delete(_shelf(approval.owner), approval.name)

    def _read(self, owner: str, name: str, row: bytes) -> Approval | None:
        """Read one row; None if it has expired by this clock or is not a row of ours."""
        try:
            record: dict[str, Any] = from_json(row, cache_strings="none")
            approval = Approval(owner=owner, name=name, **{key: record[key] for key in _WRITTEN})
            return approval if approval.granted <= self._clock() < approval.until else None
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


def _shelf(owner: str) -> str:
    return OWNER_PREFIX + owner


def _given(call: str, place: str) -> str:
    return f"approved:{sha256(f'{call} {place}'.encode('utf-8', 'surrogatepass')).hexdigest()}"
