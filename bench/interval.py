"""From the ratios of many pairs to one ratio and how sure it is. Knows numbers, not what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

RESAMPLES = 2_000
"""Enough for the second decimal of a 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A median and the 95 % bootstrap interval around it."""

    value: float
    low: float
    high: float


def estimate(ratios: Sequence[float], *, seed: int = 0) -> Estimate:
    """The median, since a neighbour on a shared machine spoils single pairs by a lot rather than all by a little."""
    chance = Random(seed)
    medians = sorted(median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    tail = RESAMPLES // 40
    return Estimate(value=median(ratios), low=medians[tail], high=medians[-tail - 1])
