"""Words that cross, and words for many: what they settle, and what they leave alone."""

import threading
from dataclasses import replace

import anyio
import pytest

from askback.answers import Accepted
from askback.client.consent import Verdict
from askback.client.desk.app import ActionInput, CardActions
from askback.client.desk.cards import Board, CardRefusal, VisitCard, card_of
from askback.client.person import Turn, VisitAsked
from tests.client.turns import make_form, make_visit


@pytest.mark.verifies("R61")
@pytest.mark.parametrize("word", ["decline", "decline-all", "cancel"])
async def test_a_no_from_another_tab_comes_too_late_while_the_browser_is_being_started(word: str):
    started, may_go_on = anyio.Event(), threading.Event()

    def slow_browser(verdict: Verdict) -> bool:
        anyio.from_thread.run_sync(started.set)
        return may_go_on.wait(10)

    board, turn = Board(), make_visit("https://pay.example.com/")
    assert isinstance(turn.asked, VisitAsked)
    card = VisitCard(turn, turn.asked)
    board.put(card)
    acts = CardActions(board, slow_browser)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(acts.do, card.id, "open", ActionInput())
            await started.wait()
            with pytest.raises(CardRefusal, match="already being opened"):
                await acts.do(card.id, word, ActionInput())
            may_go_on.set()
        assert card.word == Accepted(None)


@pytest.mark.parametrize("is_demanded", [False, True], ids=["the server waits", "their word is waited for"])
async def test_who_opened_a_link_is_told_that_the_call_goes_on_by_itself_where_it_does(is_demanded: bool):
    board, turn = Board(), make_visit(is_demanded=is_demanded)
    card = card_of(turn)
    board.put(card)
    reply = await CardActions(board, lambda _: True).do(card.id, "open", ActionInput())
    assert ("goes on by itself" in reply["then"]) == (not is_demanded)
    assert ("end the program that made it" in reply["then"]) == (not is_demanded)


def asked_by(identity: str, *, number: int) -> Turn:
    """A form of a server that has this command or address, under the label that all of them have here."""
    asked = make_form().asked
    return Turn(replace(asked, asker=replace(asked.asker, identity=identity)), number=number)


@pytest.mark.verifies("T20")
async def test_a_no_to_everything_from_a_server_leaves_another_one_of_the_same_label_alone():
    board = Board()
    first, second, other = (
        card_of(asked_by("here", number=1)),
        card_of(asked_by("here", number=2)),
        card_of(asked_by("elsewhere", number=1)),
    )
    for card in (first, second, other):
        board.put(card)
    reply = await CardActions(board, lambda _: False).do(first.id, "decline-all", ActionInput())
    assert reply["settled"] == [first.id, second.id]
    assert first.turn.declines_all and second.turn.declines_all
    assert list(board) == [other]
    assert other.outcome is None and not other.turn.declines_all
