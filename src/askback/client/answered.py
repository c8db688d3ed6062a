"""What came of questions, written down: for whoever made the call, and for the record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.person import Asked

Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """What came of a question; not what was written in it."""

    asked: Asked
    action: Action
    by: str


OnAnswer = Callable[[AnswerRecord], object]
"""Hears of each question that got an answer, when it got it."""


def record_answer(asked: Asked, answer: Answer[Any], *, by: str) -> AnswerRecord:
    """The record of this answer."""
    return AnswerRecord(asked=asked, action=_ACTIONS[type(answer)], by=by)


_ACTIONS: dict[type[Any], Action] = {Accepted: "accept", Declined: "decline", Cancelled: "cancel"}
