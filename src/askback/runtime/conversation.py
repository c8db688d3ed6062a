"""One call with all its questions: joins what the body asks to the journal and the carrier.

No I/O, no clock, no randomness of its own: the time of the pass comes in, questions go out through the carrier.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, NoReturn, assert_never

from pydantic import ValidationError

from askback.answers import Accepted, Answer
from askback.errors import AskbackError, AskedInsideOnce, KeysNeeded, KeyTaken, OutsideConversation
from askback.model.events import describe_arrival
from askback.model.journal import Arrival, LateReply, MalformedReply, OpenedQuestion, Reply
from askback.model.question import Question, Visit
from askback.model.visit import Ending
from askback.runtime.body_task import BodyTask, Task, running_task
from askback.runtime.carrier import Carrier, OutgoingQuestion, Pause, PlacedQuestion
from askback.runtime.context import CallContext
from askback.runtime.current import EFFECT, BodyStopped, BodySuspended, QuestionsReturned, Unawaited
from askback.runtime.event_log import emit_all
from askback.runtime.once import EffectRunner, EffectTerms
from askback.runtime.outcomes import STILL_OPEN, answer_of
from askback.runtime.visit_flow import VisitFlow, VisitPlan
from askback.schema.validation import Misfit, Problem, read_content

AFTER_THE_END = (
    "{verb} was reached after its call had been answered. Await it before the body returns; work that goes on in the "
    "background cannot ask."
)


class BodyPosition(NamedTuple):
    """How far a body had come: what it had asked and done."""

    unkeyed: int
    elicited: int
    places: frozenset[str]
    effects: frozenset[str]


class Conversation:
    """The questions and effects of one call, in one pass of its body."""

    __slots__ = (  # there is one for each person who thinks
        "__weakref__",
        "_body",
        "_effects",
        "_elicited",
        "_fault",
        "_places",
        "_replies",
        "_unkeyed",
        "_waiting",
        "agreed",
        "context",
        "is_left",
        "is_over",
        "last_words",
        "returned",
        "takes_returns",
        "unawaited",
    )

    def __init__(self, context: CallContext, *, takes_returns: bool) -> None:
        """`takes_returns`: whether a body that returns questions is to `hand_back` them."""
        self.context, self.takes_returns = context, takes_returns
        self._body = BodyTask()
        self._unkeyed = self._elicited = 0
        self._places: set[str] = set()
        self._waiting: list[PlacedQuestion] = []
        self._replies: dict[str, Reply] = {}
        self._effects: EffectRunner | None = None
        self._fault: AskbackError | None = None
        self.returned: object = None
        """Questions that the body returned by itself, where the revision cannot carry them."""
        self.is_left = False
        """Whether the body was left before its end; flags, since a kept exception would keep the whole body."""
        self.is_over = False
        """Set when the call is answered: a verb that is reached later is outside it."""
        self.last_words: str | None = None
        self.unawaited: set[Unawaited] = set()
        """Coroutines of verbs that were not awaited yet."""
        self.agreed: set[str] = set()
        """What the person has approved for the rest of this call, as far as this pass has come."""

    def place(self, question: Question, *, key: str | None, seconds: float | None) -> PlacedQuestion:
        """Give a question its place."""
        seconds = self.context.server.policy.seconds if seconds is None else seconds
        return PlacedQuestion(self._take_place(key, "ask"), key is not None, question, seconds)

    def _take_place(self, key: str | None, kind: str, *, verb: str = "ask") -> str:
        """The author's key, or the question's number among those without one."""
        if key is None:
            self._unkeyed += 1
        place = f"{kind}-{self._unkeyed}" if key is None else key
        if place in self._places:
            raise KeyTaken(place, kind=verb)
        self._places.add(place)
        return place

    @property
    def is_later_round(self) -> bool:
        """Whether this pass came back with state of ours."""
        return self.context.journal.round > 0

    def mark(self) -> BodyPosition:
        """Where the body is now, for a host that may run it again inside this pass."""
        effects = self._effects.keys if self._effects is not None else ()
        return BodyPosition(self._unkeyed, self._elicited, frozenset(self._places), frozenset(effects))

    def rewind(self, mark: BodyPosition) -> None:
        """The body runs again from that place: what it asks has its old places, and the journal has the answers."""
        self._unkeyed, self._elicited, self._places = mark.unkeyed, mark.elicited, set(mark.places)
        if self._effects is not None:
            self._effects.keys = set(mark.effects)

    def place_elicited(self, question: Question, *, seconds: float | None) -> PlacedQuestion:
        """Give a place to a question of the host's own calls, which know no keys and yet may go side by side."""
        self._elicited += 1
        seconds = self.context.server.policy.seconds if seconds is None else seconds
        return PlacedQuestion(f"elicit-{self._elicited}", True, question, seconds)

    async def ask(
        self, question: Question, *, key: str | None = None, seconds: float | None = None
    ) -> Answer[Any]:
        """Give the question its place and return the answer."""
        return await self.ask_placed(self.place(question, key=key, seconds=seconds))

    async def ask_placed(self, placed: PlacedQuestion) -> Answer[Any]:
        """The answer, from the journal where it has it."""
        task = self._enter()
        while (answer := self._recall(placed)) is None:
            await self._deliver((placed,), task)
        if self.context.events is not None:
            await self.context.events.checkpoint()
        return answer

    async def ask_all(self, questions: Sequence[PlacedQuestion]) -> list[Answer[Any]]:
        """The answers in order; what the journal does not have goes out together."""
        task = self._enter()
        answers = {placed.place: self._recall(placed) for placed in questions}
        while missing := [placed for placed in questions if answers[placed.place] is None]:
            await self._deliver(missing, task)
            answers |= {placed.place: self._recall(placed) for placed in missing}
        if self.context.events is not None:
            await self.context.events.checkpoint()
        return [answer for answer in answers.values() if answer is not None]

    async def visit(self, plan: VisitPlan, *, key: str | None) -> Answer[Any]:
        """Send the person somewhere; their answer is what came of it, or their no."""
        self._enter()
        place = self._take_place(key, "link", verb="visit")
        return await VisitFlow(self, self.context).run(place, plan, is_keyed=key is not None)

    def has_asked_at(self, place: str) -> bool:
        """Whether this pass has asked there before."""
        return place in self._places

    def was_put(self, place: str) -> bool:
        """Whether a question was put there, in this pass or an earlier one, answered or not."""
        return place in self.context.journal.answered or place in self.context.journal.opened

    def word_at(self, place: str) -> str | None:
        """On whose word the answer stands that this pass has taken there."""
        reply = self._replies.get(place)
        return None if reply is None else reply.word

    def note(self, key: str, value: Any) -> None:
        """Remember something for the rest of this call, on every later round too; JSON, and no answer of a person's."""
        self.context.journal.notes[key] = value

    def noted(self, key: str) -> Any:
        """What was last noted there, or None."""
        return self.context.journal.notes.get(key)

    async def once(
        self, key: str, function: Callable[..., Any], call: Callable[[], Any], terms: EffectTerms
    ) -> Any:
        """Run the effect now, or give what it gave before."""
        self._enter()
        self._effects = self._effects or EffectRunner(self.context)
        return await self._effects.once(key, function, call, terms)

    def reopen(self, placed: PlacedQuestion) -> None:
        """Forget that the person agreed, so that they are asked once more."""
        closed = self.context.journal.answered.pop(placed.place)
        self.context.journal.opened[placed.place] = OpenedQuestion(
            placed.place, closed.digest, closed.gist, self.context.clock(), placed.seconds, problem=STILL_OPEN
        )

    async def wait_outside(self, waiting: Callable[[], Awaitable[Ending | Pause]]) -> Ending | Pause:
        """Wait for something other than a reply; if the body is left meanwhile, so is this."""
        abroad = self._body.begin_waiting(running_task())
        try:
            return await waiting()
        finally:
            if abroad is not None:
                self._body.end_waiting(abroad)

    async def pause(self) -> NoReturn:
        """End this round with nothing asked; the client comes back by itself."""
        await self._suspend(is_abroad=not self._body.is_current())

    def require_open(self, verb: str) -> None:
        """Refuse a verb after the end: a suspended body suspends again, and a finished one gets an error."""
        if self.is_left:
            raise BodySuspended
        if self.is_over:
            raise OutsideConversation(AFTER_THE_END.format(verb=verb))

    def stop(self, text: str) -> NoReturn:
        """End the call with the author's words."""
        self.is_left, self.last_words = True, text
        if (effects := self._running_effects) is not None:
            effects.when_done(self._body.interrupt)
        else:
            self._body.interrupt()
        raise BodyStopped

    def hand_back(self, result: object) -> NoReturn:
        """Leave with the questions that the body returned; the middleware asks them and calls the body again."""
        self.is_left, self.returned = True, result
        raise QuestionsReturned

    @property
    def has_leftovers(self) -> bool:
        """Whether the body left something waiting or running behind, which `clear` ends."""
        body = self._body
        return (
            bool(body.others)
            or body.is_interrupted
            or (self.last_words is not None and self._effects is not None)
        )

    async def clear(self) -> None:
        """End what the body has left waiting; an effect that was under way when it was stopped is waited for."""
        if self.last_words is not None and (effects := self._running_effects) is not None:
            effects.when_done(None)  # the body has left by itself
            await effects.wait_for_all()
        await self._body.clear()

    @property
    def _running_effects(self) -> EffectRunner | None:
        return self._effects if self._effects is not None and self._effects.are_running else None

    def _enter(self) -> Task | None:
        """The task that asks, if it may."""
        task, inside = self._body.enter(), EFFECT.get()
        if inside is not None:
            raise AskedInsideOnce(inside)
        return task

    # From here: a question, from the journal to the person and back.

    def _recall(self, placed: PlacedQuestion) -> Answer[Any] | None:
        journal, place, question = self.context.journal, placed.place, placed.question
        if place in journal.answered and (closed := journal.recall(place, question)) is not None:
            try:
                return answer_of(placed, closed)
            except ValidationError:
                # What the author's validators took before they refuse now: the world has changed, so ask once more.
                journal.note_drift(closed, question)
                journal.forget_from(place)
        if place in journal.opened and (opened := journal.reopen(place, question)) is not None:
            arrival = journal.arrived.pop(place, None)
            return None if arrival is None else self._receive(placed, opened, arrival)
        return None

    def _receive(
        self, placed: PlacedQuestion, opened: OpenedQuestion, arrival: Arrival
    ) -> Answer[Any] | None:
        if isinstance(arrival, Reply):
            self._replies[placed.place] = arrival
        try:
            return self._read(placed, opened, arrival)
        finally:
            if (events := self.context.events) is not None:
                emit_all(
                    events, describe_arrival(opened, arrival, self.context.journal.answered.get(placed.place))
                )

    def _read(self, placed: PlacedQuestion, opened: OpenedQuestion, arrival: Arrival) -> Answer[Any] | None:
        match arrival:
            case Reply(action="accept"):
                return self._accept(placed, opened, arrival.content)
            case Reply():
                return answer_of(placed, self.context.journal.close(opened, arrival.action))
            case LateReply():
                waited = placed.seconds or self.context.server.policy.think_time
                return answer_of(placed._replace(seconds=waited), self.context.journal.close(opened, "late"))
            case MalformedReply():
                return self._ask_again(placed, opened, (Problem(code=arrival.code),))
            case _:
                assert_never(arrival)

    def _accept(self, placed: PlacedQuestion, opened: OpenedQuestion, content: Any) -> Answer[Any] | None:
        if isinstance(
            placed.question, Visit
        ):  # consent has no content; whatever came with it is not looked at
            return answer_of(placed, self.context.journal.close(opened, "accept"))
        if content is None:
            if placed.question.fieldset.is_empty:
                return answer_of(placed, self.context.journal.close(opened, "accept"))
            return self._ask_again(placed, opened, (Problem(code="no_content"),))
        max_bytes = self.context.server.policy.max_reply_bytes
        read = read_content(placed.question.fieldset, content, self.context.dialect, max_bytes=max_bytes)
        if isinstance(read, Misfit):
            return self._ask_again(placed, opened, read.problems)
        self.context.journal.close(opened, "accept", read.content)
        return Accepted(read.value)

    def _ask_again(
        self, placed: PlacedQuestion, opened: OpenedQuestion, problems: tuple[Problem, ...]
    ) -> Answer[Any] | None:
        attempts = opened.attempts + 1
        problem = self.context.server.policy.words.describe(problems)
        opened = opened._replace(attempts=attempts, problem=problem, asked_at=self.context.clock())
        if attempts > self.context.server.policy.reply_retries:
            return answer_of(placed, self.context.journal.close(opened, "unfit"))
        self.context.journal.opened[placed.place] = opened
        return None

    async def _deliver(self, missing: Sequence[PlacedQuestion], task: Task | None) -> None:
        if self._waiting and not all(placed.keyed for placed in (*self._waiting, *missing)):
            self._fault = KeysNeeded()
            raise self._fault
        self._waiting.extend(missing)
        abroad = self._body.begin_waiting(task)
        try:
            carrier = self.context.carrier
            arrived = await carrier.deliver([self._outgoing(placed, carrier) for placed in missing])
            if arrived is None:
                await self._suspend(is_abroad=abroad is not None)
            self.context.journal.arrived.update(arrived)
        finally:
            if abroad is not None:
                self._body.end_waiting(abroad)
            for placed in missing:
                self._waiting.remove(placed)

    def _outgoing(self, placed: PlacedQuestion, carrier: Carrier) -> OutgoingQuestion:
        place, question, seconds = placed.place, placed.question, placed.seconds
        id = carrier.question_id(place, self.context.journal.round)
        opened = self.context.journal.put(place, question, now=self.context.clock(), seconds=seconds, id=id)
        message, words = question.message, self.context.server.policy.words
        if opened.problem:
            is_visit = isinstance(question, Visit)
            message = words.open_again(message) if is_visit else words.again_message(message, opened.problem)
        return OutgoingQuestion(place, question, message, seconds, id)

    # From here: leaving, and what must be finished first.

    async def _suspend(self, *, is_abroad: bool) -> NoReturn:
        if self._effects is not None:
            await self._effects.wait_for_all()
        if is_abroad:
            await self._body.let_others_ask()
            if self._fault is not None:
                raise self._fault
            if self._effects is not None:
                await self._effects.wait_for_all()
        # No await since the last look at the effects, so none can have begun in between.
        self.is_left = True
        if is_abroad:
            await self._body.interrupt_and_wait()
        # A class, not an object: a frame that held the object would be a cycle.
        raise BodySuspended
