"""The person of a driver that was given none."""

from collections.abc import Collection
from typing import Any

import anyio

from askback.answers import Answer
from askback.client.person import Mode, Turn, VisitAsked, VisitReply
from askback.errors import Unanswered


class Nobody:
    """Shows nothing; a host that leaves calls and takes them up again may declare `modes` all the same."""

    shows_several = False

    def __init__(self, modes: Collection[Mode] = ()) -> None:
        self.modes: frozenset[Mode] = frozenset(modes)

    async def answer(self, turn: Turn) -> Answer[Any]:
        raise _unanswered()

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        raise _unanswered()


def _unanswered() -> Unanswered:
    return Unanswered(
        "The server asked a question, and this driver has nobody to put it to. Give Driver a person, or leave the "
        "call with begin(...) and take it up with resume(...) when there is an answer."
    )
