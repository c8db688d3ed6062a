"""Bodies at random, and the model: what each must end with, given what was answered and how its effects went."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, Protocol


class Chance(Protocol):
    """Where every choice of a schedule comes from: a seed, or a search for the smallest one that fails."""

    def __call__(self, below: int, /) -> int:
        """One of 0, 1, ... `below` - 1."""
        ...


class Outcome(Enum):
    """How an effect went."""

    RAN = "ran"
    RAISED = "ValueError"
    CUT_SHORT = "Interrupted"
    FORGOTTEN = "Forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that a body does."""

    kind: Literal["ask", "once", "pair", "pause"]
    key: str = ""
    is_wide: bool = False
    raises: bool = False
    is_caught: bool = False
    """The body catches what a failed effect raises, and goes on."""
    may_repeat: bool = False
    """Its author lets it be run again where it was cut short."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The effects of this step."""
        match self.kind:
            case "once":
                return (self.key,)
            case "pair":
                return (f"{self.key}-left", f"{self.key}-right")
            case _:
                return ()


Plan = tuple[Step, ...]

FAILED = "failed"
"""What a body says in place of the result of an effect whose failure it caught."""


class Asked(NamedTuple):
    """The round ends with this question, counted from 1."""

    question: int


class Said(NamedTuple):
    """The call ends with this text."""

    text: str


class Failed(NamedTuple):
    """The call ends with an effect that failed."""

    key: str
    outcome: Outcome


End = Asked | Said | Failed


def plan_by(chance: Chance) -> Plan:
    """At least one question and one effect behind it, in whatever company."""
    steps = [_step(chance, number) for number in range(chance(4))]
    return (*steps, Step(kind="ask"), *(_step(chance, number) for number in range(4, 5 + chance(4))))


def _step(chance: Chance, number: int) -> Step:
    kinds: Sequence[Literal["ask", "once", "pair", "pause"]] = ("once", "ask", "pause", "once", "pair")
    kind = kinds[chance(len(kinds))]
    if kind in {"ask", "pause"}:
        return Step(kind=kind)
    return Step(
        kind=kind,
        key=f"effect-{number}",
        is_wide=chance(4) == 1,
        raises=kind == "once" and chance(8) == 1,
        is_caught=chance(4) == 1,
    )


def ends_of(plan: Plan, answers: Sequence[int], outcomes: Mapping[str, Collection[Outcome]]) -> set[End]:
    """How the body may end, where each effect may have gone in one of several ways."""
    ends: set[End] = set()
    ways = {""}
    given = list(answers)
    for step in plan:
        if step.kind == "ask":
            if not given:
                return ends | {Asked(len(answers) + 1) for _ in ways}
            ways = _after(ways, {str(given.pop(0))})
        for key in step.keys if ways else ():
            failed = [how for how in outcomes[key] if how is not Outcome.RAN]
            words = {f"{key}:1"} if Outcome.RAN in outcomes[key] else set[str]()
            if step.is_caught:
                words |= {FAILED} if failed else set()
            else:
                ends |= {Failed(key, how) for how in failed}
            ways = _after(ways, words)
    return ends | {Said(way) for way in ways}


def _after(ways: set[str], words: set[str]) -> set[str]:
    return {f"{way} {word}".strip() for way in ways for word in words}
