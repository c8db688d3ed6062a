"""The schema of a Postgres store: made, brought up to date, and refused where it does not fit."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from askback.errors import StoreUnavailable
from askback.stores.postgres import PostgresStore
from askback.stores.postgres import schema as schema_module
from askback.stores.postgres.schema import Migration, load_migrations
from askback.stores.postgres.upkeep import Migrated, migrate
from tests.support.stores.postgres import schema_of, shell

pytestmark = pytest.mark.services

STEPS = list(load_migrations())


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
def url(postgres_url: str, schema: str) -> str:
    return f"{postgres_url}?schema={schema}"


def know(monkeypatch: pytest.MonkeyPatch, steps: Sequence[Migration]) -> None:
    """As another version of Askback would."""
    monkeypatch.setattr(schema_module, "load_migrations", lambda: steps)


async def refused(url: str) -> str:
    store = PostgresStore(url)
    with pytest.raises(StoreUnavailable) as raised:
        await store.claim("order", until=4e9)
    await store.close()
    return str(raised.value)


async def is_there(url: str, schema: str) -> bool:
    async with shell(url.partition("?")[0]) as connection:
        return await connection.fetchval("SELECT to_regnamespace($1) IS NOT NULL", schema)


def test_steps_are_numbered_one_after_the_other():
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))


async def test_without_its_tables_a_store_that_may_make_none_fails_closed(url: str, schema: str):
    said = await refused(f"{url}&migrate=0")
    assert f"its schema {schema} is not there. Run `askback store migrate" in said
    assert not await is_there(url, schema)


async def test_tables_are_made_once(url: str, schema: str, postgres_url: str):
    made = await migrate(url)
    assert made == Migrated(STEPS, schema, postgres_url.replace("askback@", ""))
    assert await migrate(url) == made._replace(steps=[])
    store = PostgresStore(url)
    assert await store.append(b"line") == 1
    await store.close()


async def test_of_several_who_make_them_at_once_one_does(url: str):
    done: list[list[Migration]] = []

    async def run() -> None:
        done.append((await migrate(url)).steps)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(run)
    assert sorted(map(len, done)) == [0, 0, 0, len(STEPS)]


async def test_whoever_only_looks_changes_nothing(url: str, schema: str):
    assert (await migrate(url, check=True)).steps == STEPS
    assert not await is_there(url, schema)


async def test_stores_make_their_tables_where_there_are_none(url: str):
    stores = [PostgresStore(url) for _ in range(3)]
    async with anyio.create_task_group() as group:
        for store in stores:
            group.start_soon(store.append, b"line")
    assert len(await stores[0].read()) == 3
    for store in stores:
        await store.close()


async def test_an_older_schema_is_refused_until_it_is_brought_up_to_date(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as former:
        know(former, STEPS[:1])
        assert (await migrate(url)).steps == STEPS[:1]
    assert f"is at step 1 of {len(STEPS)}. Run `askback store migrate" in await refused(url)
    assert (await migrate(url, check=True)).steps == STEPS[1:]
    store = PostgresStore(f"{url}&migrate=1")
    assert await store.spend("link", until=4e9)
    await store.close()


async def test_a_newer_schema_is_refused_and_left_alone(url: str, schema: str, postgres_url: str):
    await migrate(url)
    async with shell(postgres_url) as connection:
        await connection.execute(f"INSERT INTO {schema}.migrations VALUES (99, 'of tomorrow')")
    assert f"has number 99, and this version of Askback knows {len(STEPS)}" in await refused(url)
    assert "upgrade here too" in await refused(f"{url}&migrate=1")
    with pytest.raises(StoreUnavailable, match="has number 99"):
        await migrate(url)


async def test_a_step_that_fails_leaves_nothing_behind(
    url: str, schema: str, monkeypatch: pytest.MonkeyPatch
):
    know(monkeypatch, [*STEPS, Migration(len(STEPS) + 1, "broken", "CREATE TABLE claims ()")])
    with pytest.raises(StoreUnavailable, match="already exists"):
        await migrate(url)
    assert not await is_there(url, schema)
