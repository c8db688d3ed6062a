"""Several processes on one ledger, and what one leaves behind that is killed."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from askback.ledger import Ledger
from askback.ledger.reader import entry_of
from tests.ledger.books import KEY
from tests.ledger.processes import CALLS
from tests.support.stores import race
from tests.support.stores.race import said_by

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.verifies("T24")]

process = partial(race.process, module="tests.ledger.processes")


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'askback.db'}"


async def events(ledger: Ledger) -> list[tuple[str, str]]:
    found = [entry async for line in ledger.entries() if (entry := entry_of(line)) is not None]
    return [(entry.call, entry.event) for entry in found]


async def test_three_processes_write_at_once_and_every_line_is_there(store: str):
    with process("many", store) as one, process("many", store) as two, process("many", store) as three:
        all_of_them = (one, two, three)
        assert [said_by(each) for each in all_of_them] == ["ready"] * 3
        for each in all_of_them:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        assert [each.wait(45) for each in all_of_them] == [0] * 3
    ledger = Ledger(store, [KEY])
    report = await ledger.verify()
    assert report.is_sound, report.problems
    assert report.writers == 3
    assert {*Counter(await events(ledger)).values()} == {1}
    assert len(await events(ledger)) == 3 * CALLS * 2
    await ledger.close()


async def test_what_a_writer_was_told_is_in_stays_when_it_is_killed_in_the_middle_of_the_next(store: str):
    told: list[str] = []
    for _ in range(2):
        with process("endless", store) as writer:
            told += [said_by(writer) for _ in range(25)]
            writer.kill()
            assert writer.stdout is not None
            told += [whole.strip() for whole in writer.stdout if whole.endswith("\n")]
    ledger = Ledger(store, [KEY])
    report = await ledger.verify()
    assert (report.problems, report.writers) == ((), 2)
    there = Counter(await events(ledger))
    assert not Counter((call, event) for call in told for event in ("asked", "answered")) - there
    calls = Counter(call for call, _ in there.elements())
    assert all(count % 2 == 0 for count in calls.values()), "an append is there whole or not at all"
    await ledger.close()


async def test_a_process_that_was_forked_writes_a_chain_of_its_own(store: str):
    with process("fork", store) as forked:
        assert said_by(forked) == "ended with 0"
        assert forked.wait(45) == 0
    ledger = Ledger(store, [KEY])
    report = await ledger.verify()
    assert (report.problems, report.writers) == ((), 2)
    assert [call for call, _ in await events(ledger)] == ["before", "after", "after"]
    await ledger.close()
