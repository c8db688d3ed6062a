"""The seam between the eras: how a question leaves the server. What differs between revisions is behind it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from askback.model.journal import Arrival
from askback.model.question import Question
from askback.model.visit import Ending

Ended = Callable[[float], Awaitable[Ending | None]]
"""Waits at most so many seconds for the end of a visit; None if it has not ended by then."""


class Pause(Enum):
    """What to do about a visit that has not ended."""

    TIME_OVER = "the person had as long as the question gave them"
    END_ROUND = "end this round with nothing asked; the client comes back by itself"
    ASK_AGAIN = "put the visit once more"
    GIVE_UP = "the client will not come back again"


class PlacedQuestion(NamedTuple):
    """A question at its place in the conversation."""

    place: str
    keyed: bool
    question: Question
    seconds: float | None


class OutgoingQuestion(NamedTuple):
    """A question on its way out; `message` is what the person is to read this time."""

    place: str
    question: Question
    message: str
    seconds: float | None
    id: str
    """By which a client recognizes a copy: see `askback.protocol.elicitation`."""


class Carrier(Protocol):
    """Carries the questions of one call to the client."""

    question_id: Callable[[str, int], str]
    """A new id for the question at this place in this round, each time it is put."""
    comes_back: bool
    """Whether a call that ends early may come again with what it knew, and not only as a new call."""
    grace: float | None
    """For how long a visit that an earlier call left is waited for, before it is put again.

    None where a call hears by itself whether the person agreed. Where it does not, it leaves what it asks to the call
    after it.
    """

    async def deliver(self, questions: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival] | None:
        """Put at least the first of these to the person; give what arrived, by place.

        `None` means that the answers come in a later round; the questions are then kept for it. Several tasks of one
        body may call this; a person is asked one thing at a time, in order. Raises `CannotAsk` where nobody can be
        asked, and then nothing was sent.
        """
        ...

    def require_visits(self) -> None:
        """Raise `CannotAsk` where no link could be put to the person."""
        ...

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        """Wait for the end of a visit that the person agreed to, as long as this revision can."""
        ...
