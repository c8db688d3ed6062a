"""A closed question as the body hears of it: an answer, or the error of one that got none."""

from typing import Any, assert_never

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.errors import InvalidAnswer, TimedOut
from askback.model.journal import ClosedQuestion
from askback.model.question import Visit
from askback.runtime.carrier import PlacedQuestion

STILL_OPEN = "still open"
"""Why a visit is put again: the only problem it can have."""


def answer_of(put: PlacedQuestion, closed: ClosedQuestion) -> Answer[Any]:
    """The answer to a closed question; raises `TimedOut` if no reply came in time, `InvalidAnswer` if none fitted."""
    match closed.outcome:
        case "accept":
            question = put.question
            return Accepted(None if isinstance(question, Visit) else question.fieldset.build(closed.content))
        case "decline":
            return Declined()
        case "cancel":
            return Cancelled()
        case "late":
            has_agreed = closed.problem == STILL_OPEN
            raise TimedOut(place=put.place, seconds=put.seconds or 0.0, has_agreed=has_agreed)
        case "unfit":
            raise InvalidAnswer(place=put.place, attempts=closed.attempts, problems=closed.problem)
        case _:
            assert_never(closed.outcome)
