"""All cards that wait, in order, and the tabs that watch them. A change costs the same however many wait.

A card stays on the board until its word is there. The person, the server and the program may each end it, and two of
them in one moment: the first word stands.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import anyio

from askback.answers import Answer
from askback.client import labels
from askback.client.desk.cards import AnyCard, CardRefusal, FormCard, VisitCard, WaitCard, card_of
from askback.client.limits import Clock
from askback.client.person import Turn, VisitAsked, VisitReply

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

    def __len__(self) -> int:
        return len(self._cards)

    def find(self, name: str) -> AnyCard:
        """The card, or a refusal that says what became of it."""
        if (card := self._cards.get(name)) is not None:
            return card
        outcome = self._outcomes.get(name)
        raise CardRefusal(
            "This question is not on the desk any more."
            if outcome is None
            else f"This question is already settled: {outcome}."
        )

    def put(self, card: AnyCard) -> None:
        self._cards[card.id] = card
        self.note(card)
        if self.is_closed:
            card.abandon()

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

    def watch(self) -> Watcher:
        """The newest tabs watch; an older one rests until it is used again."""
        watcher = Watcher()
        self._watchers.append(watcher)
        if len(self._watchers) > MAX_WATCHERS:
            self._watchers.popleft().end()
        if self.is_closed:
            watcher.end()
        return watcher

    def unwatch(self, watcher: Watcher) -> None:
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def close(self) -> None:
        self.is_closed = True
        for card in self:
            card.abandon()
        for watcher in self._watchers:
            watcher.end()


async def answer_to(board: Board, turn: Turn) -> Answer[Any]:
    """What the person says; one that is gone before anybody saw it waits for nobody."""
    card = card_of(turn)
    board.put(card)
    try:
        await _until_settled(card, partial(_follow, board, card))
    finally:
        _let_go(board, card)
    return card.word


async def _until_settled(
    card: FormCard | VisitCard | WaitCard, meanwhile: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(meanwhile)
        await card.settled.wait()
        tasks.cancel_scope.cancel()


async def _follow(board: Board, card: FormCard | VisitCard) -> None:
    while not (card.gone is not None and not card.is_seen):
        await card.turn.changed()
        board.note(card)
    if card.outcome is None:
        card.close(is_by_person=False)


def _let_go(board: Board, card: FormCard | VisitCard) -> None:
    if card.outcome is None and card.is_seen:
        card.turn.withdraw(labels.GONE_GIVEN_UP)
        board.note(card)
    else:
        board.take(card)


async def word_after(board: Board, asked: VisitAsked, finished: anyio.Event, *, clock: Clock) -> VisitReply:
    """What the person says after a visit, or `done` when the server says so first."""
    card = WaitCard(asked, clock=clock)
    board.put(card)
    try:
        await _until_settled(card, partial(_finish, card, finished))
    finally:
        board.take(card)
    return card.word


async def _finish(card: WaitCard, finished: anyio.Event) -> None:
    await finished.wait()
    if card.outcome is None:
        card.finish()
