"""What came out, judged against the targets; as JSON for machines."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from platform import python_version
from typing import Any, Literal

from bench.blocks import Plan, Timing
from bench.contests import Contest, Target
from bench.finished_flows import MANY, TARGET, Finished
from bench.finished_flows import NAME as FINISHED
from bench.growth import Grown
from bench.interval import Estimate
from bench.memory import NAME as THINKING
from bench.memory import TARGET_BYTES, Memory

Verdict = Literal["met", "not shown", "missed", "no target"]

PACKAGES = ("askback", "mcp", "fastmcp", "pydantic", "anyio", "uvicorn", "sqlglot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One contest with its ratio."""

    contest: Contest
    timing: Timing
    ratio: Estimate

    @property
    def verdict(self) -> Verdict:
        return "no target" if self.contest.target is None else verdict_of(self.ratio, self.contest.target)


def verdict_of(ratio: Estimate, target: Target) -> Verdict:
    """`not shown` is within the noise: the estimate and the interval disagree about the target."""
    if target.by_estimate:
        if ratio.value <= target.ratio:
            return "met"
        return "not shown" if ratio.low <= target.ratio else "missed"
    if ratio.high <= target.ratio:
        return "met"
    return "not shown" if ratio.value <= target.ratio else "missed"


def growth_verdict(grown: Grown) -> Verdict:
    return verdict_of(grown.ratio, grown.growth.target)


def memory_verdict(memory: Memory) -> Verdict:
    return "met" if memory.traced < TARGET_BYTES else "missed"


def finished_verdict(finished: Finished) -> Verdict:
    """Too few flows show nothing, also where a worker grew: its caches fill with the first of them."""
    if finished.many.flows < MANY:
        return "not shown"
    return "met" if max(finished.blocks, finished.resident) <= TARGET else "missed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of one run; `None` is what was not measured."""

    outcomes: Sequence[Outcome]
    growths: Sequence[Grown]
    thinking: Memory | None
    finished: Finished | None

    @property
    def judged(self) -> list[tuple[str, Verdict]]:
        """Everything with a target, by its name."""
        outcomes = [one for one in self.outcomes if one.contest.target is not None]
        return [
            *((outcome.contest.name, outcome.verdict) for outcome in outcomes),
            *((grown.growth.name, growth_verdict(grown)) for grown in self.growths),
            *([] if self.thinking is None else [(THINKING, memory_verdict(self.thinking))]),
            *([] if self.finished is None else [(FINISHED, finished_verdict(self.finished))]),
        ]


def as_json(report: Report, plan: Plan) -> dict[str, Any]:
    """Everything a later reader needs, and nothing about whose machine it was."""
    return {
        "versions": {"python": python_version(), **{name: version(name) for name in PACKAGES}},
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "plan": asdict(plan),
        "ratios": [_ratio(outcome) for outcome in report.outcomes],
        "growths": [_growth(grown) for grown in report.growths],
        "thinking": None if report.thinking is None else _thinking(report.thinking),
        "finished": None if report.finished is None else _finished(report.finished),
    }


def _thinking(memory: Memory) -> dict[str, Any]:
    return {**asdict(memory), "target": TARGET_BYTES, "verdict": memory_verdict(memory)}


def _finished(finished: Finished) -> dict[str, Any]:
    return {
        "few": finished.few._asdict(),
        "many": finished.many._asdict(),
        "seconds": round(finished.seconds, 1),
        "ratios": {"blocks": round(finished.blocks, 4), "resident": round(finished.resident, 4)},
        "target": TARGET,
        "verdict": finished_verdict(finished),
    }


def _ratio(outcome: Outcome) -> dict[str, Any]:
    contest, timing, ratio = outcome.contest, outcome.timing, outcome.ratio
    return {
        "name": contest.name,
        "part": contest.part,
        "transport": contest.transport,
        "revision": contest.revision,
        "questions": contest.questions,
        "against": contest.rival,
        "ratio": round(ratio.value, 4),
        "interval": [round(ratio.low, 4), round(ratio.high, 4)],
        "target": None if contest.target is None else asdict(contest.target),
        "verdict": outcome.verdict,
        "microseconds": {"ours": round(timing.ours * 1e6, 1), "theirs": round(timing.theirs * 1e6, 1)},
        "pairs": len(timing.ratios),
        "calls_per_block": timing.calls,
    }


def _growth(grown: Grown) -> dict[str, Any]:
    growth, timing, ratio = grown.growth, grown.timing, grown.ratio
    return {
        "name": growth.name,
        "much": growth.much,
        "little": growth.little,
        "ratio": round(ratio.value, 4),
        "interval": [round(ratio.low, 4), round(ratio.high, 4)],
        "target": asdict(growth.target),
        "verdict": growth_verdict(grown),
        "microseconds": {"much": round(timing.ours * 1e6, 1), "little": round(timing.theirs * 1e6, 1)},
        "pairs": len(timing.ratios),
        "calls_per_block": timing.calls,
    }
