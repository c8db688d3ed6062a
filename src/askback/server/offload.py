"""Long journals: they stay in the store, and the client carries a handle.

The handle opens what it names: the store holds a sealed text, so that reading the store does not show what people
answered. It travels in the state, which the boundary seals.
"""

from collections.abc import Callable
from hashlib import sha256
from secrets import token_urlsafe

from askback.errors import NotRecordable, RoundForgotten
from askback.model.aead import AEADCipher, NotAuthentic
from askback.model.durations import CLOCK_SKEW
from askback.model.journal_codec import TAG
from askback.model.quotas import RowQuota
from askback.model.store import Store

OWNER = "askback/journals"

OFFLOAD_LENGTH = 32_768
"""Characters. Shorter ones are carried by the client, which costs the store nothing."""

MAX_CARRIED_LENGTH, MAX_OFFLOADED_LENGTH = 262_144, 8_388_608
"""Characters. Clients send the state with every retry, and past the first begin to refuse it; the second is a bound for
what one call may put into the store."""

MAX_OF_CALLER, MAX_IN_ALL = 64 * 2**20, 1024 * 2**20
"""Bytes of long journals that are kept at once on one server, whose calls may never come back: the oldest go first."""

HANDLE = f"{TAG}@"
"""A journal goes on with a brace."""


class JournalOffload:
    """Where the journals of one server go that are too long to be carried."""

    def __init__(self, store: Store, *, life: float, clock: Callable[[], float], server: str = "") -> None:
        self._store, self._life, self._clock = store, life, clock
        advice = "let bodies keep less: see the page on replay"
        self._shares = RowQuota("bytes of journals", server, MAX_OF_CALLER, MAX_IN_ALL, advice)

    @property
    def _is_lasting(self) -> bool:
        """Whether the store outlives this process, so that a client can come back to it elsewhere or later."""
        return getattr(self._store, "reach", "process") != "process"

    async def offload(self, state: str, *, holder: str = "") -> str:
        """What the client is to carry for it: the state itself, or a handle. A journal takes of its holder's share."""
        if len(state) <= OFFLOAD_LENGTH or not self._is_lasting:
            return _bounded(state, MAX_CARRIED_LENGTH, "characters a client carries")
        _bounded(state, MAX_OFFLOADED_LENGTH, "characters kept for one call")
        secret = token_urlsafe(32)
        sealed = _cipher(secret).seal(state.encode("utf-8", "surrogatepass"), number=0)
        until = self._clock() + self._life + 2 * CLOCK_SKEW  # no sooner than the seal of the handle
        cap = self._shares.cap(holder, kind="journals", weight=len(sealed))
        dropped = await self._store.put_capped(OWNER, _name(secret), sealed, until=until, cap=cap)
        self._shares.report(dropped)
        return HANDLE + secret

    async def restore(self, state: str) -> str:
        """The state that the client carries, or the one that its handle names."""
        if not is_handle(state):
            return state
        secret = state.removeprefix(HANDLE)
        sealed = await self._store.get(OWNER, _name(secret))
        if sealed is None:
            raise RoundForgotten
        try:
            opened = _cipher(secret).open(sealed, number=0)
        except NotAuthentic as error:  # somebody wrote to the store
            raise RoundForgotten from error
        return opened.decode("utf-8", "surrogatepass")


def is_handle(state: str) -> bool:
    """Whether a client carries this for a journal that is in the store."""
    return state.startswith(HANDLE)


def _bounded(state: str, most: int, of_what: str) -> str:
    if len(state) > most:
        raise NotRecordable(
            problem=f"The journal of this call is longer than the {most} {of_what}",
            instead="let once(...) return an id and keep the data itself on the server, and ask for less at a time",
        )
    return state


def _cipher(secret: str) -> AEADCipher:
    """Each secret seals one text."""
    return AEADCipher(_digest("key", secret))


def _name(secret: str) -> str:
    return _digest("name", secret).hex()


def _digest(what: str, secret: str) -> bytes:
    return sha256(f"askback journal {what} {secret}".encode()).digest()
