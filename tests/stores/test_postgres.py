"""What Postgres adds to the contract: addresses, a schema of one's own, loops and threads, waking, and forgetting."""

import gc
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from askback.errors import OperatorError, StoreUnavailable
from askback.stores import EpochChanged, Finished, Granted
from askback.stores.postgres import PostgresStore, connections, wakeups
from askback.stores.postgres.address import read_address
from askback.stores.postgres.upkeep import migrate
from askback.testing.store_contract.base import Clock, begin, granted
from tests.support.stores.postgres import (
    BOUND,
    Shell,
    Waiting,
    schema_of,
    shell,
    until_found,
    until_listening,
)
from tests.support.stores.postgres import waiting as waiting

pytestmark = pytest.mark.services

FAR = 4e9
CANARY = "hunter2-canary"


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
def url(postgres_url: str, schema: str) -> str:
    return f"{postgres_url}?migrate=1&schema={schema}"


@pytest.fixture
async def store(url: str) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(url)
    yield store
    await store.close()


@pytest.fixture
async def beside(postgres_url: str, schema: str, store: PostgresStore) -> AsyncGenerator[Shell]:
    """A shell in the store's schema."""
    await store.count()
    async with shell(postgres_url) as connection:
        await connection.execute(f"SET search_path TO {schema}")
        yield connection


# Addresses.


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_an_address_is_shown_without_user_and_password(scheme: str):
    url = f"{scheme}://anna:{CANARY}@db.example:6432/tools?sslmode=require&schema=mine"
    address = read_address(url, schema="askback")
    assert address.shown == "postgresql://db.example:6432/tools"
    assert (address.schema, address.user, address.password) == ("mine", "anna", CANARY)
    assert "sslmode=require" in address.dsn
    assert CANARY not in repr(address) + address.dsn + repr(PostgresStore(url))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://anna:{CANARY}/x@db.example/tools",
        f"postgresql://anna:{CANARY}?x@db.example/tools",
        f"postgresql://anna:{CANARY}#x@db.example/tools",
        f"postgresql://anna:x[{CANARY}@db.example/tools",
        f"postgresql://anna:{CANARY}",
        f"mysql://anna:{CANARY}@db.example/tools",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(url: str):
    with pytest.raises(OperatorError, match="in a password %40 for @") as raised:
        PostgresStore(url)
    assert CANARY not in str(raised.value)


def test_a_password_may_hold_any_sign():
    address = read_address("postgresql://anna:%40%2F%3F%23:x@db.example/tools", schema="askback")
    assert address.password == "@/?#:x"
    assert read_address(f"postgresql://db/x?password={CANARY}", schema="askback").password == CANARY


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("shema=mine", "does not know shema"),
        ("connect_timeout=3", "does not know connect_timeout"),
        ("schema=a.b", "is no name for Askback's tables"),
        ("schema=", "is no name"),
        ('schema=a"b', "is no name"),
        (f"schema={'x' * 64}", "at most 63"),
        ("migrate=perhaps", "neither 1 nor 0"),
        ("connections=0", "no number from 1 to 100"),
        ("connections=many", "no number from 1 to 100"),
    ],
)
def test_a_parameter_that_cannot_be_followed_is_refused(query: str, advice: str):
    with pytest.raises(OperatorError, match=advice):
        PostgresStore(f"postgresql://db.example/tools?{query}")


@pytest.mark.parametrize("lease", [0.0, -1.0, float("inf"), float("nan")], ids=str)
def test_a_lease_must_be_some_seconds(lease: float):
    with pytest.raises(OperatorError, match="such as 15"):
        PostgresStore("postgresql://db.example/tools", lease=lease)


async def test_a_server_that_is_not_there_is_named_without_the_password():
    store = PostgresStore(f"postgresql://anna:{CANARY}@127.0.0.1:1/tools")
    with pytest.raises(StoreUnavailable, match=r"postgresql://127\.0\.0\.1:1/tools cannot be used") as raised:
        await store.claim("order", until=FAR)
    assert CANARY not in f"{raised.value} {raised.value.__cause__!r}"
    await store.close()


async def test_a_database_that_is_not_there_is_met_with_advice(postgres_url: str):
    store = PostgresStore(postgres_url.rpartition("/")[0] + "/nowhere")
    with pytest.raises(StoreUnavailable, match="Create the database"):
        await store.count()
    await store.close()


def test_it_says_that_it_runs_on_asyncio_alone(url: str):
    with pytest.raises(OperatorError, match="on asyncio"):
        PostgresStore(url).count().send(None)


# Schemas and roles.


async def test_schemas_are_kept_apart(postgres_url: str, store: PostgresStore, schema: str):
    other = PostgresStore(f"{postgres_url}?migrate=1", schema=f"{schema}-Other")
    assert await store.spend("link", until=FAR)
    assert await other.spend("link", until=FAR)
    assert await store.append(b"line") == await other.append(b"line") == 1
    assert await store.epoch() != await other.epoch()
    async with anyio.create_task_group() as group:
        waiting = await begin(group, lambda: other.wait("visit"))
        await store.settle("visit", b"elsewhere", until=FAR)
        await other.settle("visit", b"here", until=FAR)
        assert await waiting.outcome() == b"here"
    await other.close()


async def test_a_role_that_owns_its_schema_alone_is_enough(postgres_url: str, schema: str):
    async with shell(postgres_url) as admin:
        await admin.execute(f"CREATE ROLE {schema} LOGIN; CREATE SCHEMA {schema} AUTHORIZATION {schema}")
    store = PostgresStore(postgres_url.replace("askback@", f"{schema}@") + "?migrate=1", schema=schema)
    claim = granted(await store.claim("order", until=FAR, epoch=await store.epoch()))
    assert await store.record(claim, b"Order 1")
    assert await store.sweep() == 0
    await store.close()


async def test_a_role_without_rights_is_told_which(postgres_url: str, schema: str, store: PostgresStore):
    await store.count()
    async with shell(postgres_url) as admin:
        await admin.execute(f"CREATE ROLE {schema} LOGIN")
    stranger = PostgresStore(postgres_url.replace("askback@", f"{schema}@"), schema=schema)
    with pytest.raises(StoreUnavailable, match="own the schema"):
        await stranger.count()
    await stranger.close()


async def test_a_commit_is_waited_for_even_where_the_database_does_not(postgres_url: str, schema: str):
    async with shell(postgres_url) as admin:
        await admin.execute(f"CREATE ROLE {schema} LOGIN; CREATE SCHEMA {schema} AUTHORIZATION {schema}")
        await admin.execute(f"ALTER ROLE {schema} SET synchronous_commit = off")
    store = PostgresStore(postgres_url.replace("askback@", f"{schema}@") + "?migrate=1", schema=schema)
    assert await store._value("SELECT current_setting('synchronous_commit')") == "on"  # pyright: ignore[reportPrivateUsage] - nobody else can see it
    await store.close()


async def test_a_server_that_takes_no_writes_is_refused(postgres_url: str, schema: str, store: PostgresStore):
    await store.count()
    async with shell(postgres_url) as admin:
        await admin.execute(f"CREATE ROLE {schema} LOGIN; GRANT ALL ON SCHEMA {schema} TO {schema}")
        await admin.execute(f"ALTER ROLE {schema} SET default_transaction_read_only = on")
    standby = PostgresStore(postgres_url.replace("askback@", f"{schema}@"), schema=schema)
    with pytest.raises(StoreUnavailable, match="takes no writes"):
        await standby.count()
    await standby.close()


# Memory.


async def test_tables_that_were_made_anew_are_another_memory(
    store: PostgresStore, beside: Shell, postgres_url: str, schema: str
):
    former = await store.epoch()
    granted(await store.claim("order", until=FAR, epoch=former))
    await beside.execute(f"DROP SCHEMA {schema} CASCADE")
    await migrate(postgres_url, schema=schema)
    assert await store.claim("order", turn=1, until=FAR, epoch=former) == EpochChanged()
    assert await store.epoch() != former
    granted(await store.claim("order", until=FAR, epoch=await store.epoch()))


async def test_a_dump_that_was_loaded_over_the_tables_is_another_memory(store: PostgresStore, beside: Shell):
    former = await store.epoch()
    await beside.execute(
        "CREATE TABLE loaded AS TABLE memory; DROP TABLE memory; ALTER TABLE loaded RENAME TO memory"
    )
    assert await store.claim("order", until=FAR, epoch=former) == EpochChanged()


async def test_whoever_waits_while_the_memory_is_lost_is_told(store: PostgresStore, beside: Shell):
    granted(await store.claim("order", until=FAR))
    async with anyio.create_task_group() as group:
        waiter = await begin(group, lambda: store.claim("order", until=FAR))
        await until_found(beside, "SELECT is_awaited FROM claims")
        await beside.execute("UPDATE memory SET id = 'another'")  # first, for one that looks just now
        await beside.execute("DELETE FROM claims")
        assert await waiter.outcome() == EpochChanged(), "it may have been run, or may be still"


async def test_tables_that_are_gone_are_missed(
    store: PostgresStore, beside: Shell, postgres_url: str, schema: str
):
    lasting = PostgresStore(f"{postgres_url}?migrate=0", schema=schema)
    assert await lasting.count() == 0
    await beside.execute(f"DROP SCHEMA {schema} CASCADE")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"is not there\. Run `askback store migrate"):
            await lasting.claim("order", until=FAR)
    await lasting.close()


# Waking.


async def test_whoever_waits_is_woken_by_the_server_and_not_by_looking(
    store: PostgresStore, url: str, beside: Shell, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(wakeups, "LOOK_INTERVAL", 1000.0)
    other = PostgresStore(url)
    claim = granted(await other.claim("order", until=FAR))
    await until_listening(store)
    async with anyio.create_task_group() as group:
        run = await begin(group, lambda: store.claim("order", until=FAR))
        visit = await begin(group, lambda: store.wait("visit"))
        await until_found(beside, "SELECT is_awaited FROM claims")
        await waiting.reach(2)
        await other.record(claim, b"Order 1")
        await other.settle("visit", b"yes", until=FAR)
        with anyio.fail_after(BOUND):
            assert await run.outcome() == Finished(b"Order 1")
            assert await visit.outcome() == b"yes"
    await other.close()


async def test_whoever_listens_on_a_connection_that_is_cut_listens_again(
    store: PostgresStore, beside: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(wakeups, "LOOK_INTERVAL", 1000.0)
    await until_listening(store)
    async with anyio.create_task_group() as group:
        visit = await begin(group, lambda: store.wait("visit"))
        keepers = "FROM pg_stat_activity WHERE application_name = 'askback listener'"
        ended = await beside.fetch(f"SELECT pid, pg_terminate_backend(pid) {keepers}")
        await until_found(beside, f"SELECT true {keepers} AND pid <> ALL($1)", [row["pid"] for row in ended])
        await store.settle("visit", b"yes", until=FAR)
        assert await visit.outcome() == b"yes"


async def test_whoever_hears_nothing_looks(store: PostgresStore, beside: Shell, waiting: Waiting):
    async with anyio.create_task_group() as group:
        visit = await begin(group, lambda: store.wait("visit"))
        await waiting.reach(1)
        await beside.execute("INSERT INTO settled VALUES ($1, $2, $3)", b"visit", FAR, b"yes")
        assert await visit.outcome() == b"yes"


async def test_those_who_wait_when_it_is_closed_are_told(store: PostgresStore, waiting: Waiting):
    granted(await store.claim("order", until=FAR))
    failed: list[str] = []

    async def wait() -> None:
        try:
            await store.claim("order", until=FAR)
        except StoreUnavailable as error:
            failed.append(error.problem)

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await waiting.reach(1)
        await store.close()
    assert failed == ["it was closed while somebody waited"]


async def test_a_claim_that_is_cancelled_just_before_it_is_closed_is_given_back(
    store: PostgresStore, url: str, beside: Shell
):
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.claim("order", until=FAR)
    await store.close()
    assert await beside.fetchval("SELECT count(*) FROM claims") == 0


# Leases.


async def test_a_body_that_blocks_its_loop_does_not_pass_for_dead(
    url: str, store: PostgresStore, beside: Shell
):
    blocking = PostgresStore(url, lease=0.5)
    held, done = threading.Event(), threading.Event()

    async def run() -> bool:
        claim = granted(await blocking.claim("order", until=FAR))
        held.set()
        done.wait(BOUND)
        recorded = await blocking.record(claim, b"Order 1")
        await blocking.close()
        return recorded

    async with anyio.create_task_group() as group:
        running = await begin(group, lambda: anyio.to_thread.run_sync(anyio.run, run))
        await anyio.to_thread.run_sync(held.wait, BOUND)
        first = await beside.fetchval("SELECT alive_until FROM claims")
        await until_found(
            beside, "SELECT alive_until > $1::timestamptz + interval '1 second' FROM claims", first
        )
        with anyio.move_on_after(0.2):
            raise AssertionError(await store.claim("order", until=FAR))
        done.set()
        assert await running.outcome()
    assert await store.claim("order", until=FAR) == Finished(b"Order 1")


async def test_a_server_that_has_just_started_gives_every_runner_a_lease_anew(
    store: PostgresStore, beside: Shell
):
    granted(await store.claim("order", until=FAR))
    await store.close()
    await beside.execute(
        "UPDATE claims SET alive_until = now() - interval '1 day', lease = interval '1 hour'"
    )
    with anyio.move_on_after(0.2):  # this server is younger than an hour
        raise AssertionError(await store.claim("order", until=FAR))
    await beside.execute("UPDATE claims SET lease = interval '0'")
    granted(await store.claim("order", until=FAR))


def test_what_ran_on_a_loop_that_is_closed_is_taken_over(url: str):
    former, latter = PostgresStore(url, lease=0.3), PostgresStore(url)

    async def begin() -> None:
        granted(await former.claim("order", until=FAR))

    async def take_over() -> None:
        with anyio.fail_after(BOUND):
            assert isinstance(await latter.claim("order", until=FAR), Granted)
        await latter.close()
        await former.close()

    anyio.run(begin)
    anyio.run(take_over)


# Loops.


async def test_several_threads_with_loops_of_their_own_share_a_store(store: PostgresStore):
    async def append() -> None:
        for _ in range(5):
            await store.append(b"line")

    async def run_elsewhere() -> None:
        await anyio.to_thread.run_sync(anyio.run, append)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(run_elsewhere)
        await store.append(b"line")
    assert [number for number, _line in await store.read()] == list(range(1, 17))


def test_a_loop_that_ends_takes_its_connections_along_and_the_store_goes_on(url: str):
    store = PostgresStore(url)
    assert anyio.run(store.append, b"first") == 1
    assert anyio.run(store.append, b"second") == 2
    anyio.run(store.close)
    gc.collect()  # a connection that was left open would warn here


async def test_a_store_that_is_dropped_takes_its_connections_along(url: str, beside: Shell):
    store = PostgresStore(f"{url}&application_name=dropped")
    await store.append(b"line")
    await until_listening(store)
    del store
    gc.collect()
    mine = "FROM pg_stat_activity WHERE application_name = 'dropped'"
    with anyio.fail_after(BOUND):
        while await beside.fetchval(f"SELECT count(*) {mine}"):
            pass


async def test_one_who_waits_on_another_loop_is_told_when_the_store_is_closed(
    store: PostgresStore, waiting: Waiting
):
    def wait_elsewhere() -> None:
        with pytest.raises(StoreUnavailable, match="closed while somebody waited"):
            anyio.run(store.wait, "visit")

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, wait_elsewhere)
        await waiting.reach(1)
        await store.close()


async def test_no_more_connections_are_made_than_were_allowed(url: str, beside: Shell, postgres_url: str):
    store = PostgresStore(f"{url}&connections=2&application_name=few")
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(store.append, b"%d" % number)
    backends = await beside.fetchval("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'few'")
    assert backends <= 3  # one listens
    await store.close()


# Time.


async def test_what_has_expired_goes_by_itself_and_leaves_no_rows(
    url: str, beside: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "EXPIRY_INTERVAL", 0.05)
    clock = Clock()
    store = PostgresStore(url, clock=clock)
    for number in range(5):
        await store.record(granted(await store.claim(f"{number}", until=clock.hence(60))), b"result")
        granted(await store.claim(f"{number}", turn=1, until=clock.hence(60 if number else 600)))
        await store.settle(f"{number}", b"value", until=clock.hence(60))
        await store.spend(f"{number}", until=clock.hence(60))
        await store.put("anna", f"{number}", b"secret", until=clock.hence(60))
    await store.close()  # nobody runs anything any more
    await beside.execute("UPDATE claims SET lease = '0', alive_until = now()")
    clock.advance(100)
    await store.count()
    every = " + ".join(f"(SELECT count(*) FROM {table})" for table in ("claims", "settled", "spent", "vault"))
    await until_found(beside, f"SELECT ({every}) = 1")
    clock.advance(600)
    await until_found(beside, f"SELECT ({every}) = 0")
    await store.close()


async def test_a_long_ledger_is_trimmed_in_parts(store: PostgresStore, beside: Shell):
    await store.append(*(b"%d" % number for number in range(2500)))
    assert await store.trim(before=99_999) == 2499
    assert await beside.fetchval("SELECT count(*) FROM ledger") == 1
    assert await store.append(b"next") == 2501


async def test_keys_may_be_longer_than_an_index_takes_and_hold_any_sign(store: PostgresStore):
    for key in ("x" * 10_000, "nul \x00 and half \ud83c"):
        await store.record(granted(await store.claim(key, until=FAR)), b"yes")
        assert await store.claim(key, until=FAR) == Finished(b"yes")
        assert await store.spend(key, until=FAR) and not await store.spend(key, until=FAR)
    await store.put("nul \x00", "x", b"1")
    assert await store.rows(prefix="nul") == [("nul \x00", "x")]
