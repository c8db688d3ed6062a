"""How time grows with what there is: much of something against little of it, timed in pairs like everything else."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from bench.blocks import Call, Clock, Plan, Timing, time_pairs
from bench.contests import Target
from bench.interval import Estimate, estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The same work on much and on little; `target` is how many times the little the much may take."""

    name: str
    much: str
    little: str
    target: Target
    clock: Clock
    sides: Callable[[], AbstractAsyncContextManager[tuple[Call, Call]]]
    """Made ready for measuring: the call on much, then the call on little."""
    most_pairs: int | None = None
    """Where one call is a long one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """One growth with its ratio."""

    growth: Growth
    timing: Timing
    ratio: Estimate


async def measure(growth: Growth, plan: Plan) -> Grown:
    """Time both sides in pairs."""
    async with growth.sides() as (much, little):
        timing = await time_pairs(much, little, _bounded(plan, growth), growth.clock)
    return Grown(growth=growth, timing=timing, ratio=estimate(timing.ratios))


def _bounded(plan: Plan, growth: Growth) -> Plan:
    return replace(plan, pairs=min(plan.pairs, growth.most_pairs or plan.pairs))
