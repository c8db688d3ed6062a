"""What bodies do to the world, and when: each effect leaves a trace, and waits where the schedule wants it to."""

from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import anyio

from askback import Accepted, ask, once
from askback.errors import EffectFailed
from tests.runtime.once.plans import FAILED, Outcome, Plan, Step

HOUR = 3600.0

Trace = tuple[str, str]
"""Where an effect counts as one: its conversation, or its scope where that is wider; and its key."""


class Dead(BaseException):
    """Ends what is left of a run whose process is gone."""


@dataclass(slots=True, kw_only=True, eq=False)
class Run:
    """One delivery's run of a body; what it begins is held against the answers it came with."""

    talk: str
    scope: str
    plan: Plan
    on_effect: Callable[[], None]
    is_dead: bool = False
    is_asleep: bool = False
    """It was taken for dead, and is not."""
    burial: anyio.Event = field(default_factory=anyio.Event)
    inside: set[Trace] = field(default_factory=set[Trace])
    """The effects that `once` is at just now."""

    async def live(self) -> None:
        """The dead do nothing any more, and at their burial nobody listens to them."""
        if self.is_dead:
            with anyio.CancelScope(shield=True):
                await self.burial.wait()
            raise Dead


RUN: ContextVar[Run] = ContextVar("run")
"""Set by whoever delivers; the transport carries it to the body."""


class World:
    """Counts every run of every effect. Two of one, and it is noted as a fault."""

    def __init__(self, *, can_forget: bool = False) -> None:
        """`can_forget`: the store has a cap below what is put into it."""
        self.can_forget = can_forget
        self.runs: Counter[Trace] = Counter()
        self.finished: dict[Trace, Outcome] = {}
        self.cut: set[Trace] = set()
        self.died: set[Trace] = set()
        self.faults: list[str] = []
        self.gates: list[anyio.Event] = []
        self.is_open = False

    async def pause(self) -> None:
        """Until the schedule opens this gate."""
        if not self.is_open:
            gate = anyio.Event()
            self.gates.append(gate)
            try:
                await gate.wait()
            finally:
                if gate in self.gates:
                    self.gates.remove(gate)
        await RUN.get().live()

    def open_gate(self, number: int) -> None:
        self.gates.pop(number).set()

    def open_all(self) -> None:
        self.is_open = True
        for gate in list(self.gates):
            gate.set()

    def outcomes_of(self, run: Run) -> dict[str, set[Outcome]]:
        """How the effects of a plan may have gone; what ended with its process may be told either way."""
        return {key: self._outcomes(run, step, key) for step in run.plan for key in step.keys}

    def _outcomes(self, run: Run, step: Step, key: str) -> set[Outcome]:
        trace = trace_of(run, step, key)
        outcomes = {self.finished[trace]} if trace in self.finished else set[Outcome]()
        if trace in self.died or (trace in self.cut and not outcomes):
            outcomes.add(Outcome.CUT_SHORT)
        if self.can_forget and step.is_wide and outcomes:
            outcomes.add(Outcome.FORGOTTEN)
        return outcomes or {Outcome.RAN}

    async def body(self) -> str:
        """Does what the plan of the running delivery says."""
        run, words = RUN.get(), list[str]()
        for step in run.plan:
            match step.kind:
                case "pause":
                    await self.pause()
                case "ask":
                    words.append(await _ask())
                case "once" | "pair":
                    words += await self._effects(run, step)
        return " ".join(words)

    async def _effects(self, run: Run, step: Step) -> list[str]:
        given: dict[str, str] = {}

        async def one(key: str) -> None:
            try:
                given[key] = await self._once(run, step, key)
            except EffectFailed:
                if not step.is_caught:
                    raise
                given[key] = FAILED

        if len(step.keys) == 1:
            await one(*step.keys)
        else:
            async with anyio.create_task_group() as tasks:
                for key in step.keys:
                    tasks.start_soon(one, key)
        return [given[key] for key in step.keys]

    async def _once(self, run: Run, step: Step, key: str) -> str:
        trace = trace_of(run, step, key)
        options: dict[str, Any] = {"within": HOUR} if step.is_wide else {}
        if step.may_repeat:
            options["retry"] = True

        async def effect() -> str:
            return await self._effect(run, step, trace)

        run.inside.add(trace)
        try:
            return await once(key, effect, **options)
        except anyio.get_cancelled_exc_class():
            self.cut.add(trace)
            raise
        finally:
            run.inside.discard(trace)

    async def _effect(self, run: Run, step: Step, trace: Trace) -> str:
        await run.live()
        run.on_effect()
        self.runs[trace] += 1
        if self.runs[trace] > 1:
            self.faults.append(f"{trace} ran {self.runs[trace]} times")
        await self.pause()
        self.finished[trace] = Outcome.RAISED if step.raises else Outcome.RAN
        if step.raises:
            raise ValueError("as planned")
        return f"{trace[1]}:{self.runs[trace]}"


def trace_of(run: Run, step: Step, key: str) -> Trace:
    return (run.scope if step.is_wide else run.talk, key)


async def _ask() -> str:
    answer = await ask("How many?", int)
    assert isinstance(answer, Accepted)
    return str(answer.value)
