"""Words that cross: what one tab says while another has already said something else."""

import threading

import anyio
import pytest

from askback.answer import Accepted
from askback.client.consent import Verdict
from askback.client.desk.acts import Acts, Said
from askback.client.desk.board import Board
from askback.client.desk.cards import Refusal, VisitCard
from askback.client.person import VisitAsked
from tests.client.turns import make_visit


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
    acts = Acts(board, slow_browser)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(acts.do, card.id, "open", Said())
            await started.wait()
            with pytest.raises(Refusal, match="already being opened"):
                await acts.do(card.id, word, Said())
            may_go_on.set()
        assert card.word == Accepted(None)
