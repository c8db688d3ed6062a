"""Writing: one append at a time, all who wait go together, and no failure or cancellation leaves a broken chain."""

import asyncio
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from askback.errors import StoreUnavailable
from askback.ledger import Ledger
from askback.ledger.reader import entry_of, last_line, read_call
from askback.stores import MemoryStore, SQLiteStore
from tests.ledger.books import KEY, entry

pytestmark = pytest.mark.anyio

BOUND = 20.0

UNAVAILABLE = StoreUnavailable(store="memory:", problem="it is away", advice="Wait for it.")


class Gate(MemoryStore):
    """Appends when it is let, and may fail before or after it has."""

    def __init__(self) -> None:
        super().__init__()
        self.appends: list[int] = []
        self.arrived = anyio.Event()
        self.open = anyio.Event()
        self.open.set()
        self.fails_before = self.fails_after = self.lets_one_by_one = False

    def shut(self) -> None:
        self.arrived, self.open = anyio.Event(), anyio.Event()

    async def append(self, *lines: bytes) -> int:
        self.appends.append(len(lines))
        self.arrived.set()
        await self.open.wait()
        if self.lets_one_by_one:
            self.shut()
        if self.fails_before:
            raise UNAVAILABLE
        number = await super().append(*lines)
        if self.fails_after:
            raise UNAVAILABLE
        return number


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def ledger(gate: Gate) -> Ledger:
    return Ledger(gate, [KEY], keep=None)


async def calls(ledger: Ledger) -> list[str]:
    return [found.call async for line in ledger.entries() if (found := entry_of(line)) is not None]


async def ended(*tasks: asyncio.Task[None]) -> list[BaseException | None]:
    async with asyncio.timeout(BOUND):
        return await asyncio.gather(*tasks, return_exceptions=True)


async def require_sound(ledger: Ledger) -> None:
    report = await ledger.verify()
    assert report.is_sound, report.problems


async def under_way(ledger: Ledger, gate: Gate, *names: str) -> list[asyncio.Task[None]]:
    """The first is being appended, the others wait behind it."""
    gate.shut()
    tasks: list[asyncio.Task[None]] = []
    for name in names:
        tasks.append(asyncio.create_task(ledger.write(entry(name))))
        with anyio.fail_after(BOUND):
            await gate.arrived.wait()
        await anyio.lowlevel.checkpoint()
    return tasks


async def test_those_who_come_while_an_append_is_under_way_go_together_in_the_next(
    ledger: Ledger, gate: Gate
):
    tasks = await under_way(ledger, gate, "a", "b", "c", "d")
    assert gate.appends == [2]  # with the line that opens the chain
    assert not any(task.done() for task in tasks)
    gate.open.set()
    assert await ended(*tasks) == [None] * 4
    assert gate.appends == [2, 3]
    assert await calls(ledger) == ["a", "b", "c", "d"]
    await require_sound(ledger)


async def test_the_lines_of_one_write_stand_together(ledger: Ledger, gate: Gate):
    await asyncio.gather(*(ledger.write(*(entry(str(number)),) * 3) for number in range(5)))
    assert await calls(ledger) == [str(number) for number in range(5) for _ in range(3)]
    await require_sound(ledger)


async def test_no_append_grows_without_bound(ledger: Ledger, gate: Gate):
    await asyncio.gather(*(ledger.write(entry(), entry()) for _ in range(600)))
    assert max(gate.appends) <= 257
    assert len(gate.appends) < 10
    await require_sound(ledger)


@pytest.mark.parametrize("fails", ["before", "after"])
async def test_when_an_append_fails_all_of_it_are_told_and_the_next_begins_a_chain(
    ledger: Ledger, gate: Gate, fails: str
):
    """Whether the lines are in, nobody knows: nothing is linked to them, and the ledger is sound either way."""
    await ledger.write(entry("first"))
    tasks = await under_way(ledger, gate, "a", "b", "c")
    setattr(gate, f"fails_{fails}", True)
    gate.open.set()
    outcomes = await ended(*tasks)
    assert all(isinstance(outcome, StoreUnavailable) for outcome in outcomes)
    assert len({*map(id, outcomes)}) == 3
    gate.fails_before = gate.fails_after = False
    await ledger.write(entry("last"))
    there = await calls(ledger)
    assert there == (["first", "last"] if fails == "before" else ["first", "a", "b", "c", "last"])
    report = await ledger.verify()
    assert report.is_sound, report.problems
    assert report.writers >= 2


@pytest.mark.parametrize("victim", [0, 1, 2, 3])
async def test_whoever_is_cancelled_breaks_no_chain_and_takes_nobody_along(
    ledger: Ledger, gate: Gate, victim: int
):
    """The first is in the middle of the append; the others only wait."""
    tasks = await under_way(ledger, gate, "a", "b", "c", "d")
    tasks[victim].cancel()
    await ended(tasks[victim])
    gate.open.set()
    outcomes = await ended(*tasks)
    assert [outcome for outcome in outcomes if outcome is not None] == [outcomes[victim]]
    there = await calls(ledger)
    assert {"a", "b", "c", "d"} - {*there} <= {"abcd"[victim]}
    await ledger.write(entry("later"))
    await require_sound(ledger)


async def test_one_that_was_to_go_first_and_is_cancelled_hands_on(ledger: Ledger, gate: Gate):
    tasks = await under_way(ledger, gate, "a", "b", "c")
    gate.open.set()
    await ended(tasks[0])
    tasks[1].cancel()
    await ended(*tasks)
    await ledger.write(entry("later"))
    assert {"a", "c", "later"} <= {*await calls(ledger)}
    await require_sound(ledger)


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
async def test_where_several_of_one_append_are_cancelled_the_rest_is_written(
    ledger: Ledger, gate: Gate, order: tuple[int, int]
):
    """Of those who go together, one leads; the others may leave before it does."""
    tasks = await under_way(ledger, gate, "a", "b", "c", "d")
    gate.lets_one_by_one = True
    gate.open.set()
    await ended(tasks[0])
    with anyio.fail_after(BOUND):
        await gate.arrived.wait()
    gate.lets_one_by_one = False
    for victim in order:
        tasks[victim].cancel()
        await ended(tasks[victim])
    gate.open.set()
    assert await ended(tasks[3]) == [None]
    await ledger.write(entry("later"))
    assert await calls(ledger) == ["a", "d", "later"]
    await require_sound(ledger)


async def test_a_caller_whose_time_is_over_does_not_wait_for_the_store(ledger: Ledger, gate: Gate):
    tasks = await under_way(ledger, gate, "a", "b")
    with anyio.move_on_after(0.01) as scope:
        await ledger.write(entry("c"))
    assert scope.cancelled_caught
    tasks[0].cancel()
    gate.open.set()
    await ended(*tasks)
    await ledger.write(entry("d"))
    assert await calls(ledger) == ["b", "d"]
    report = await ledger.verify()
    assert (report.is_sound, report.writers) == (True, 1)


def move(folder: Path, name: str, other: str) -> None:
    """A store's file, with those that SQLite puts beside it."""
    for part in folder.glob(f"{name}*"):
        part.rename(folder / part.name.replace(name, other))


async def test_with_a_store_that_went_away_writing_fails_and_goes_on_when_it_is_back(tmp_path: Path):
    store = SQLiteStore(tmp_path / "askback.db")
    ledger = Ledger(store, [KEY])
    await ledger.write(entry("before"))
    move(tmp_path, "askback.db", "away.db")
    with pytest.raises(StoreUnavailable):
        await ledger.write(entry("meanwhile"))
    move(tmp_path, "away.db", "askback.db")
    await ledger.write(entry("after"))
    assert await calls(ledger) == ["before", "after"]
    report = await ledger.verify()
    assert (report.is_sound, report.writers) == (True, 2)
    await ledger.close()


def test_each_event_loop_has_a_chain_of_its_own(tmp_path: Path):
    ledger = Ledger(f"sqlite:///{tmp_path / 'askback.db'}", [KEY])
    for _ in range(2):
        anyio.run(ledger.write, entry())
    report = anyio.run(ledger.verify)
    assert (report.is_sound, report.writers) == (True, 2)
    anyio.run(ledger.close)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 100])
@pytest.mark.parametrize("gone", [0, 1, 5])
async def test_the_last_line_is_found_from_anywhere(count: int, gone: int):
    store = MemoryStore()
    for number in range(count):
        await store.append(b"%d" % (number + 1))
    await store.trim(before=gone + 1)
    for near in (1, 2, max(1, count - 3), count + 1, count + 50):
        found = await last_line(store, near=near)
        assert found == ((count, b"%d" % count) if count else None)


async def test_a_round_that_was_taken_over_is_told_once(ledger: Ledger):
    """Another worker runs it again, a moment later, and records the same."""
    asked, answered = entry("c", place="size"), entry("c", event="answered", place="size", action="accept")
    for later in (0.0, 2.0):
        await ledger.write(entry("c", at=asked.at + later, place="size"), answered)
        await ledger.write(entry("c", event="refused", message=None, reason="used before"))
    told = [found.event for _, found in await read_call(ledger.store, "c")]
    assert told == ["asked", "answered", "refused", "refused"]
