"""One call: under way, with its questions, its time and the tasks in which people answer; or left at its questions.

A call that is left is taken up with the answers, step by step, by hosts where nobody waits.
"""

import json
import time
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Literal, TypeVar

import anyio.abc
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from askback.answers import Answer, Cancelled
from askback.client.intake import check_answer, prepare_question, require_no_keys
from askback.client.labels import GONE, GONE_ENDED, GONE_WITHDRAWN
from askback.client.limits import Clock, QuestionLimits, QuestionTally, Sleep, WorkTimer
from askback.client.person import Asked, Asker, OnAnswer, Turn
from askback.errors import AuthorError, NotUnderstood, Unfinished
from askback.protocol.client import IncomingRound, is_lost
from askback.protocol.elicitation import reply_of

PutTurn = Callable[[Turn, QuestionTally], Awaitable[Answer[Any]]]

FIRST_PAUSE, MAX_PAUSE = 0.05, 5.0
"""Seconds before a call that only says "not yet" is made again: short at first, then twice as long each time."""


Resumed = tuple[IncomingRound, Mapping[str, Any]]
"""The round at which a call was left, and the replies that its next request carries."""


class CallKeywords(TypedDict, total=False):
    """How one call differs from others of its driver; explained at `ClientCall`."""

    stops: bool
    resumed: Resumed | None
    progress: ProgressFnT | None
    noted: OnAnswer | None
    only_looks: bool


class LeftAtQuestions(Exception):
    """Not an error: carries a round out of the SDK's session, which has no other way to return one."""

    def __init__(self, asking: IncomingRound, replies: Mapping[str, Any]) -> None:
        super().__init__()
        self.asking, self.replies = asking, replies


class OpenQuestion:
    """A question that is with a person, in a task that outlives the request which brought it."""

    def __init__(self, turn: Turn, owners: Collection["ClientCall"]) -> None:
        self.turn = turn
        self.owners = set(owners)
        """The calls it may belong to: on the push era, the wire does not say which of several asks."""
        self.left = anyio.Event()
        self.scope = anyio.CancelScope()
        self.answer: Answer[Any] = Cancelled()
        """Stays Cancelled if the caller gives up."""
        self.error: Exception | None = None

    async def run(self, put: PutTurn, tally: QuestionTally) -> None:
        try:
            with self.scope:
                self.answer = await put(self.turn, tally)
        except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
            self.error = error
        finally:
            self.left.set()


class ClientCall:
    """A tools/call, prompts/get or resources/read from its first request to its end."""

    def __init__(
        self,
        purpose: str,
        *,
        limits: QuestionLimits,
        patience: float | None = None,
        clock: Clock = time.monotonic,
        tally: QuestionTally | None = None,
        stops: bool = False,
        resumed: Resumed | None = None,
        progress: ProgressFnT | None = None,
        noted: OnAnswer | None = None,
        only_looks: bool = False,
    ) -> None:
        """
        Args:
            purpose: what the person is told that the call is for.
            limits: how much it may ask, and how long the server may work.
            patience: seconds that the server may work without a sign of life.
            clock: seconds, for the two.
            tally: counts its questions, where several calls share one count.
            stops: leave the call with `LeftAtQuestions` where a person has to answer.
            resumed: the round at which it was left, and the replies that its first request carries.
            progress: hears of the server's progress.
            noted: hears of each question that got an answer.
            only_looks: it changes nothing, so it may safely be made again.
        """
        self.purpose, self.stops, self.resumed, self.only_looks = purpose, stops, resumed, only_looks
        self.noted: OnAnswer = noted or (lambda _: None)
        self.watch = WorkTimer(patience=patience, limits=limits, clock=clock)
        self.tally = tally or QuestionTally(limits)
        self.lock = anyio.Lock()
        """The questions of one call are put one after another, also to a person who shows several."""
        self.consented: set[str] = set()
        """Links that the person has opened in this call."""
        self.is_over = False
        """Whether the server has ended it, or we have; a person may still be leaving a question of it."""
        self.failure: Exception | None = None
        """What went wrong on our own side: with the person, or with a callback."""
        self._progress, self._next_pause = progress, FIRST_PAUSE
        self._open: set[OpenQuestion] = set()
        self._is_cut_off = False
        self._working, self._leaving = anyio.CancelScope(), anyio.CancelScope()
        """Two scopes: ending the wait for a person who leaves must not cancel the result."""

    async def ask(
        self,
        turn: Turn,
        put: PutTurn,
        tasks: anyio.abc.TaskGroup,
        *,
        withdrawn: anyio.Event | None = None,
        beside: Collection["ClientCall"] = (),
    ) -> Answer[Any]:
        """Let the person answer. If the one that waits is cancelled, the person stays until they leave."""
        if self._is_cut_off:
            turn.withdraw(GONE)
            return Cancelled()
        question = OpenQuestion(turn, (self, *beside))
        for call in question.owners:
            call._open.add(question)
        with self.watch.person():
            tasks.start_soon(self._host, question, put)
            try:
                await question.left.wait()
            except anyio.get_cancelled_exc_class():
                turn.withdraw(GONE_WITHDRAWN if withdrawn is not None and withdrawn.is_set() else GONE)
                raise
        with self.on_our_side():
            if question.error is not None:
                raise question.error
        return question.answer

    async def _host(self, question: OpenQuestion, put: PutTurn) -> None:
        # The watch is held here as well: the one who asks may be cancelled while the person is still there.
        with self.watch.person():
            await question.run(put, self.tally)
        for call in question.owners:
            call._open.discard(question)

    @contextmanager
    def on_our_side(self) -> Generator[None]:
        """What fails in here is no mistake of the server."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            raise

    async def run(self, work: Callable[[], Awaitable[Any]], *, limit: float | None) -> Any:
        """The result of `work`, or the error why it was not waited for. Returns when the person has left too."""
        why = GONE_ENDED
        try:
            return await self._run_in_time(work, limit)
        except MCPError as error:
            why = GONE if is_lost(error) else GONE_ENDED
            raise
        finally:
            self.is_over, self.watch.changed = True, lambda: None
            with self._leaving:
                await self._wait_until_left(why)

    async def _run_in_time(self, work: Callable[[], Awaitable[Any]], limit: float | None) -> Any:
        """Until the server has had its time, the caller's `limit` is over, or the call has failed."""
        self.watch.changed = self._set_deadline
        self._set_deadline()
        with anyio.move_on_after(limit) as allowed:
            self._leaving.deadline = allowed.deadline
            with self._working:
                return await work()
            self.abandon()
            raise self._unfinished()
        raise Unfinished(call=self.purpose, problem=f"it was to take {limit:g} seconds at most, all told")

    async def _wait_until_left(self, why: str) -> None:
        """Until no question of this call alone is before a person any more."""
        late = self._release_questions()
        for question in late:
            question.turn.withdraw(why)
        try:
            for question in late:
                await question.left.wait()
        finally:
            for question in late:
                question.scope.cancel()

    def _release_questions(self) -> list[OpenQuestion]:
        """Let go of all questions; returns those that belong to no other call."""
        released, self._open = self._open, set()
        for question in released:
            question.owners.discard(self)
        return [question for question in released if not question.owners]

    def fail(self, failure: Exception) -> None:
        """End the call with this error."""
        self.failure = self.failure or failure
        self._working.cancel()
        self._leaving.cancel()

    async def pause(self, sleep: Sleep, *, has_asked: bool) -> None:
        """Wait before the next round: not at all after an answer, longer and longer after a mere "not yet"."""
        if has_asked:
            self._next_pause = FIRST_PAUSE
        else:
            await sleep(self._next_pause)
            self._next_pause = min(self._next_pause * 2, MAX_PAUSE)
        if self.watch.left() <= 0:
            raise self._unfinished()

    def abandon(self) -> None:
        """The caller has given up: what the person sees of this call goes away."""
        for question in self._release_questions():
            question.scope.cancel()

    def withdraw_all(self) -> None:
        """The connection is gone: neither these answers nor those to later questions can be sent."""
        self._is_cut_off = True
        for question in self._open:
            question.turn.withdraw(GONE)

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.watch.touch()
        if self._progress is not None:
            await self._progress(progress, total, message)

    def _unfinished(self) -> Exception:
        return self.failure or Unfinished(
            call=self.purpose,
            problem="the server neither finished, nor asked, nor told of progress in its time",
        )

    def _set_deadline(self) -> None:
        self._working.deadline = anyio.current_time() + self.watch.left()


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
