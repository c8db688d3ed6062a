"""Retention: old lines go, what remains verifies, and heads from before still fit."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askback.ledger import Ledger, Report, read_heads
from askback.ledger.chain import LineRecord, Tip, read_line, seal_records
from askback.ledger.entries import encode_entry
from askback.ledger.keys import LedgerKeyRing
from askback.ledger.ledger import BATCH_SIZE, TRIM_INTERVAL
from askback.ledger.reader import entry_of, read_numbered
from askback.stores import MemoryStore
from tests.ledger.books import KEY, OTHER, THEN, check, entry

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T24")]

HOUR = timedelta(hours=1)


class Clock:
    def __init__(self) -> None:
        self.now = THEN

    def __call__(self) -> float:
        return self.now

    def pass_by(self, time: timedelta) -> None:
        self.now += time.total_seconds()


class Office:
    """Several workers on one store, and a clock that is turned by hand."""

    def __init__(self, *, keep: timedelta | None = None, most: int = 10_000) -> None:
        self.clock = Clock()
        self.store = MemoryStore(clock=self.clock, max_results=most)
        self.workers = [Ledger(self.store, [KEY], keep=keep, clock=self.clock) for _ in range(3)]

    async def write(self, worker: int, count: int = 1) -> None:
        await self.workers[worker].write(*(entry(at=self.clock()) for _ in range(count)))

    async def times(self) -> list[float]:
        found = [entry_of(line) async for line in self.workers[0].entries()]
        return [one.at for one in found if one is not None]


async def sound(ledger: Ledger, *heads: str) -> Report:
    for head in heads:
        assert not (await ledger.verify(read_heads(head))).problems
    report = await ledger.verify()
    assert report.is_sound, report.problems
    return report


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 2), st.integers(1, 3)),
        st.tuples(st.just("pass"), st.integers(1, 90), st.just(0)),
        st.tuples(st.just("trim"), st.integers(30, 120), st.just(0)),
        st.tuples(st.just("head"), st.just(0), st.just(0)),
    ),
    max_size=14,
)


@settings(max_examples=60)
@given(steps)
async def test_whenever_lines_go_the_rest_verifies_and_so_does_every_head(steps: list[tuple[str, int, int]]):
    office, heads = Office(), list[str]()
    for step, one, other in steps:
        match step:
            case "write":
                await office.write(one, other)
            case "pass":
                office.clock.pass_by(timedelta(minutes=one))
            case "trim":
                await office.workers[0].trim(timedelta(minutes=one))
                assert all(at >= office.clock() - one * 60 for at in await office.times())
            case _:
                heads.append((await office.workers[0].heads()).to_json())
        await sound(office.workers[1], *heads)


async def trimmed_office() -> tuple[Office, str]:
    """Two hours of three workers, of which the last remains; and a head from its middle."""
    office = Office()
    for number in range(12):
        await office.write(number % 3, 2)
        office.clock.pass_by(timedelta(minutes=10))
    head = (await office.workers[0].heads()).to_json()
    assert await office.workers[0].trim(HOUR) == 15
    await office.write(1)
    return office, head


async def test_a_mark_says_what_went_and_younger_lines_stay():
    office, head = await trimmed_office()
    report = await sound(office.workers[2], head)
    assert (report.first, report.writers) == (16, 3)
    assert min(await office.times()) >= office.clock() - 3600
    kinds = [line.kind async for line in office.workers[0].entries()]
    assert kinds.count("trimmed") == 1


@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_who_cuts_more_than_the_mark_says_is_noticed(cut: int):
    office, head = await trimmed_office()
    rows = [row async for row in read_numbered(office.store)]
    assert check(rows).is_sound
    assert "cut" in {problem.kind for problem in check(rows[cut:]).problems}
    assert not check(rows[cut:], read_heads(head)).is_sound


async def test_who_takes_the_mark_away_is_noticed():
    office, _ = await trimmed_office()
    ledger = office.workers[0]
    mark = [line.number async for line in ledger.entries() if line.kind == "trimmed"]
    rows = [row async for row in read_numbered(office.store) if row[0] not in mark]
    assert {"cut", "missing"} <= {problem.kind for problem in check(rows).problems}


async def test_what_was_wrong_with_lines_that_went_is_not_forgotten_with_them():
    office = Office()
    await office.write(0)
    await office.store.append(b"nothing of ours")
    await Ledger(office.store, [OTHER], clock=office.clock).write(entry())
    await office.write(1)
    office.clock.pass_by(2 * HOUR)
    await office.write(0)
    await office.workers[0].trim(HOUR)
    (problem,) = (await office.workers[0].verify()).problems
    assert problem.kind == "trimmed"
    assert "of them 3, 4, 5 were wrong" in str(problem)


async def without_its_third_line(tmp_path: Path, *, entries: int) -> Ledger:
    """Somebody has taken it away from the file; two hours later something else was written."""
    clock = Clock()
    ledger = Ledger(f"sqlite:///{tmp_path}/askback.db", [KEY], keep=None, clock=clock)
    for _ in range(entries):
        await ledger.write(entry(at=clock()))
    with closing(sqlite3.connect(tmp_path / "askback.db")) as file, file:
        file.execute("DELETE FROM ledger WHERE number = 3")
    clock.pass_by(2 * HOUR)
    await ledger.write(entry(at=clock()))
    return ledger


async def test_what_was_missing_before_lines_went_is_not_forgotten_either(tmp_path: Path):
    ledger = await without_its_third_line(tmp_path, entries=3)
    await ledger.trim(HOUR)
    (problem,) = (await ledger.verify()).problems
    assert problem.kind == "trimmed"
    assert "of them 3 were wrong, or missing" in str(problem)
    await ledger.close()


async def test_a_worker_that_was_silent_until_even_the_mark_had_gone_begins_another_chain():
    office = Office()
    await office.write(2)
    for _ in range(2):
        office.clock.pass_by(2 * HOUR)
        await office.workers[0].trim(HOUR)
    await office.write(2)
    office.clock.pass_by(2 * HOUR)
    await office.write(1)
    assert (await sound(office.workers[1])).writers == 3


async def test_a_worker_that_was_silent_shows_that_its_last_line_alone_was_taken(tmp_path: Path):
    ledger = await without_its_third_line(tmp_path, entries=2)
    assert "missing" in {problem.kind for problem in (await ledger.verify()).problems}
    await ledger.close()


async def test_nobody_has_young_lines_trimmed_by_putting_others_in_their_place():
    """With a key of their own they can say that lines are old, and where the chain is to go on."""
    office = Office()
    await office.write(0)
    office.clock.pass_by(2 * HOUR)
    await office.write(0, 3)
    rows = [row async for row in read_numbered(office.store)]
    forger, last = LedgerKeyRing([OTHER]).first, read_line(*rows[-1])
    tip = Tip(writer=last.writer, n=2, mac=read_line(*rows[1]).mac, number=2)
    forged = [LineRecord("entry", encode_entry(entry(at=THEN)))] * 2
    office.store = MemoryStore(clock=office.clock)
    await office.store.append(
        *(raw for _, raw in rows[:2]), *seal_records(tip, forger, forged)[0], rows[-1][1]
    )
    ledger = Ledger(office.store, [KEY], keep=None, clock=office.clock)
    assert not (await ledger.verify()).is_sound
    assert await ledger.trim(HOUR) == 2
    assert not (await ledger.verify()).is_sound


@pytest.mark.parametrize("read", [3, 10, 15, 16, 20])
async def test_whoever_verifies_while_lines_go_is_not_alarmed(read: int):
    """So many lines were read before, and the next ones are gone."""
    office = Office()
    for number in range(12):
        await office.write(number % 3, 2)
        office.clock.pass_by(timedelta(minutes=10))
    before = [row async for row in read_numbered(office.store)]
    head = await office.workers[0].heads()
    await office.workers[0].trim(HOUR)
    after = [row async for row in read_numbered(office.store, after=read)]
    report = check(before[:read] + after, head)
    assert report.is_sound, report.problems


async def test_it_happens_by_itself_about_once_an_hour_in_one_process():
    office = Office(keep=HOUR)
    spent: list[str] = []
    spend = office.store.spend

    async def counted(key: str, **options: Any) -> bool:
        won = await spend(key, **options)
        spent.extend([key] * won)
        return won

    office.store.spend = counted  # counts, and does what it did
    for _ in range(20):
        for worker in range(3):
            await office.write(worker)
        office.clock.pass_by(timedelta(minutes=15))
    assert len(spent) == len({*spent}) == 5
    assert min(await office.times()) >= office.clock() - 2 * TRIM_INTERVAL - 900
    await sound(office.workers[0])


async def test_a_long_backlog_goes_in_steps_while_others_write():
    office = Office(keep=HOUR)
    for _ in range(4):
        await office.write(0, BATCH_SIZE // 2)
    office.clock.pass_by(2 * HOUR)
    sizes: list[int] = []
    for _ in range(6):
        await office.write(1)
        sizes.append(len(await office.times()))
    assert sizes[0] > BATCH_SIZE
    assert sizes[-1] == 6
    await sound(office.workers[0])


async def test_more_writers_than_a_mark_has_room_for_take_several_lines():
    office = Office()
    for _ in range(900):
        await Ledger(office.store, [KEY], keep=None, clock=office.clock).write(entry(at=office.clock()))
    head = (await office.workers[0].heads()).to_json()
    office.clock.pass_by(2 * HOUR)
    await office.workers[0].trim(HOUR)
    report = await sound(office.workers[1], head)
    assert report.lines < 50
    assert max([len(raw) async for _, raw in read_numbered(office.store)]) < 65_536
