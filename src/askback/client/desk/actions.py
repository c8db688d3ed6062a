"""What a person can do with a card, by name. Each gives what the page shows next; the first word settles a card."""

from typing import Any

import anyio.to_thread
from pydantic import BaseModel, ConfigDict

from askback.client.consent import Opener
from askback.client.desk.board import Board
from askback.client.desk.cards import (
    BEING_OPENED,
    AnyCard,
    CardRefusal,
    FormCard,
    TurnCard,
    VisitCard,
    WaitCard,
)
from askback.client.desk.views import Json, field_note, review

NOT_THAT = "This card has no such button; load the page again."


class ActionInput(BaseModel):
    """What the page sends along; each act reads its own part."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    field: int = -1
    value: Any = None
    values: list[Any] = []
    stamp: int = -1
    sure: bool = False


class CardActions:
    """The acts on one board's cards."""

    def __init__(self, board: Board, opener: Opener) -> None:
        self._board, self._opener = board, opener

    async def do(self, name: str, act: str, said: ActionInput) -> Json:
        """What the page gets; a Refusal where it cannot be done."""
        card = self._board.find(name)
        match card:
            case FormCard():
                shown = _on_form(card, act, said)
            case VisitCard():
                shown = await self._on_visit(card, act)
            case WaitCard():
                shown = await self._on_wait(card, act)
        settled = self._decline_others(card) if act == "decline-all" else []
        if card.outcome is not None:
            self._board.take(card)
        return {**shown, "outcome": card.outcome, "settled": settled, "then": card.then}

    async def _on_visit(self, card: VisitCard, act: str) -> Json:
        match act:
            case "open":
                card.consent()
                if await anyio.to_thread.run_sync(self._opener, card.visit.verdict):
                    card.opened()
                    return {}
                return {"href": card.leave_to_them()}
            case "opened":
                card.opened()
            case _ if card.is_opening:
                raise CardRefusal(BEING_OPENED)
            case _:
                _on_turn(card, act)
        return {}

    async def _on_wait(self, card: WaitCard, act: str) -> Json:
        match act:
            case "done":
                card.done()
            case "retry" if card.visit.verdict.allowed:
                is_open = await anyio.to_thread.run_sync(self._opener, card.visit.verdict)
                return {"href": None if is_open else card.visit.verdict.href}
            case "cancel":
                card.cancel()
            case _:
                raise CardRefusal(NOT_THAT)
        return {}

    def _decline_others(self, first: AnyCard) -> list[str]:
        """Those of the same server that lie beside it; they came before the word was said."""
        # By all we know of the server: a label is a word that several of them may share.
        asker = first.asked.asker
        beside = (card for card in self._board if isinstance(card, TurnCard))
        others = [card for card in beside if card.asked.asker == asker and not card.is_opening]
        for card in others:
            if card.outcome is None:
                card.decline_all()
            self._board.take(card)
        return [card.id for card in others]


def _on_form(card: FormCard, act: str, said: ActionInput) -> Json:
    match act:
        case "fill":
            problem = card.fill(said.field, said.value)
            return field_note(card, said.field, problem)
        case "excuse":
            card.excuse(said.field)
        case "review":
            return review(card, card.review(said.values))
        case "send":
            card.send(said.stamp, is_sure=said.sure)
        case _:
            _on_turn(card, act)
    return {}


def _on_turn(card: TurnCard, act: str) -> None:
    match act:
        case "decline":
            card.decline()
        case "decline-all":
            card.decline_all()
        case "cancel":
            card.cancel()
        case "close" if card.gone is not None:
            card.close()
        case _:
            raise CardRefusal(NOT_THAT)
