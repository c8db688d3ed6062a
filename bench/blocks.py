"""Two things timed against each other: pairs of blocks, side by side in time, in random order."""

import gc
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from statistics import median
from time import perf_counter

Call = Callable[[], Awaitable[object]]
Clock = Callable[[], float]

WARM_CALLS, TRIAL_CALLS = 15, 5
"""Before anything counts: caches filled, tools listed, bytecode specialised; then how many calls make a block."""

SETTLING_CALLS = 8
"""At the head of each block and not timed: the other side's code is still in the processor's caches. After three calls
they still took some 2 % longer than later on."""

LONG_SECONDS = 0.5
"""From which on calls that do not count are over: a long one leaves nothing cold behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured."""

    pairs: int = 200
    block_seconds: float = 0.03
    """Long against the timer and the event loop, short against the load that neighbours put on the machine."""
    to_fill: int = 10_000
    """Calls until a store in memory has all it keeps."""
    people: int = 1_000
    """How many leave a question open in the memory measure."""
    flows: int = 100_000
    """How many a worker finishes in the other one."""

    def finer(self) -> "Plan":
        """For contests in memory: more and shorter blocks, whose intervals were half as wide beside busy neighbours.
        With several processes, each would take the better part of such a block to settle."""
        return replace(self, pairs=self.pairs * 5 // 2, block_seconds=self.block_seconds / 3)


QUICK = Plan(pairs=12, block_seconds=0.01, to_fill=100, people=100, flows=1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What the pairs gave: a ratio each, and the seconds of one call on either side."""

    ratios: tuple[float, ...]
    ours: float
    theirs: float
    calls: int
    """In one block."""


async def time_pairs(ours: Call, theirs: Call, plan: Plan, clock: Clock, *, seed: int = 0) -> Timing:
    """Ratios of our time to theirs."""
    chance = Random(seed)
    with steady_memory():
        calls = await _calls_per_block((ours, theirs), plan, clock)
        pairs: list[tuple[float, float]] = []
        for _ in range(plan.pairs):
            is_swapped = chance.random() < 0.5
            one, other = (theirs, ours) if is_swapped else (ours, theirs)
            took = await time_block(one, calls, clock), await time_block(other, calls, clock)
            pairs.append((took[1], took[0]) if is_swapped else took)
    return Timing(
        ratios=tuple(own / other for own, other in pairs),
        ours=median(own for own, _ in pairs),
        theirs=median(other for _, other in pairs),
        calls=calls,
    )


@contextmanager
def steady_memory() -> Generator[None]:
    """What is there already is left out of collections; without that each would take longer than a block."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


async def _calls_per_block(sides: tuple[Call, Call], plan: Plan, clock: Clock) -> int:
    for call in sides:
        await _warm(call, WARM_CALLS)
    slower = max([await time_block(call, TRIAL_CALLS, clock) for call in sides])
    return max(1, round(plan.block_seconds / slower))


async def time_block(call: Call, calls: int, clock: Clock) -> float:
    """Seconds per call. The garbage collector stays on, as in any server: who leaves more behind pays for it."""
    gc.collect()
    await _warm(call, SETTLING_CALLS)
    start = clock()
    for _ in range(calls):
        await call()
    return (clock() - start) / calls


async def _warm(call: Call, most: int) -> None:
    """So many calls that do not count; fewer, where each is a long one."""
    end = perf_counter() + LONG_SECONDS
    for _ in range(most):
        await call()
        if perf_counter() > end:
            return
