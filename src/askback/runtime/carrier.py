"""The seam between the eras: how a question leaves the server. What differs between revisions is behind it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from askback.model.journal import Arrival
from askback.model.question import Question
from askback.model.visit import Ending

Ended = Callable[[float], Awaitable[Ending | None]]
"""How a visit ended, as soon as it has; None if it has not after so many seconds."""


class Pause(Enum):
    """A visit that has not ended, and what is to be done about it."""

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
    """What a client can know a copy by: see `askback.protocol.question_ids`."""


class Carrier(Protocol):
    """Carries the questions of one call."""

    async def deliver(self, showings: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival] | None:
        """Put at least the first of these to the person; give what arrived, by place.

        `None` means that the answers come in a later round; the showings are then kept for it. Several tasks of one
        body may call this; a person is asked one thing at a time, in order. Raises `CannotAsk` where nobody can be
        asked, and then nothing was sent.
        """
        ...

    @property
    def comes_back(self) -> bool:
        """Whether a call that is cut short may come again with what it knew, and not only anew."""
        ...

    @property
    def grace(self) -> float | None:
        """For how long a visit that an earlier call left is waited for, before it is put again.

        None where a call hears by itself whether the person agreed; where it does not, it leaves what it asks to the
        call after it.
        """
        ...

    def require_visits(self) -> None:
        """Raise `CannotAsk` where no link could be put to the person."""
        ...

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        """Wait for the end of a visit that the person agreed to, as long as this revision can."""
        ...
