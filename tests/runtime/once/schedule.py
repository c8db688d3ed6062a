"""Deliveries at random: copies, other answers, older rounds, broken and cancelled ones; and the judge of their ends."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import anyio
import anyio.abc
import anyio.lowlevel
from mcp.shared.exceptions import MCPError

from tests.runtime.once.plans import Asked, Chance, End, Failed, Outcome, Plan, Said, ends_of, plan_by
from tests.runtime.once.world import RUN, Run, Trace, World
from tests.support.raw import accepting

REFUSED = (-32602, "This round was answered before. Call again from the start.", {"reason": "used_round"})
MALFORMED = (-32602, "Invalid inputResponses", None)

PATIENCE = 10.0
"""Seconds for one schedule, which takes some milliseconds."""

MOST_TALKS, MOST_QUESTIONS = 3, 8

Reply = int | None | Literal["malformed"]
"""What a delivery answers: a number, nothing, or something that is no reply at all."""


class Deliver(Protocol):
    """One request, as a transport makes it; the running delivery is in `RUN`."""

    def __call__(self, scope: str, fields: dict[str, Any], /) -> Awaitable[dict[str, Any]]: ...


@dataclass(slots=True, kw_only=True)
class Round:
    """A state that was given out, and what became of it."""

    number: int
    state: str
    answers: tuple[int, ...]
    tried: list[Reply] = field(default_factory=list[Reply])
    begun: Reply = "malformed"
    """With which reply an effect of this round was begun, if one was."""
    taken: Reply = "malformed"
    result: dict[str, Any] | None = None
    """The one result it may have, taken with that reply."""


@dataclass(slots=True, kw_only=True)
class Talk:
    """One conversation, as the model knows it."""

    name: str
    scope: str
    plan: Plan
    rounds: list[Round] = field(default_factory=list[Round])


@dataclass(slots=True, kw_only=True)
class Delivery:
    talk: Talk
    round: Round | None
    reply: Reply
    run: Run
    cancelling: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Schedule:
    """One run of chance. What must never happen and did is in `faults`."""

    def __init__(
        self,
        chance: Chance,
        world: World,
        deliver: Deliver,
        *,
        rest: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint,
        lose: Callable[[Run], Awaitable[None]] | None = None,
    ) -> None:
        """How chance has it.

        Args:
            rest: lets everybody else go on a little.
            lose: tells the store that the process of a run has died, where that may happen.
        """
        self._chance, self._world, self._deliver = chance, world, deliver
        self._rest, self._lose = rest, lose
        self.talks: list[Talk] = []
        self._flying: list[Delivery] = []
        self._dead: list[Run] = []
        self._log: list[str] = []

    async def play(self, actions: int) -> None:
        """So many actions; then every gate opens, every delivery ends, and every conversation is brought to its end."""
        try:
            with anyio.fail_after(PATIENCE):
                async with anyio.create_task_group() as tasks:
                    await self._live_through(actions, tasks)
                for talk in self.talks:
                    await self._bring_to_end(talk)
        except TimeoutError:
            self._fault(f"hangs: {[self._name(one) for one in self._flying]}")

    async def _live_through(self, actions: int, tasks: anyio.abc.TaskGroup) -> None:
        try:
            for _ in range(actions):
                await self._act(tasks)
                for _ in range(self._chance(5)):
                    await self._rest()
            self._world.open_all()
            while self._flying:
                await self._rest()
        finally:
            for run in self._dead:
                run.burial.set()

    @property
    def wide(self) -> set[Trace]:
        """The effects that are remembered beyond their conversation."""
        steps = [(talk, step) for talk in self.talks for step in talk.plan if step.is_wide]
        return {(talk.scope, key) for talk, step in steps for key in step.keys}

    @property
    def faults(self) -> list[str]:
        return [*self._world.faults, *(["the schedule:", *self._log] if self._world.faults else [])]

    # From here: what happens.

    async def _act(self, tasks: anyio.abc.TaskGroup) -> None:
        rounds = [(talk, one) for talk in self.talks for one in talk.rounds]
        choice = self._chance(10)
        if not rounds or choice == 0:
            if len(self.talks) < MOST_TALKS:
                self._start(tasks, self._new_talk(), None, None)
            elif self._world.gates:
                self._open()
        elif choice < 5:
            talk, one = rounds[-1 - self._chance(len(rounds)) * self._chance(2)]
            self._start(tasks, talk, one, self._reply_to(one))
        elif choice < 8:
            if self._world.gates:
                self._open()
        elif self._flying:
            await self._end(self._flying[self._chance(len(self._flying))])

    async def _end(self, doomed: Delivery) -> None:
        fate = 0 if self._lose is None else self._chance(3)
        self._log.append(f"{('cancel', 'kill', 'lull')[fate]} {self._name(doomed)}")
        if self._lose is None or fate == 0:
            doomed.cancelling.cancel()
            return
        if fate == 1:
            self._flying.remove(doomed)
            self._dead.append(doomed.run)
            doomed.run.is_dead = True
        else:
            doomed.run.is_asleep = True
        self._world.died |= doomed.run.inside
        await self._lose(doomed.run)

    def _open(self) -> None:
        self._log.append("open a gate")
        self._world.open_gate(self._chance(len(self._world.gates)))

    def _new_talk(self) -> Talk:
        talk = Talk(
            name=f"talk-{len(self.talks)}", scope=f"scope-{self._chance(2)}", plan=plan_by(self._chance)
        )
        self.talks.append(talk)
        return talk

    def _reply_to(self, one: Round) -> Reply:
        kind = self._chance(12)
        if kind == 11:
            return "malformed"
        if kind == 10 and one.number < MOST_QUESTIONS:
            return None
        if kind >= 8:
            return self._chance(3)
        return one.tried[0] if one.tried else self._chance(3)

    def _start(self, tasks: anyio.abc.TaskGroup, talk: Talk, one: Round | None, reply: Reply) -> None:
        delivery = self._delivery(talk, one, reply)
        self._log.append(f"deliver {self._name(delivery)}")
        self._flying.append(delivery)
        if one is not None and reply != "malformed" and reply not in one.tried:
            one.tried.append(reply)
        tasks.start_soon(self._fly, delivery)

    async def _bring_to_end(self, talk: Talk) -> None:
        """A copy of the last round that was given out, and of those that follow."""
        while talk.rounds:
            last = talk.rounds[-1]
            reply = last.taken if last.result is not None else last.tried[0] if last.tried else 1
            if last.result is not None or reply not in last.tried:
                last.tried.append(reply)
            delivery = self._delivery(talk, last, reply)
            self._log.append(f"at last {self._name(delivery)}")
            self._flying.append(delivery)
            await self._fly(delivery)
            if talk.rounds[-1] is last:
                return

    def _delivery(self, talk: Talk, one: Round | None, reply: Reply) -> Delivery:
        def hold_against() -> None:
            self._hold_against(delivery)

        run = Run(talk=talk.name, scope=talk.scope, plan=talk.plan, on_effect=hold_against)
        delivery = Delivery(talk=talk, round=one, reply=reply, run=run)
        return delivery

    async def _fly(self, delivery: Delivery) -> None:
        RUN.set(delivery.run)
        try:
            with delivery.cancelling:
                await self._deliver_and_judge(delivery)
        except BaseException:
            if not delivery.run.burial.is_set():
                raise
        if delivery in self._flying:
            self._flying.remove(delivery)

    async def _deliver_and_judge(self, delivery: Delivery) -> None:
        try:
            result = await self._deliver(delivery.talk.scope, _fields(delivery.round, delivery.reply))
        except MCPError as error:
            self._judge_error(delivery, error)
        else:
            self._judge(delivery, result)

    def _hold_against(self, delivery: Delivery) -> None:
        """An effect begins: the answers of this delivery are the answers of its round from now on."""
        one = delivery.round
        if one is None:
            return
        if one.begun not in {"malformed", delivery.reply}:
            self._fault(f"{self._name(delivery)} began an effect after {one.begun!r} had begun one")
        one.begun = delivery.reply

    # From here: the judge.

    def _judge_error(self, delivery: Delivery, error: MCPError) -> None:
        told = (error.code, error.message, error.data)
        one = delivery.round
        if told == MALFORMED and delivery.reply == "malformed":
            return
        if told != REFUSED or one is None or delivery.reply == "malformed":
            self._fault(f"{self._name(delivery)} ended with {told}")
        elif not (self._world.can_forget or self._is_contested(delivery.talk, one)):
            self._fault(f"{self._name(delivery)} was refused, and nothing spoke against it")

    def _is_contested(self, talk: Talk, one: Round) -> bool:
        return len(set(one.tried)) > 1 or any(later.tried for later in talk.rounds[one.number :])

    def _judge(self, delivery: Delivery, result: dict[str, Any]) -> None:
        one, name = delivery.round, self._name(delivery)
        if delivery.reply == "malformed":
            return self._fault(f"{name} was taken, and is no reply")
        if delivery.run.is_asleep and _read(result) == ASLEEP:
            return None
        self._log.append(f"ended {name}")
        if one is not None:
            if one.result is not None:
                if one.taken != delivery.reply or not _is_same(one.result, result):
                    self._fault(f"{name} ended with {result}, and {one.taken!r} had ended with {one.result}")
                return None
            if one.begun not in {"malformed", delivery.reply}:
                self._fault(f"{name} was taken, after effects had been begun with {one.begun!r}")
            one.taken, one.result = delivery.reply, result
        self._judge_first(delivery, result)
        return None

    def _judge_first(self, delivery: Delivery, result: dict[str, Any]) -> None:
        """The first end of a round: is it one that the model allows? All later ones must be like it."""
        talk, one, reply = delivery.talk, delivery.round, delivery.reply
        answers = () if one is None else one.answers
        if isinstance(reply, int):
            answers = (*answers, reply)
        end, allowed = _read(result), ends_of(talk.plan, answers, self._world.outcomes_of(delivery.run))
        if end not in allowed:
            self._fault(f"{self._name(delivery)} ended with {end} instead of {allowed}")
        if isinstance(end, Asked):
            number = len(talk.rounds) + 1
            talk.rounds.append(Round(number=number, state=result["requestState"], answers=answers))

    def _fault(self, text: str) -> None:
        self._world.faults.append(text)

    def _name(self, delivery: Delivery) -> str:
        round_ = "the first call" if delivery.round is None else f"round {delivery.round.number}"
        return f"{round_} of {delivery.talk.name} with {delivery.reply!r}"


def _fields(one: Round | None, reply: Reply) -> dict[str, Any]:
    if one is None:
        return {}
    match reply:
        case "malformed":
            responses: Any = {"ask-1": {"action": "perhaps"}, f"ask-{len(one.answers) + 1}": "yes"}
        case None:
            responses = {}
        case _:
            responses = {f"ask-{len(one.answers) + 1}": accepting(value=reply)}
    return {"requestState": one.state, "inputResponses": responses}


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """But for the seal."""
    return {**one, "requestState": ""} == {**other, "requestState": ""} and len(one) == len(other)


ASLEEP = Failed(REFUSED[1], Outcome.CUT_SHORT)
"""Whoever was taken for dead and comes back is told so by a body that may begin nothing."""

FAILED = re.compile(r"The effect '(?P<key>[^']+)' failed with (?P<kind>\w+)\. .*")


def _read(result: dict[str, Any]) -> End | dict[str, Any]:
    match result:
        case {"resultType": "input_required", "inputRequests": requests} if len(requests) == 1:
            return Asked(int(next(iter(requests)).removeprefix("ask-")))
        case {"isError": True, "content": [{"text": str() as text}]} if found := FAILED.fullmatch(text):
            return Failed(found["key"], Outcome(found["kind"]))
        case {"isError": True, "content": [{"text": text}]} if text == REFUSED[1]:
            return ASLEEP
        case {"content": [{"text": str() as text}]} if not result.get("isError"):
            return Said(text)
        case _:
            return result
