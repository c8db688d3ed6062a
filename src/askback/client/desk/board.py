"""All cards that wait, in order, and the tabs that watch them. A change costs the same however many wait.

A card stays on the board until its word is there. The person, the server and the program may each end it, and two of
them in one moment: the first word stands.
"""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import anyio

from askback.client.desk.cards import AnyCard, CardRefusal

MAX_WATCHERS = 4
"""A browser holds six connections to one address; a tab's watch takes one, and answers need some too."""

MAX_OUTCOMES = 500
"""Outcomes of settled cards, for a tab that comes too late; more late tabs than that nobody has."""


WITHDRAWN = "no longer asked"


class Watcher:
    """One tab's view of the changes since it last looked. A card that changes twice meanwhile is told once."""

    def __init__(self) -> None:
        self._changed: dict[str, AnyCard] = {}
        self._wake = anyio.Event()
        self.is_over = False
        """Newer tabs have taken this one's place, or the desk is closed."""

    def note(self, card: AnyCard) -> None:
        self._changed[card.id] = card
        self._wake.set()

    def end(self) -> None:
        self.is_over = True
        self._wake.set()

    async def changes(self) -> list[AnyCard]:
        """At least one, or none when it is over."""
        await self._wake.wait()
        self._wake = anyio.Event()
        if self.is_over:
            self._wake.set()
        changed, self._changed = list(self._changed.values()), {}
        return changed


class Board:
    """The cards on one desk."""

    def __init__(self) -> None:
        self._cards: dict[str, AnyCard] = {}
        self._outcomes: dict[str, str] = {}
        self._watchers: deque[Watcher] = deque()
        self.is_closed = False

    def __iter__(self) -> Iterator[AnyCard]:
        return iter(list(self._cards.values()))

    def find(self, name: str) -> AnyCard:
        """The card, or a refusal that says what became of it."""
        if (card := self._cards.get(name)) is not None:
            return card
        if (outcome := self._outcomes.get(name)) is not None:
            raise CardRefusal(f"This question is already settled: {outcome}.")
        raise CardRefusal("This question is not on the desk any more.")

    def put(self, card: AnyCard) -> None:
        self._cards[card.id] = card
        self.note(card)
        if self.is_closed:
            card.settled.set()

    def take(self, card: AnyCard) -> None:
        if self._cards.pop(card.id, None) is None:
            return
        self._outcomes[card.id] = card.outcome or WITHDRAWN
        if len(self._outcomes) > MAX_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        self.note(card)

    def note(self, card: AnyCard) -> None:
        """Tell every tab that this card came, changed or went."""
        for watcher in self._watchers:
            watcher.note(card)

    def holds(self, card: AnyCard) -> bool:
        return card.id in self._cards

    @contextmanager
    def watch(self) -> Generator[Watcher]:
        """A new watcher. Only the newest tabs watch; an older one rests until it is used again."""
        watcher = Watcher()
        self._watchers.append(watcher)
        if len(self._watchers) > MAX_WATCHERS:
            self._watchers.popleft().end()
        if self.is_closed:
            watcher.end()
        try:
            yield watcher
        finally:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

    def close(self) -> None:
        self.is_closed = True
        for card in self:
            card.settled.set()  # without a word: the one that waits learns that nobody will answer
        for watcher in self._watchers:
            watcher.end()
