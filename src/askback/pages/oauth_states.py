"""Connections that are under way at somebody else's pages: what `state` stands for (R83)."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from secrets import compare_digest, token_urlsafe
from typing import Any

from pydantic_core import from_json, to_json
from starlette.requests import Request

from askback.model.store import Store

LASTS = 600.0
"""Seconds: longer than anybody signs in, and short enough that a link left in a history is of no use."""

_SHELF = "askback/flows"


class OAuthStates:
    """A state is random, bound to a browser, good for ten minutes and for one use."""

    def __init__(self, store: Store, *, base: str, clock: Callable[[], float]) -> None:
        self._store, self._base, self._clock = store, base, clock

    @staticmethod
    def new_state() -> str:
        """256 bits."""
        return token_urlsafe(32)

    async def keep(self, state: str, browser: str, facts: Mapping[str, Any]) -> None:
        row = to_json([browser, facts])
        await self._store.put(_SHELF, self._name(state), row, until=self._clock() + LASTS)

    async def look(self, state: str, browser: str) -> Mapping[str, Any] | None:
        """What it was begun with; None for another browser, or one that is over. Changes nothing."""
        row = await self._store.get(_SHELF, self._name(state))
        if row is None:
            return None
        for_browser, facts = from_json(row, cache_strings="none")
        return facts if compare_digest(for_browser.encode(), browser.encode()) else None

    async def is_under_way(self, state: str) -> bool:
        """In whatever browser."""
        return await self._store.get(_SHELF, self._name(state)) is not None

    async def finish(self, state: str) -> bool:
        """Whether this is its one use."""
        return await self._store.delete(_SHELF, self._name(state))

    def _name(self, state: str) -> str:
        """Of this address alone: another's states are none here."""
        return sha256(f"{self._base} {state}".encode("utf-8", "surrogatepass")).hexdigest()


def answer_in(request: Request) -> Mapping[str, str]:
    """What an authorization server says at a callback; nothing at all where it says something twice: one of the two
    would be believed here, and the other checked there."""
    said = request.query_params.multi_items()
    return dict(said) if len(dict(said)) == len(said) else {}
