"""A question that comes twice is shown once: its copy gets the answer that the first one got.

A proxy that sends a call again lets the server ask again. Whether two questions are one is the server's word, in the
id that it gives them, and ours: only what is the same to the letter shares an answer, only on one connection, and only
while a call is under way that may have asked both. What somebody agreed to for one call says nothing about the next.
"""

import json
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import anyio

from askback.answers import Answer
from askback.client.limits import Clock
from askback.client.person import Turn
from askback.protocol.client.questions import IncomingForm, IncomingQuestion
from askback.protocol.elicitation import reply_of

DEDUPE_SECONDS = 300.0
"""Seconds for which an answer is kept for copies: proxies give up on a server after one minute, or a few."""

MAX_COPIES = 10
"""That one answer serves, once it is given: a server that sends more is asking, and is counted and paced again."""

MAX_ANSWERS = 50
"""Answers of one connection; the oldest go first."""


class GivenAnswer(NamedTuple):
    """An answer on its way back, and the turn in which it was given; None where it was not shown to a person."""

    answer: Answer[Any]
    turn: Turn | None = None

    @property
    def counts(self) -> bool:
        """Whether somebody has answered, and it was still wanted."""
        return self.turn is not None and self.turn.gone is None

    def reply(self) -> dict[str, Any]:
        """As it goes to the server. One that names its questions as we do is told how this one was answered."""
        is_named = self.turn is not None and self.turn.asked.question is not None
        return reply_of(self.answer, said=self.turn.origin() if self.turn and is_named else None)


@dataclass(slots=True, eq=False)
class _Original:
    """The first of its kind: under way until it is over."""

    calls: Collection[object] = ()
    """The calls that may have asked it; empty where that is not known."""
    over: anyio.Event = field(default_factory=anyio.Event)
    given: GivenAnswer | None = None
    at: float = 0.0
    copies: int = 0


class DuplicateQuestions:
    """The questions of one connection that are under way or were answered lately."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], _Original] = {}

    async def once(
        self,
        words: IncomingQuestion,
        ask: Callable[[], Awaitable[GivenAnswer]],
        *,
        calls: Collection[object] = (),
    ) -> GivenAnswer:
        """What `ask` gives, or gave for a question that this one is a copy of; `calls` may be asking it."""
        name = _name_of(words)
        if name is None:
            return await ask()
        self._forget()
        while (first := self._known.get(name)) is not None:
            if first.calls and calls and not any(call in first.calls for call in calls):
                break  # it belongs to calls that this copy cannot belong to
            await first.over.wait()
            if first.given is not None:
                first.copies += 1
                return first.given
            # Withdrawn or failed: the copy that waited longest is asked in its place.
            self._forget()
        first = self._known[name] = _Original(calls)
        try:
            given = await ask()
            if given.counts:
                first.given, first.at = given, self._clock()
            return given
        finally:
            first.over.set()
            if first.given is None and self._known.get(name) is first:
                del self._known[name]
            self._forget()

    def _forget(self) -> None:
        """What was answered long ago or has served enough, and what is more than we keep."""
        since = self._clock() - DEDUPE_SECONDS
        answered = {name: first for name, first in self._known.items() if first.given is not None}
        for number, (name, first) in enumerate(reversed(answered.items())):
            if number >= MAX_ANSWERS or first.at < since or first.copies >= MAX_COPIES:
                del self._known[name]


def _name_of(words: IncomingQuestion) -> tuple[str, str] | None:
    """The server's id and a digest of all that it says; none where it gives no id, or nonsense."""
    if words.question is None:
        return None
    asked = (words.schema,) if isinstance(words, IncomingForm) else (words.url, words.id)
    try:
        # In its own order, which a person sees: a copy has the same.
        said = json.dumps([type(words).__name__, words.message, asked, words.meta])
    except (ValueError, TypeError, RecursionError):
        return None
    return words.question, sha256(said.encode()).hexdigest()
