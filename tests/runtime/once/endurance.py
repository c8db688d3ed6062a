"""One process that finishes a hundred thousand conversations, and says what they left behind.

`python -m tests.runtime.once.endurance` prints it as JSON. A process of its own: only its memory is measured.
"""

import gc
import json
import logging
import os
import sys
import tracemalloc
from dataclasses import asdict, dataclass

import anyio

from askback import Accepted, ask, once
from askback.stores import MemoryStore
from tests.protocol.endurance import resident_bytes
from tests.support.direct_middleware import Direct
from tests.support.raw import accepting, answering

FIRST, ALL = 10_000, 100_000
"""Conversations: when it is measured first, and in the end."""

FEW = 1_000
"""For the exact count of bytes, which takes four times as long: the cap, and a tenth of all."""

A_DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is in use."""

    blocks: int
    """As the interpreter counts what it has given out: exact, and it costs nothing."""
    resident: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    empty: Memory
    after_first: Memory
    after_all: Memory
    after_abandoned: Memory
    """As many first calls more, whose clients never came back."""
    expired: Memory
    traced_first: int
    """Bytes after as many conversations as the store has room for, by the allocator's own trace."""
    traced_all: int
    """Bytes after ten times as many."""


class Diner:
    """One conversation after another, each with an answer and an end of its own."""

    def __init__(self, most: int) -> None:
        self.now = 1_000_000.0
        self.store = MemoryStore(max_results=most, clock=lambda: self.now)
        self._direct = Direct(store=self.store, clock=lambda: self.now)
        self._served = 0

    async def order(self) -> str:
        answer = await ask("How many?", int)
        assert isinstance(answer, Accepted)
        number = await once("place", self._place) if answer.value % 2 else 0
        return f"order {number} of {answer.value}"

    def _place(self) -> int:
        return self._served

    async def serve(self, conversations: int) -> None:
        for _ in range(conversations):
            self._served += 1
            first = await self._direct.call(self.order)
            await self._direct.call(self.order, **answering(first, ask_1=accepting(value=self._served)))

    async def be_left(self, conversations: int) -> None:
        for _ in range(conversations):
            await self._direct.call(self.order)

    async def measure(self) -> Memory:
        rows = await self.store.count()
        gc.collect()
        return Memory(blocks=sys.getallocatedblocks(), resident=resident_bytes(), rows=rows)


async def endure() -> Report:
    await Diner(FEW).serve(2 * FEW)  # so that every cache is filled
    traced_first, traced_all = await trace()
    diner = Diner(FIRST)
    empty = await diner.measure()
    await diner.serve(FIRST)
    after_first = await diner.measure()
    await diner.serve(ALL - FIRST)
    after_all = await diner.measure()
    await diner.be_left(FIRST)
    after_abandoned = await diner.measure()
    diner.now += A_DAY
    return Report(
        empty=empty,
        after_first=after_first,
        after_all=after_all,
        after_abandoned=after_abandoned,
        expired=await diner.measure(),
        traced_first=traced_first,
        traced_all=traced_all,
    )


async def trace() -> tuple[int, int]:
    """Everything is counted from here on, the store with room for a few included."""
    tracemalloc.start()
    diner = Diner(FEW)
    await diner.serve(FEW)
    gc.collect()
    first, _ = tracemalloc.get_traced_memory()
    await diner.serve(9 * FEW)
    gc.collect()
    last, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return first, last


if __name__ == "__main__":
    logging.disable()
    os.write(1, json.dumps(asdict(anyio.run(endure))).encode())
