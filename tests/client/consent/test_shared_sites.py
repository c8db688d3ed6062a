"""Sites that several processes know of: as in a file, but in a store."""

from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from askback.client import Driver, QuestionLimits
from askback.client.consent import SharedSites
from askback.client.consent.sites import MAX_DOMAINS
from askback.client.intake import Intake
from askback.client.limits import QuestionTally
from askback.client.person import Asker, PersonQueue, Turn, VisitAsked
from askback.errors import StoreUnavailable
from askback.protocol.client import IncomingVisit
from askback.stores import MemoryStore, SQLiteStore
from askback.testing import accept
from askback.testing.person import ScriptedPerson


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_what_one_process_remembers_another_knows(tmp_path: Path):
    one, other = SQLiteStore(tmp_path / "sites.db"), SQLiteStore(tmp_path / "sites.db")
    await SharedSites(one).remember("shop", "github.com")
    assert await SharedSites(other).before("shop") == {"github.com"}
    assert await SharedSites(other).before("another") == frozenset()
    assert await SharedSites(other, person="somebody else").before("shop") == frozenset()
    await one.close()
    await other.close()


async def test_several_at_once_lose_none(tmp_path: Path):
    store = SQLiteStore(tmp_path / "sites.db")
    await SharedSites(store).remember("shop", "first.example")
    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(SharedSites(store).remember, "shop", f"{number}.example")
    assert len(await SharedSites(store).before("shop")) == 9
    await store.close()


async def test_the_oldest_go_first_and_all_in_the_end():
    clock = Clock()
    store = MemoryStore(clock=clock)
    sites = SharedSites(store, life=timedelta(days=1), clock=clock)
    for number in range(MAX_DOMAINS + 1):
        await sites.remember("shop", f"{number}.example")
    before = await sites.before("shop")
    assert len(before) == MAX_DOMAINS
    assert "0.example" not in before
    clock.now = timedelta(days=1).total_seconds() + 1
    assert await sites.before("shop") == frozenset()
    assert await store.count() == 0


async def test_neither_server_nor_person_can_be_read_in_the_store():
    store = MemoryStore()
    await SharedSites(store, person="ada").remember("shop", "github.com")
    ((owner, name),) = await store.rows(prefix="askback/sites/")
    assert "ada" not in owner
    assert "shop" not in name


class Away(MemoryStore):
    async def get(self, owner: str, name: str) -> bytes | None:
        raise StoreUnavailable(store="it", problem="is away", advice="Wait.")


async def test_a_store_that_is_away_costs_no_more_than_the_memory(caplog: pytest.LogCaptureFixture):
    sites = SharedSites(Away())
    await sites.remember("shop", "github.com")
    assert await sites.before("shop") == frozenset()
    assert "count as new" in caplog.text


async def test_what_is_not_ours_is_written_anew():
    store = MemoryStore()
    sites = SharedSites(store)
    await sites.remember("shop", "github.com")
    ((owner, name),) = await store.rows(prefix="askback/sites/")
    await store.put(owner, name, b"{}")
    assert await sites.before("shop") == frozenset()
    await sites.remember("shop", "example.com")
    assert await sites.before("shop") == {"example.com"}


async def test_a_link_to_another_site_stands_out():
    sites = SharedSites(MemoryStore())
    warnings: list[str] = []
    for host in ("pay.example", "evil.example"):
        line = PersonQueue(ScriptedPerson([accept()]))
        intake = Intake(line, asker=Asker(label="shop"), limits=QuestionLimits(), sites=sites)
        words = IncomingVisit(message="Please pay.", url=f"https://{host}/7")
        asked = await intake.read(words, purposes=("tool order",))
        await intake.put(Turn(asked), QuestionTally(QuestionLimits()))
        assert isinstance(asked, VisitAsked)
        warnings.append(" ".join(asked.verdict.warnings))
    assert "sent you to pay.example before" in warnings[1]


def test_a_driver_takes_them():
    Driver(["true"], ScriptedPerson(), sites=SharedSites(MemoryStore()))
