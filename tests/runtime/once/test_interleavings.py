"""Whatever the order of copies, cancellations, deaths and late rounds: no effect twice, no wrong end, no hang.

Each schedule comes from its seed, and one that fails tells what happened in it.
"""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.server import MCPServer

from askback import Askback
from askback.stores import MemoryStore, SQLiteStore, Store
from tests.runtime.once.plans import Chance
from tests.runtime.once.schedule import Schedule
from tests.runtime.once.stores import Unhurried
from tests.runtime.once.world import RUN, World
from tests.support.clock import Clock
from tests.support.direct_middleware import Direct
from tests.support.raw import Raw, raw_client

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Every refusal is a warning in the log, and there are tens of thousands."""
    caplog.set_level(logging.CRITICAL, "askback")


FEWEST, MOST = 5, 30
"""Actions in one schedule."""

LATER = 1e6
"""Seconds after which every seal has expired."""


async def play(
    chance: Chance, store: Store, clock: Clock, *, can_forget: bool = False, **options: Any
) -> None:
    """One schedule on the middleware itself; afterwards the store holds what it should, and later nothing."""
    world, direct = World(can_forget=can_forget), Direct(store=store, clock=clock)

    async def deliver(scope: str, fields: dict[str, Any]) -> dict[str, Any]:
        return await direct.call(world.body, arguments={"scope": scope}, **fields)

    schedule = Schedule(chance, world, deliver, **options)
    await schedule.play(FEWEST + chance(MOST - FEWEST))
    assert not schedule.faults, "\n".join(schedule.faults)
    assert await store.count() <= len(schedule.talks) + len(schedule.wide)
    clock.now += LATER
    assert await store.count() == 0


class Share(NamedTuple):
    """A part of the seeds, on a kind of store."""

    name: str
    make: Callable[[Clock], Store]
    first: int
    can_forget: bool = False


def in_memory(clock: Clock) -> Store:
    return MemoryStore(clock=clock)


def forgetful(clock: Clock) -> Store:
    return MemoryStore(max_results=1, clock=clock)


def unhurried(clock: Clock) -> Store:
    return Unhurried(clock=clock)


A_PART = 1_000

SHARES = [
    *(Share("memory", in_memory, first) for first in (0, 1_000)),
    Share("memory with room for one", forgetful, 20_000, can_forget=True),
    *(Share("unhurried, with deaths", unhurried, first) for first in range(40_000, 47_000, A_PART)),
]
"""10,000 schedules, in parts that take a slow machine some ten seconds each."""

EACH = SHARES[0], SHARES[2], SHARES[3]


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize("share", SHARES, ids=lambda share: f"{share.name}, from {share.first}")
async def test_no_schedule_runs_an_effect_twice_or_ends_wrongly_or_hangs(share: Share):
    for seed in range(share.first, share.first + A_PART):
        await play_seed(seed, share)


@pytest.mark.parametrize("share", EACH, ids=lambda share: share.name)
async def test_the_first_of_these_schedules(share: Share):
    for seed in range(share.first, share.first + 150):
        await play_seed(seed, share)


def test_the_schedules_are_ten_thousand():
    assert len(SHARES) * A_PART == 10_000


async def play_seed(seed: int, share: Share) -> None:
    clock = Clock()
    store = share.make(clock)
    options: dict[str, Any] = {"lose": store.lose} if isinstance(store, Unhurried) else {}
    await play(Random(seed).randrange, store, clock, can_forget=share.can_forget, **options)


@pytest.mark.slow
@pytest.mark.timeout(300)
@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_schedule_that_a_search_comes_up_with_does_either(data: st.DataObject):
    """Fewer, and the smallest one that fails is found."""

    def chance(below: int, /) -> int:
        return data.draw(st.integers(0, below - 1))

    async def main() -> None:
        clock = Clock()
        store = Unhurried(clock=clock)
        await play(chance, store, clock, lose=store.lose)

    anyio.run(main)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_nor_does_one_on_a_file(tmp_path: Path):
    for seed in range(60_000, 60_030):
        clock = Clock()
        store = SQLiteStore(tmp_path / f"{seed}.db", clock=clock)

        async def rest(store: SQLiteStore = store) -> None:
            await anyio.lowlevel.checkpoint()
            await store.count()  # comes back when the file's thread has done what was asked before

        await play(Random(seed).randrange, store, clock, rest=rest)
        await store.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_nor_does_one_that_goes_over_the_wire():
    for seed in range(80_000, 80_060):
        world = World()
        server: MCPServer[Any] = MCPServer("once")
        server.add_tool(tool_of(world), name="t")
        Askback(server)
        async with raw_client(server) as client:
            schedule = Schedule(Random(seed).randrange, world, deliver_over(client), rest=turns)
            await schedule.play(MOST)
        assert not schedule.faults, "\n".join(schedule.faults)


def tool_of(world: World) -> Callable[[str], Awaitable[str]]:
    async def t(scope: str) -> str:
        assert scope == RUN.get().scope
        return await world.body()

    return t


def deliver_over(client: Raw) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    async def deliver(scope: str, fields: dict[str, Any]) -> dict[str, Any]:
        return await client.call("t", {"scope": scope}, **fields)

    return deliver


async def turns() -> None:
    """Enough for a message to get through."""
    for _ in range(5):
        await anyio.lowlevel.checkpoint()
