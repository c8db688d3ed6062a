"""What came out, judged against the targets; as JSON for machines."""

import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from platform import python_version
from typing import Any, Literal

from bench.blocks import Plan, Timing
from bench.contests import Contest, Target
from bench.growth import Grown
from bench.interval import Estimate
from bench.thinking import NAME, TARGET_BYTES, Memory

Verdict = Literal["met", "not shown", "missed", "no target"]

PACKAGES = ("askback", "mcp", "fastmcp", "pydantic", "anyio", "uvicorn")


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


def as_json(
    outcomes: list[Outcome], growths: list[Grown], memory: Memory | None, plan: Plan
) -> dict[str, Any]:
    """Everything a later reader needs, and nothing about whose machine it was."""
    return {
        "versions": {"python": python_version(), **{name: version(name) for name in PACKAGES}},
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "plan": asdict(plan),
        "ratios": [_ratio(outcome) for outcome in outcomes],
        "growths": [_growth(grown) for grown in growths],
        NAME: None
        if memory is None
        else {**asdict(memory), "target": TARGET_BYTES, "verdict": memory_verdict(memory)},
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
