"""A journal: the answers, effects and open questions of one conversation, and how a replayed body is matched to them.

Plain values; no I/O, no clock. Rows are tuples, so that they are written down as they are. A question is matched by its
place and by a digest of its exact text.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from askback.errors import Drift
from askback.model.question import Question

Action = Literal["accept", "decline", "cancel"]
Outcome = Literal["accept", "decline", "cancel", "late", "unfit"]
"""How a question ended: the person's three actions, nobody in time, or no reply that fitted."""


class ReplyOrigin(NamedTuple):
    """What a client says of how a reply came about: its own word, and no proof."""

    channel: str | None = None
    rule: str | None = None
    """Which rule of a policy has answered."""
    shown: float | None = None
    """When the person saw the question."""


class Reply(NamedTuple):
    """What a client sent back for one question, its shape checked, its content not yet."""

    action: Action
    content: Any = None
    said: ReplyOrigin | None = None

    @property
    def word(self) -> str:
        """On whose word an answer stands that came through a client."""
        return "policy" if self.said is not None and self.said.channel == "policy" else "client"


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedReply:
    """A reply that is not even shaped like one; `code` names the problem."""

    code: str


@dataclass(frozen=True, slots=True)
class LateReply:
    """No reply within the question's time."""


Arrival = Reply | MalformedReply | LateReply


class ClosedQuestion(NamedTuple):
    """A question that is closed. `content` is what was accepted, as it came over the wire and fits."""

    place: str
    digest: str
    gist: str
    outcome: Outcome
    content: Any = None
    attempts: int = 1
    problem: str = ""


class OpenedQuestion(NamedTuple):
    """A question that was put and is not closed yet."""

    place: str
    digest: str
    gist: str
    asked_at: float
    seconds: float | None = None
    attempts: int = 0
    problem: str = ""
    id: str = ""
    """Under which it was put last: see `askback.protocol.elicitation`."""


class Effect(NamedTuple):
    """What `once` ran: its result as JSON, or the kind and the text of its failure."""

    key: str
    result: Any = None
    failed: tuple[str, str] | None = None


class NestedRound(NamedTuple):
    """Rounds that somebody else keeps in the same call: the SDK's resolvers, or a body that returns its questions.

    Their state travels in ours, and so do their last replies, which they need again on every later round.
    """

    state: str | None
    asked: list[str]
    """The keys of the questions that are out now."""
    replies: dict[str, Any]


class StartedVisit(NamedTuple):
    """A visit that was begun in this conversation. How it ended is in the store, and never here."""

    place: str
    id: str
    asked_at: float
    what: str = ""
    """A digest of what is visited: it differs for another visit at this place."""
    until: float = 0.0
    """When its time is over."""
    holder: str = ""
    """Under which its end is taken: this conversation's alone, on every pass."""
    is_over: bool = False
    """Whether the body has what came of it, so that it is for no other call."""


GIST_LENGTH = 80
"""Characters of a message that make it recognizable in a Drift error; the digest does the matching."""


def gist_of(message: str) -> str:
    """The beginning of a message."""
    return message if len(message) <= GIST_LENGTH else message[: GIST_LENGTH - 1] + "…"


class Journal:
    """What one conversation has asked, heard and done. `answered` keeps the order in which answers were taken.

    `conversation` is its id, assigned when the conversation first leaves the process.
    """

    __slots__ = (
        "answered",
        "arrived",
        "conversation",
        "drifted",
        "effects",
        "nested",
        "notes",
        "opened",
        "round",
        "visits",
    )

    def __init__(self, conversation: str = "", round: int = 0) -> None:  # noqa: A002 - it is the number of the round
        self.conversation = conversation
        self.round = round
        self.answered: dict[str, ClosedQuestion] = {}
        self.opened: dict[str, OpenedQuestion] = {}
        self.arrived: dict[str, Arrival] = {}
        self.effects: dict[str, Effect] = {}
        self.drifted: set[str] = set()
        self.nested: NestedRound | None = None
        self.visits: dict[str, StartedVisit] = {}
        self.notes: dict[str, Any] = {}
        """What Askback itself remembers of this call, in JSON; no author's key reaches here."""

    @property
    def epoch(self) -> str:
        """The epoch of the store in which this conversation began; empty where the store cannot tell."""
        return self.conversation.partition("/")[2]

    def recall(self, place: str, question: Question) -> ClosedQuestion | None:
        """The closed question at this place, if it is this very question."""
        entry = self.answered.get(place)
        if entry is None or entry.digest == question.digest:
            return entry
        self.note_drift(entry, question)
        self.forget_from(place)
        return None

    def reopen(self, place: str, question: Question) -> OpenedQuestion | None:
        """The open question at this place, if it is this very question."""
        entry = self.opened.get(place)
        if entry is None or entry.digest == question.digest:
            return entry
        self.note_drift(entry, question)
        del self.opened[place]
        self.arrived.pop(place, None)
        return None

    def put(
        self, place: str, question: Question, *, now: float, seconds: float | None, id: str
    ) -> OpenedQuestion:
        """Note that the question is put at this place, for the first time or once more, under this id."""
        opened = self.opened.get(place)
        if opened is None:
            gist = gist_of(question.message)
            opened = OpenedQuestion(place, question.digest, gist, now, seconds, id=id)
        else:
            opened = opened._replace(id=id)
        self.opened[place] = opened
        return opened

    def close(self, opened: OpenedQuestion, outcome: Outcome, content: Any = None) -> ClosedQuestion:
        """Note how an open question ended."""
        place, digest, gist, _, _, attempts, problem, _ = opened
        closed = ClosedQuestion(place, digest, gist, outcome, content, attempts, problem)
        del self.opened[place]
        self.answered[place] = closed
        return closed

    def note_drift(self, entry: ClosedQuestion | OpenedQuestion, question: Question) -> None:
        """Forgive the first change at a place, since data does change while a person thinks; not the second."""
        if entry.place in self.drifted:
            raise Drift(
                conversation=self.conversation,
                place=entry.place,
                recorded=entry.gist,
                asked=gist_of(question.message),
            )
        self.drifted.add(entry.place)

    def forget_from(self, place: str) -> None:
        """Drop the answer at `place` and everything later, which may have built on it; effects stay."""
        places = list(self.answered)
        for later in places[places.index(place) :]:
            del self.answered[later]
        self.opened.clear()
        self.arrived.clear()
