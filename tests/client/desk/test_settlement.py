"""Two words in one moment: the first one stands, and the call goes on."""

from typing import Any

import anyio

from askback.answers import Answer, Declined
from askback.client.consent import Verdict
from askback.client.desk import DeskPerson
from askback.client.desk.app import ActionInput, CardActions
from askback.client.desk.cards import Board
from askback.client.person import VisitAsked, VisitReply
from tests.client.turns import make_form, make_visit
from tests.support.desk import PATIENCE


def no_browser(_: Verdict) -> bool:
    return False


async def test_done_in_the_moment_in_which_the_server_says_finished_is_one_word():
    desk, finished, words = DeskPerson(), anyio.Event(), list[VisitReply]()
    board: Board = vars(desk)["_board"]
    asked = make_visit().asked
    assert isinstance(asked, VisitAsked)

    async def wait() -> None:
        words.append(await desk.wait(asked, finished))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await CardActions(board, no_browser).do(next(iter(board)).id, "done", ActionInput())
            finished.set()
    assert words == ["done"]


async def test_a_question_declined_with_all_others_in_the_moment_in_which_it_is_taken_back_is_declined():
    desk, first, second = DeskPerson(), make_form(), make_form(number=2)
    board: Board = vars(desk)["_board"]
    answers: list[Answer[Any]] = []

    async def answer_second() -> None:
        answers.append(await desk.answer(second))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.answer, first)
            tasks.start_soon(answer_second)
            await anyio.wait_all_tasks_blocked()
            await CardActions(board, no_browser).do(next(iter(board)).id, "decline-all", ActionInput())
            second.withdraw("The server has taken this question back.")
    assert answers == [Declined()]
