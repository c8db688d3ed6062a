"""Two that put capped rows at once do not keep each other from it, and a deadlock with somebody else is got over."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from askback.stores import Cap
from askback.stores.postgres import PostgresStore
from askback.testing.store_contract.base import Clock
from tests.support.stores.postgres import Shell, schema_of, shell, until_found

pytestmark = pytest.mark.services

ALIKE, VISITS = (Cap(kind, "anna", max_of_holder=1000, max_in_all=1000) for kind in ("alike", "visits"))

WAIT_FOR = "SELECT count(*) = $2 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"

WEIGHTS = "SELECT FROM capped WHERE holder = '' ORDER BY kind FOR UPDATE"

A_BATCH = 64
"""Expired rows that go with one that is put."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
async def store(postgres_url: str, schema: str, clock: Clock) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(f"{postgres_url}?migrate=1&schema={schema}", clock=clock)
    await store.count()
    yield store
    await store.close()


@pytest.fixture
async def beside(postgres_url: str, schema: str, store: PostgresStore) -> AsyncGenerator[Shell]:
    async with shell(postgres_url) as connection:
        await connection.execute(f"SET search_path TO {schema}")
        yield connection


@pytest.fixture
async def watcher(postgres_url: str) -> AsyncGenerator[Shell]:
    """In no transaction, which would see the others as they were when it first looked."""
    async with shell(postgres_url) as connection:
        yield connection


async def test_two_that_forget_what_has_expired_do_not_wait_in_a_circle(
    store: PostgresStore, beside: Shell, watcher: Shell, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.stores.postgres.pool.UNDONE", ())  # a second try would hide it
    for cap, seconds in ((ALIKE, 5), (VISITS, 6)):
        for number in range(A_BATCH):
            await store.put_capped(cap.kind, f"{number}", b"1", until=clock() + seconds, cap=cap)
    clock.now += 10

    async def put(cap: Cap) -> None:
        await store.put_capped(cap.kind, "new", b"1", until=clock() + 60, cap=cap)

    async with anyio.create_task_group() as group, beside.transaction():
        await beside.fetch(WEIGHTS)
        for number, cap in enumerate((VISITS, ALIKE), 1):
            group.start_soon(put, cap)
            await until_found(watcher, WAIT_FOR, beside.get_server_pid(), number)
    assert await store.get("alike", "new") == await store.get("visits", "new") == b"1"


async def test_whoever_is_let_go_out_of_a_deadlock_tries_once_more(
    store: PostgresStore, beside: Shell, watcher: Shell, clock: Clock
):
    until = clock() + 60
    await store.put_capped("anna", "row", b"1", until=until, cap=VISITS)

    async def put() -> None:
        await store.put_capped("anna", "row", b"2", until=until, cap=VISITS)

    await beside.execute("SET deadlock_timeout TO '1min'")  # so it is the store that finds it
    async with anyio.create_task_group() as group, beside.transaction():
        await beside.fetch(WEIGHTS)
        group.start_soon(put)
        await until_found(watcher, WAIT_FOR, beside.get_server_pid(), 1)
        await beside.fetch("SELECT FROM vault FOR UPDATE")
    assert await store.get("anna", "row") == b"2"
    assert await beside.fetchval("SELECT weight FROM capped WHERE holder = ''") == 1
