"""Long loops in a worker thread, which let the event loop's thread go on meanwhile."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

BATCH_SIZE = 200
"""Items between two turns of others: a quarter of a millisecond of work each."""

PAUSE = 1e-6
"""Seconds. Any time at all lets a waiting thread have the interpreter."""


def yield_often(items: Iterable[Item]) -> Iterator[Item]:
    """Give the items one by one, and other threads a turn at the interpreter in between.

    Python takes the interpreter away from a busy thread only every 5 ms, and answering one HTTP request takes it some
    twenty times: without turns, others wait for 100 ms and more.
    """
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield from batch
        if len(batch) == BATCH_SIZE:
            time.sleep(PAUSE)


class StepCounter:
    """Counts the steps of a computation that is no loop, and gives other threads their turns as `yield_often` does."""

    def __init__(self) -> None:
        self._steps = 0

    def step(self) -> None:
        self._steps += 1
        if self._steps % BATCH_SIZE == 0:
            time.sleep(PAUSE)
