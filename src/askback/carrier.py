"""The seam between the eras: how a question leaves the server. What differs between revisions is behind it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from askback.journal.entries import Arrival
from askback.question import Question
from askback.schema.render import Dialect


class Showing(NamedTuple):
    """A question on its way out; `message` is what the person is to read this time."""

    place: str
    question: Question
    message: str
    seconds: float | None


class Carrier(Protocol):
    """Carries the questions of one call."""

    @property
    def dialect(self) -> Dialect:
        """The words this revision has for a form."""
        ...

    async def deliver(self, showings: Sequence[Showing]) -> Mapping[str, Arrival] | None:
        """Put at least the first of these to the person; give what arrived, by place.

        `None` means that the answers come in a later round; the showings are then kept for it. Several tasks of one
        body may call this; a person is asked one thing at a time, in order. Raises `CannotAsk` where nobody can be
        asked, and then nothing was sent.
        """
        ...
