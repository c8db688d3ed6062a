"""Visits that are under way, and how each ended: in the store, under a digest of the id that the link carries.

A link is a handle and no proof: the pages and the application decide who may end a visit.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from hashlib import sha256
from secrets import token_urlsafe

from pydantic_core import PydanticSerializationError, from_json, to_json

from askback.errors import AuthorError, VisitUnknown
from askback.model.quotas import RowQuota
from askback.model.store import Store
from askback.model.visit import (
    Ending,
    ParkedVisit,
    StoredVisit,
    VisitAborted,
    VisitDeclined,
    VisitKind,
    VisitSettled,
)

VISITS_OWNER = "askback/visits"
PARKED_PREFIX = "askback/left/"
ALIKE_PREFIX = "askback/alike/"
"""Owners in the store, as far as it knows; a caller's name never looks like this."""

MAX_ALIKE = 100
"""Calls of one person that wait for the same thing at once; the others ask again when they look."""

MAX_PARKED_VISITS = 100
"""Visits that one person has left at the same place of the same call; more than they could ever have begun by hand."""

MAX_VISITS, MAX_VISITS_PER_CALLER = 10_000, 100
"""Visits that are open at once on one server: with small rows about 5 MB. Nobody opens a hundred pages by hand."""

MAX_KEPT_MESSAGE, MAX_KEPT_CLIENT = 2_000, 200
"""Characters that a page of ours shows of the question and of the client's name; the client has shown the whole."""

CUT = "\n[The rest is in your client.]"

_COLUMNS = tuple(column.name for column in fields(StoredVisit) if column.name != "id")
"""A visit is written down without the id that leads to it."""


class VisitStore:
    """The visits of one server, or of all workers that share a store. They are capped: the oldest are dropped."""

    def __init__(self, store: Store, *, clock: Callable[[], float], shares: RowQuota | None = None) -> None:
        self._store, self._clock = store, clock
        self._shares = shares or visit_shares("")

    def new_id(self) -> str:
        """A new id of 256 random bits, which cannot be found by trying."""
        return token_urlsafe(32)

    async def open(self, visiting: StoredVisit, *, holder: str = "") -> None:
        """Store the visit before its link goes out. It counts towards the quota of this holder."""
        small = _shortened(visiting)
        row = [getattr(small, column) for column in _COLUMNS]
        name, until, cap = digest_of(visiting.id), visiting.until, self._shares.cap
        dropped = await self._store.put_capped(VISITS_OWNER, name, to_json(row), until=until, cap=cap(holder))
        self._shares.report(dropped)
        if visiting.thing:
            alike = cap(holder, kind="alike")
            await self._store.put_capped(_alike(visiting), name, b"", until=until, cap=alike)

    async def is_open(self, id: str) -> bool:
        """Whether it is known here and its time is not over; it may have made room for newer ones."""
        return await self._store.get(VISITS_OWNER, digest_of(id)) is not None

    async def find(self, id: str) -> StoredVisit | None:
        """The visit behind a link; None if there never was one, or its time is over."""
        return await self._look(digest_of(id), id=id)

    async def find_by_digest(self, name: str) -> StoredVisit | None:
        """The visit of that name, without the id that leads to it."""
        return await self._look(name)

    async def alike(self, visiting: StoredVisit) -> list[str]:
        """The names of all visits of the same owner for the same thing."""
        return [name for _, name in await self._store.rows(prefix=_alike(visiting), limit=MAX_ALIKE)]

    async def forget_alike(self, visiting: StoredVisit, name: str) -> None:
        """It has ended, and needs no ending along with others."""
        await self._store.delete(_alike(visiting), name)

    async def end(self, name: str, ending: Ending, *, kind: VisitKind | None = None) -> Ending:
        """End the visit of that name and wake all that wait for it. The first end stands; returns the end that stands.

        Raises `VisitUnknown` if there is no such visit of that `kind`.
        """
        visiting = await self._look(name)
        if visiting is None or kind not in (None, visiting.kind):
            raise VisitUnknown
        until = self._clock() + visiting.remembered
        return _read(await self._store.settle(_bell(name), _written(ending), until=until))

    async def ended(self, id: str, *, seconds: float | None = 0.0) -> Ending | None:
        """Wait at most that long for the end of the visit; None if it has not ended by then."""
        row = await self._store.wait(_bell(digest_of(id)), seconds=seconds)
        return None if row is None else _read(row)

    async def consume(self, id: str, holder: str, *, remembered: float) -> bool:
        """Claim the result of a visit for this holder; False if another call has it."""
        until = self._clock() + remembered
        stands = await self._store.settle(_taken(digest_of(id)), holder.encode(), until=until)
        return stands == holder.encode()

    async def park(self, scope: str, left: ParkedVisit, *, remembered: float, holder: str = "") -> None:
        """Keep the visit, or its end, for a later call of the same scope."""
        cap, until = self._shares.cap(holder, kind="left"), left.until + remembered
        await self._store.put_capped(_left(scope), digest_of(left.id), to_json(left), until=until, cap=cap)

    async def parked(self, scope: str) -> list[ParkedVisit]:
        """The visits that earlier calls of this scope have parked and no call has taken up, the oldest first."""
        found = [
            await self._store.get(shelf, name)
            for shelf, name in await self._store.rows(prefix=_left(scope), limit=MAX_PARKED_VISITS)
        ]
        rows = (ParkedVisit(*from_json(row, cache_strings="none")) for row in found if row is not None)
        return sorted(rows, key=lambda left: left.asked_at)

    async def take_up(self, scope: str, id: str) -> bool:
        """Take a parked visit; True for one of several calls that try at once."""
        return await self._store.delete(_left(scope), digest_of(id))

    async def _look(self, name: str, *, id: str = "") -> StoredVisit | None:
        row = await self._store.get(VISITS_OWNER, name)
        if row is None:
            return None
        # Those that an older version has opened are shorter.
        return StoredVisit(id=id, **dict(zip(_COLUMNS, from_json(row, cache_strings="none"), strict=False)))


def visit_shares(
    server: str, *, of_caller: int = MAX_VISITS_PER_CALLER, in_all: int = MAX_VISITS
) -> RowQuota:
    """How the visits of one server are shared out."""
    return RowQuota("visits", server, of_caller, in_all, "raise max_visits_per_caller= or max_visits=")


def _shortened(visiting: StoredVisit) -> StoredVisit:
    """As it is kept: texts of others may be long, and a page that is not ours shows none of them."""
    message, client = visiting.message, visiting.client[:MAX_KEPT_CLIENT]
    if visiting.kind == "elsewhere":
        message = ""
    elif len(message) > MAX_KEPT_MESSAGE:
        message = message[:MAX_KEPT_MESSAGE] + CUT
    return replace(visiting, message=message, client=client)


def is_alike(one: Ending, other: Ending) -> bool:
    """Whether they say the same, once written down: a tuple comes back as a list, and a model as a dict."""
    return _as_kept(one) == _as_kept(other)


def _as_kept(ending: Ending) -> bytes:
    return _written(_read(_written(ending)))


def digest_of(id: str) -> str:
    """The name of a visit in the store: who reads the store cannot follow its links."""
    return sha256(id.encode("utf-8", "surrogatepass")).hexdigest()


def _bell(name: str) -> str:
    return f"visit:{name}"


def _taken(name: str) -> str:
    return f"visit-taken:{name}"


def _left(scope: str) -> str:
    return f"{PARKED_PREFIX}{scope}/"


def _alike(visiting: StoredVisit) -> str:
    return (
        ALIKE_PREFIX
        + digest_of(to_json([visiting.server, visiting.owner, visiting.kind, visiting.thing]).decode())
        + "/"
    )


def _written(ending: Ending) -> bytes:
    match ending:
        case VisitSettled(result):
            try:
                return to_json(["settled", result])
            except (PydanticSerializationError, ValueError, RecursionError) as error:
                raise AuthorError(
                    f"settle(id, {type(result).__name__}) cannot be written down ({error}). Give plain values: texts, "
                    "numbers, lists and dicts of them, or a pydantic model."
                ) from error
        case VisitAborted(reason):
            return to_json(["failed", reason])
        case VisitDeclined():
            return to_json(["turned down"])


def _read(row: bytes) -> Ending:
    match from_json(row, cache_strings="none"):
        case ["settled", result]:
            return VisitSettled(result)
        case ["failed", reason]:
            return VisitAborted(reason)
        case _:
            return VisitDeclined()
