"""Matching what a body asks to what it asked before: by place, and by a digest of the exact question."""

from typing import Any

from askback.errors import Drift
from askback.model.journal import ClosedQuestion, Journal, OpenedQuestion, Outcome
from askback.model.question import Question

GIST_LENGTH = 80
"""Enough of a message to recognise it in a Drift error; the digest does the matching."""


def gist_of(message: str) -> str:
    """The beginning of a message."""
    return message if len(message) <= GIST_LENGTH else message[: GIST_LENGTH - 1] + "…"


def recall(journal: Journal, place: str, question: Question) -> ClosedQuestion | None:
    """The closed question at this place, if it is this very question."""
    entry = journal.answered[place]
    if entry.digest == question.digest:
        return entry
    note_drift(journal, entry, question)
    drop_from(journal, place)
    return None


def reopen(journal: Journal, place: str, question: Question) -> OpenedQuestion | None:
    """The open question at this place, if it is this very question."""
    entry = journal.opened[place]
    if entry.digest == question.digest:
        return entry
    note_drift(journal, entry, question)
    del journal.opened[place]
    journal.arrived.pop(place, None)
    return None


def close(journal: Journal, opened: OpenedQuestion, outcome: Outcome, content: Any = None) -> ClosedQuestion:
    """An open question has its answer."""
    place, digest, gist, _, _, attempts, problem, _ = opened
    closed = ClosedQuestion(place, digest, gist, outcome, content, attempts, problem)
    del journal.opened[place]
    journal.answered[place] = closed
    return closed


def note_drift(journal: Journal, entry: ClosedQuestion | OpenedQuestion, question: Question) -> None:
    """Forgive the first change at a place, since data does change while a person thinks; not the second."""
    if entry.place in journal.drifted:
        raise Drift(
            conversation=journal.conversation,
            place=entry.place,
            recorded=entry.gist,
            asked=gist_of(question.message),
        )
    journal.drifted.add(entry.place)


def drop_from(journal: Journal, place: str) -> None:
    """Forget the answer at `place` and everything later, which may have built on it; effects stay."""
    places = list(journal.answered)
    for later in places[places.index(place) :]:
        del journal.answered[later]
    journal.opened.clear()
    journal.arrived.clear()
