"""The intake of one server's questions: read, judged, counted, paced, put in line, checked and recorded.

A question that comes twice is shown once: its copy gets the answer that the first one got. A proxy that sends a call
again lets the server ask again. Whether two questions are one is the server's word, in the id that it gives them, and
ours: only what is the same to the letter shares an answer, only on one connection, and only while a call is under way
that may have asked both. What somebody agreed to for one call says nothing about the next.
"""

import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, cast

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.consent import judge
from askback.client.consent.sites import Sites, remember_site, sites_before
from askback.client.forms import Draft, ReceivedForm, read_form
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.limits import Clock, QuestionLimits, QuestionTally, Sleep, TokenBucket
from askback.client.person import (
    AnswerRecord,
    Asked,
    Asker,
    FormAsked,
    OnAnswer,
    PersonQueue,
    Turn,
    VisitAsked,
)
from askback.errors import AnswerRefused
from askback.protocol.client import IncomingForm, IncomingQuestion, IncomingVisit
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


def prepare_question(
    words: IncomingQuestion,
    *,
    asker: Asker,
    purposes: tuple[str, ...],
    key: str | None = None,
    before: Collection[str] | None = None,
) -> Asked:
    """The form read with care, or the link judged; `before` are the sites that this server sent the person to."""
    if isinstance(words, IncomingForm):
        return FormAsked(
            asker=asker,
            purposes=purposes,
            message=words.message,
            blank=read_form(words.schema),
            key=key,
            meta=words.meta,
            question=words.question,
        )
    return VisitAsked(
        asker=asker,
        purposes=purposes,
        message=words.message,
        url=words.url,
        verdict=judge(words.url, server_host=asker.host, before=before),
        id=words.id,
        key=key,
        meta=words.meta,
        question=words.question,
    )


def check_answer(asked: Asked, answer: Answer[Any]) -> Answer[Any]:
    """The answer as it can be sent; raises `AnswerRefused` where it cannot be. A visit's yes carries nothing (R67)."""
    if not isinstance(answer, Accepted):
        return answer
    if isinstance(asked, VisitAsked):
        if not asked.verdict.allowed:
            raise _answer_refused(asked, asked.verdict.refusal or "this link may not be opened")
        return Accepted(None)
    if asked.blank.refusal is not None:
        raise _answer_refused(asked, asked.blank.refusal)
    content: object = answer.value
    if not isinstance(content, Mapping):
        raise _answer_refused(asked, "an accepted form takes a mapping of its fields")
    given = dict(cast("Mapping[str, Any]", content))
    if problems := _content_problems(asked.blank, given):
        raise _answer_refused(asked, _listed_problems(problems))
    return Accepted(given)


def require_no_keys(asked: Asked, answer: Answer[Any], *, excused: Collection[str]) -> None:
    """Refuse values that are shaped like a key (T13), unless the person insists. Surfaces check it as one types."""
    if not isinstance(asked, FormAsked) or not isinstance(answer, Accepted):
        return
    stops = Draft(asked.blank, cast("Mapping[str, Any]", answer.value)).stops()
    if found := {name: why for name, why in stops.items() if name not in excused}:
        raise _answer_refused(
            asked, _listed_problems(found) + "; name the field in excused= where the person wants to send it"
        )


def _content_problems(blank: ReceivedForm, given: dict[str, Any]) -> dict[str, str]:
    known = {entry.name for entry in blank.entries}
    unknown = dict.fromkeys((name for name in given if name not in known), "the form has no such field")
    missing = (entry.name for entry in blank.entries if entry.is_required and entry.name not in given)
    wrong = Draft(blank, {name: value for name, value in given.items() if name in known}).problems()
    return (
        unknown
        | dict.fromkeys(missing, "this field is required")
        | {name: why for name, why in wrong.items() if name in given}
    )


def _listed_problems(problems: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in problems.items())


def _answer_refused(asked: Asked, problems: str) -> AnswerRefused:
    return AnswerRefused(question=asked.message[:MAX_REPEATED_LENGTH], problems=problems)


ALL_DECLINED = "declined all from this server"
"""Who answered, in the record of a question that was declined without being shown."""


class Intake:
    """One server's questions on their way to a line."""

    def __init__(
        self,
        line: PersonQueue,
        *,
        asker: Asker,
        limits: QuestionLimits,
        sites: Sites | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.line, self.asker, self.limits = line, asker, limits
        self.answered: list[AnswerRecord] = []
        self.copies = DuplicateQuestions(clock)
        self._sites, self._sleep = sites, sleep
        self._bucket = TokenBucket(limits, clock)
        self._declines_all = False

    async def read(
        self, words: IncomingQuestion, *, purposes: tuple[str, ...], key: str | None = None
    ) -> Asked:
        """The question as this person can be shown it."""
        before: frozenset[str] | None = None
        if self._sites is not None and isinstance(words, IncomingVisit):
            before = await sites_before(self._sites, _name_for_sites(self.asker))
        return prepare_question(words, asker=self.asker, purposes=purposes, key=key, before=before)

    async def put(self, turn: Turn, tally: QuestionTally, noted: Iterable[OnAnswer] = ()) -> Answer[Any]:
        """The person's answer, fitting and noted; raises where this server asks too much."""
        answer = await self.admit(turn, tally)
        if answer is None:
            answer = await self.line.put(turn, beforehand=lambda: self._declined_beforehand(turn), call=tally)
            self._declines_all = self._declines_all or turn.declines_all
            # What was typed into a question that is withdrawn stays here.
            answer = Cancelled() if turn.gone is not None else check_answer(turn.asked, answer)
        if turn.gone is None:
            await self.note(turn.asked, answer, by=turn.by, noted=noted)
        return answer

    async def admit(self, turn: Turn, tally: QuestionTally) -> Answer[Any] | None:
        """Count and pace what a person is to see; the answer, where they have said that they want to see no more."""
        turn.number = tally.count(turn.asked)
        if (declined := self._declined_beforehand(turn)) is None:
            await self._sleep(self._bucket.take())
        return declined

    def _declined_beforehand(self, turn: Turn) -> Answer[Any] | None:
        if not self._declines_all:
            return None
        turn.by = ALL_DECLINED
        return Declined()

    async def note(
        self, asked: Asked, answer: Answer[Any], *, by: str, noted: Iterable[OnAnswer] = ()
    ) -> None:
        """Write down what came of a question, and where the person has agreed to go."""
        one = AnswerRecord(asked=asked, action=reply_of(answer)["action"], by=by)
        for hear in (self.answered.append, *noted):
            hear(one)
        if self._sites is not None and isinstance(asked, VisitAsked) and isinstance(answer, Accepted):
            await remember_site(self._sites, _name_for_sites(self.asker), asked.verdict.domain)


def _name_for_sites(asker: Asker) -> str:
    """The name under which a server's visits are remembered: several servers may share a label."""
    return asker.identity or asker.label
