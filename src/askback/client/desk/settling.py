"""A card from the moment it is put on the board until its word is there. Knows neither the page nor how it is served.

The person, the server and the program may each end it, and two of them in one moment: the first word stands.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio

from askback.answers import Answer
from askback.client import labels
from askback.client.desk.board import Board
from askback.client.desk.cards import FormCard, VisitCard, WaitCard, card_of
from askback.client.limits import Clock
from askback.client.person import Turn, VisitAsked, VisitReply


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
