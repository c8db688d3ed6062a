"""Step by step, for hosts where nobody waits: a call is left at its questions and taken up with the answers."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter

from askback.answers import Answer
from askback.client.intake import check_answer, prepare_question, require_no_keys
from askback.client.person import Asked, Asker
from askback.errors import AuthorError, NotUnderstood
from askback.protocol.client.questions import IncomingRound
from askback.protocol.elicitation import reply_of

T_co = TypeVar("T_co", covariant=True)

CallKind = Literal["tool", "prompt", "resource"]

VERSION = 1
"""Version of the written form."""


@dataclass(frozen=True, slots=True)
class FinishedCall(Generic[T_co]):
    """The call is done, and this is its result."""

    result: T_co


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCall:
    """A call that waits for answers. Its JSON holds the server's state: store it where others cannot read it."""

    asker: Asker
    kind: CallKind
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asking: IncomingRound
    replies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The replies to requests that no person is asked; got when the call was left."""

    @property
    def purpose(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def questions(self) -> dict[str, Asked]:
        """The questions for a person, by key and in order."""
        words = {key: self.asking.question(key) for key in self.asking.requests if key not in self.replies}
        return {
            key: prepare_question(said, asker=self.asker, purposes=(self.purpose,), key=key)
            for key, said in words.items()
            if said is not None
        }

    def to_json(self) -> str:
        """Write the call as text that `from_json` reads, in another process and on another day."""
        return json.dumps({"askback": VERSION, **asdict(self)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "WaitingCall":
        """Read what `to_json` wrote; raises `AuthorError` for any other text."""
        try:
            written: dict[str, Any] = _OBJECT.validate_json(text)
            if written.pop("askback", None) != VERSION:
                raise ValueError("no version, or another one")
            waiting = _WAITING.validate_python(written)
            if any(
                key not in waiting.replies and key not in waiting.questions for key in waiting.asking.requests
            ):
                raise ValueError("a request without a question or a reply")
            return waiting
        except (ValueError, TypeError, RecursionError, NotUnderstood) as error:
            raise AuthorError(
                "This is not a waiting call, or it was written by another version of Askback. "
                "Begin the call again."
            ) from error


_WAITING = TypeAdapter(WaitingCall)
_OBJECT = TypeAdapter(dict[str, Any])


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
