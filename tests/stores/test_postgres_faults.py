"""A Postgres that is killed, paused, restarted and cut off: nothing is done twice, nothing is lost, and it goes on."""

import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import anyio
import pytest

from askback.errors import StoreUnavailable
from askback.stores import EpochChanged, Finished, Granted
from askback.stores.postgres import PostgresStore, connection, pool
from askback.testing.store_contract.base import begin, granted
from scripts.services import PostgresServer, postgres_server
from tests.support.services import found
from tests.support.stores.cut import Wire, wire_to
from tests.support.stores.postgres import BOUND, Shell, Waiting, schema_of, shell, until_found, until_heard
from tests.support.stores.postgres import waiting as waiting

pytestmark = [pytest.mark.services, pytest.mark.slow]

FAR = 4e9


@pytest.fixture(scope="module")
def server() -> Generator[PostgresServer]:
    """Our own, since it does not fare well here."""
    with found(), postgres_server() as server:
        yield server


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
async def store(server: PostgresServer, schema: str) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(f"{server.url}?migrate=1&schema={schema}")
    await store.count()
    yield store
    await store.close()


@pytest.fixture
async def other(server: PostgresServer, schema: str, store: PostgresStore) -> AsyncGenerator[PostgresStore]:
    other = PostgresStore(server.url, schema=schema)
    yield other
    await other.close()


@pytest.fixture
async def beside(server: PostgresServer, schema: str, store: PostgresStore) -> AsyncGenerator[Shell]:
    async with shell(server.url) as connection:
        await connection.execute(f"SET search_path TO {schema}")
        yield connection


async def test_a_server_that_is_killed_is_missed_and_found_again(
    server: PostgresServer, store: PostgresStore, other: PostgresStore, waiting: Waiting
):
    epoch = await store.epoch()
    claim = granted(await store.claim("order", until=FAR))
    await store.note(claim, b"placed")
    async with anyio.create_task_group() as group:
        waiter = await begin(group, lambda: other.claim("order", until=FAR))
        await waiting.reach(1)
        server.kill()
        for verb in (lambda: store.note(claim, b"late"), lambda: store.spend("link", until=FAR)):
            with pytest.raises(StoreUnavailable, match=rf"postgresql://127\.0\.0\.1:{server.port}/askback"):
                await verb()
        server.start()
        back = time.monotonic()
        assert await store.spend("link", until=FAR)
        assert time.monotonic() - back < 2
        assert await store.record(claim, b"Order 1")
        assert await waiter.outcome() == Finished(b"Order 1")
    assert await store.epoch() == epoch, "what was answered was kept"


async def test_whoever_waits_for_a_visit_waits_through_a_restart(
    server: PostgresServer, store: PostgresStore, other: PostgresStore, waiting: Waiting
):
    async with anyio.create_task_group() as group:
        waiters = [await begin(group, lambda: store.wait("visit")) for _ in range(3)]
        await waiting.reach(1)
        await until_heard(store)
        server.stop()
        server.start()
        with anyio.fail_after(BOUND):
            await other.settle("visit", b"yes", until=FAR)
        assert [await waiter.outcome() for waiter in waiters] == 3 * [b"yes"]


async def test_one_who_waits_gives_up_on_a_server_that_stays_away(
    server: PostgresServer, store: PostgresStore, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
):
    """However many wait for the same, and so one behind the other."""
    monkeypatch.setattr("askback.stores.postgres.pool.WAIT_TIMEOUT", 0.5)
    await store.count()

    async def wait() -> None:
        with pytest.raises(StoreUnavailable, match="by itself"):
            await store.wait("visit")

    async with anyio.create_task_group() as group:
        waiters = [await begin(group, wait) for _ in range(8)]
        await waiting.reach(1)
        await until_heard(store)
        server.kill()
        began = time.monotonic()
        for waiter in waiters:
            await waiter.outcome()
        assert time.monotonic() - began < 4
    server.start()


async def test_a_server_that_stands_still_is_given_up_in_time_and_nothing_stays_claimed(
    server: PostgresServer, store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "ANSWER_TIMEOUT", 0.5)
    monkeypatch.setattr(pool, "ANSWER_TIMEOUT", 0.5)
    await store.close()  # its connections are those of before
    await store.count()
    server.pause()
    try:
        began = time.monotonic()
        for verb in (lambda: store.claim("order", until=FAR), lambda: store.append(b"line")):
            with pytest.raises(StoreUnavailable, match="did not answer"):
                await verb()
        assert time.monotonic() - began < 5
    finally:
        server.resume()
    with anyio.fail_after(5):  # well before its lease would end
        assert isinstance(await other.claim("order", until=FAR), Granted)
    assert await store.spend("link", until=FAR)


async def test_all_that_crowd_before_a_server_that_stands_still_are_told_in_time(
    server: PostgresServer, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pool, "ANSWER_TIMEOUT", 0.3)
    await store.close()
    failed: list[str] = []

    async def spend(number: int) -> None:
        try:
            await store.spend(f"link {number}", until=FAR)
        except StoreUnavailable as error:
            failed.append(error.problem)

    server.pause()
    try:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                for number in range(100):
                    group.start_soon(spend, number)
    finally:
        server.resume()
    assert len(failed) == 100
    assert any("connections were busy" in problem for problem in failed)
    assert await store.spend("link", until=FAR)


async def test_a_backend_that_is_ended_in_the_middle_of_a_verb_did_nothing_or_all(
    server: PostgresServer, store: PostgresStore, beside: Shell
):
    numbers: list[int] = []

    async def append() -> None:
        numbers.append(await store.append(b"a", b"b"))

    blocked = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%append%' AND pid <> $1"
    async with shell(server.url) as admin, anyio.create_task_group() as group, beside.transaction():
        await beside.execute("SELECT number FROM ledger_end FOR UPDATE")
        group.start_soon(append)
        pid = await until_found(admin, blocked, 0)
        await admin.fetchval("SELECT pg_terminate_backend($1)", pid)
        assert await until_found(admin, blocked, pid)
    assert numbers == [2]
    assert await store.read() == [(1, b"a"), (2, b"b")]


async def test_a_lock_that_somebody_keeps_is_named(
    store: PostgresStore, beside: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(connection.SETTINGS, "lock_timeout", "100ms")
    await store.close()
    async with beside.transaction():
        await beside.execute("SELECT number FROM ledger_end FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="a shell left in a transaction"):
            await store.append(b"line")
    assert await store.append(b"line") == 1


async def test_a_standby_that_took_over_is_another_memory(server: PostgresServer, store: PostgresStore):
    former = await store.epoch()
    server.stop()
    cluster = server.home / "cluster"
    with (cluster / "postgresql.auto.conf").open("a") as settings:
        settings.write("restore_command = '/bin/false'\n")
    (cluster / "recovery.signal").touch()  # it recovers what it has, and begins a timeline of its own
    server.start()
    async with shell(server.url) as connection:
        await until_found(connection, "SELECT NOT pg_is_in_recovery()")
    assert await store.claim("order", until=FAR, epoch=former) == EpochChanged()
    assert await store.epoch() != former
    granted(await store.claim("order", until=FAR, epoch=await store.epoch()))


# The answer is lost, and what was asked for was done.


@pytest.fixture
async def wire(server: PostgresServer) -> AsyncGenerator[Wire]:
    async with wire_to(server.port) as wire:
        yield wire


@pytest.fixture
async def far(
    server: PostgresServer, schema: str, store: PostgresStore, wire: Wire
) -> AsyncGenerator[PostgresStore]:
    """The same store at the end of a wire."""
    url = server.url.replace(f":{server.port}/", f":{wire.port}/")
    far = PostgresStore(f"{url}?schema={schema}&sslmode=disable")
    await far.count()
    yield far
    await far.close()


async def test_a_claim_whose_answer_is_lost_is_granted_recorded_and_released_once(
    far: PostgresStore, wire: Wire, store: PostgresStore
):
    wire.cut_at(b"order 1")
    first = granted(await far.claim("order 1", until=FAR))
    wire.cut_at(b"the note")
    assert await far.note(first, b"the note")
    wire.cut_at(b"the result")
    assert await far.record(first, b"the result")
    assert not await far.record(first, b"another")
    assert await store.claim("order 1", until=FAR) == Finished(b"the result")

    second = granted(await far.claim("order 2", until=FAR))
    wire.cut_at(second.token.encode())
    await far.release(second)
    granted(await store.claim("order 2", digest="other", until=FAR))
    assert wire.cuts == 4


async def test_what_is_settled_or_spent_with_a_lost_answer_is_ours(
    far: PostgresStore, wire: Wire, store: PostgresStore
):
    wire.cut_at(b"a visit")
    assert await far.settle("a visit", b"ours", until=FAR) == b"ours"
    wire.cut_at(b"a link")
    assert await far.spend("a link", until=FAR)
    assert not await far.spend("a link", until=FAR)
    assert not await store.spend("a link", until=FAR)
    assert wire.cuts == 2


async def test_lines_whose_answer_is_lost_are_written_once(
    far: PostgresStore, wire: Wire, store: PostgresStore
):
    await store.append(b"before")
    wire.cut_at(b"the line")
    assert await far.append(b"the line", b"and another") == 3
    assert await store.append(b"after") == 4
    assert [line for _n, line in await store.read()] == [b"before", b"the line", b"and another", b"after"]
    assert wire.cuts == 1


async def test_a_secret_whose_answer_is_lost_is_replaced_once_or_nobody_knows(
    far: PostgresStore, wire: Wire, store: PostgresStore
):
    wire.cut_at(b"value 1")
    await far.put("anna", "token", b"value 1")
    wire.cut_at(b"value 2")
    assert await far.replace("anna", "token", b"value 1", b"value 2")
    assert not await far.replace("anna", "token", b"value 1", b"value 3")
    for remove in (
        lambda: far.replace("anna", "token", b"value 2", None),
        lambda: far.delete("anna", "token"),
    ):
        wire.cut_at(b"token")
        with pytest.raises(StoreUnavailable, match="nobody knows"):
            await remove()
        assert await store.get("anna", "token") is None
        await store.put("anna", "token", b"value 2")
    assert wire.cuts == 4
