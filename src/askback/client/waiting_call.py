"""Step by step, for hosts where nobody waits: a call is left at its questions and taken up with the answers."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter

from askback.answers import Answer
from askback.client.intake import check_answer, prepare_question, require_no_keys
from askback.client.person import Asked, Asker
from askback.client.rounds import Again, Fulfil, Send, without_a_person
from askback.errors import AuthorError, NotUnderstood
from askback.protocol.client.questions import IncomingRound
from askback.protocol.elicitation import reply_of

T_co = TypeVar("T_co", covariant=True)

CallKind = Literal["tool", "prompt", "resource"]

VERSION = 1
"""Of the written form; a later one is read by later versions alone."""


@dataclass(frozen=True, slots=True)
class FinishedCall(Generic[T_co]):
    """The call is done, and this is its result."""

    result: T_co


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCall:
    """A call that waits for answers. Whoever holds it written down holds the server's state: keep it to yourself."""

    asker: Asker
    kind: CallKind
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asking: IncomingRound
    replies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """To what no person is asked; found out when the call was left."""

    @property
    def purpose(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def questions(self) -> dict[str, Asked]:
        """What a person is to be asked, by key and in order."""
        words = {key: self.asking.question(key) for key in self.asking.requests if key not in self.replies}
        return {
            key: prepare_question(said, asker=self.asker, purposes=(self.purpose,), key=key)
            for key, said in words.items()
            if said is not None
        }

    def to_json(self) -> str:
        """As text that `from_json` reads, in another process and on another day."""
        return json.dumps({"askback": VERSION, **asdict(self)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "WaitingCall":
        """What `to_json` wrote; all else is an `AuthorError`, whatever it is."""
        try:
            return _read(json.loads(text))
        except (ValueError, TypeError, RecursionError, NotUnderstood) as error:
            raise AuthorError(
                "This is not a waiting call, or it was written by another version of Askback. "
                "Begin the call anew."
            ) from error


_WAITING = TypeAdapter(WaitingCall)


def _read(written: Any) -> WaitingCall:
    match written:
        case {"askback": version, **rest} if version == VERSION:
            waiting = _WAITING.validate_python(rest)
        case _:
            raise ValueError("no version, or another one")
    if any(key not in waiting.replies and key not in waiting.questions for key in waiting.asking.requests):
        raise ValueError("a request that nobody answers")
    return waiting


class LeftAtQuestions(Exception):
    """Not an error: it carries a round past the session, which has no room for one."""

    def __init__(self, asking: IncomingRound, replies: Mapping[str, Any]) -> None:
        super().__init__()
        self.asking, self.replies = asking, replies


class StopAtQuestions:
    """The way of a call that is left when a person must answer; the rest is seen to at once."""

    def __init__(
        self, taken_up: IncomingRound | None = None, replies: Mapping[str, Any] | None = None
    ) -> None:
        """Where the call is `taken_up`, its first request carries the replies to that round."""
        self._taken_up, self._replies = taken_up, replies or {}

    async def __call__(
        self, params: Mapping[str, Any], *, send: Send, fulfil: Fulfil, again: Again
    ) -> dict[str, Any]:
        first = params if self._taken_up is None else self._taken_up.answer_params(params, self._replies)
        found = await send(first)
        while isinstance(found, IncomingRound):
            replies = await without_a_person(found, fulfil)
            if len(replies) < len(found.requests):
                raise LeftAtQuestions(found, replies)
            await again(bool(replies))
            found = await send(found.answer_params(params, replies))
        return found


def require_same(asked: Asker, here: Asker) -> None:
    """Raise where a call waits at another server than this one, also one that bears the same label."""
    if asked.label != here.label:
        raise AuthorError(
            f"This call waits at {asked.label}, and this driver talks to {here.label}. The answers are not for this "
            "server."
        )
    if asked.identity and here.identity and asked.identity != here.identity:
        raise AuthorError(
            f"This call waits at another server that is called {asked.label} too: by another command, folder or "
            "address, or through a transport without a label. The answers are not for this one. Connect as the driver "
            "did that began the call, and give both the same label= if they connect through a transport."
        )


def replies_of(
    waiting: WaitingCall, answers: Mapping[str, Answer[Any]], *, excused: Collection[str]
) -> dict[str, Any]:
    """All replies of the round in its own order; raises where an answer is missing, surplus or does not fit."""
    questions = waiting.questions
    if missing := [key for key in questions if key not in answers]:
        raise AuthorError(
            f"There is no answer for {missing[0]!r}. Answer every one of: {', '.join(questions)}."
        )
    if surplus := [key for key in answers if key not in questions]:
        raise AuthorError(f"Nobody asked for {surplus[0]!r}. The questions are: {', '.join(questions)}.")
    given = {key: check_answer(asked, answers[key]) for key, asked in questions.items()}
    for key, asked in questions.items():
        require_no_keys(asked, given[key], excused=excused)
    replies = {key: reply_of(answer) for key, answer in given.items()} | dict(waiting.replies)
    return {key: replies[key] for key in waiting.asking.requests}
