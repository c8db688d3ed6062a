"""What a journal holds: answers, effects, questions still open. Plain values; no I/O, no clock.

Its rows are tuples, so that they are written down as they are.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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
    """Under which it was put last: see `askback.protocol.question_ids`."""


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
    """A digest of what is visited: another visit at this place is another trip."""
    until: float = 0.0
    """When its time is over."""
    holder: str = ""
    """Under which its end is taken: this conversation's alone, on every pass."""
    is_over: bool = False
    """Whether the body has what came of it, so that it is for no other call."""


def conversation_id(number: str, *, epoch: str) -> str:
    """An id that says which memory of the store knows of it, where the store can tell."""
    return f"{number}/{epoch}" if epoch else number


class Journal:
    """One conversation's memory. The order of `answered` is the order in which the answers were taken.

    `conversation` is its id, given when it first leaves the process.
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
        """The memory of the store that this conversation began with; empty where the store cannot tell."""
        return self.conversation.partition("/")[2]
