"""Everything a claimant can do, in any order, on a server: never two runners, never a wrong result, never a hang."""

import anyio
import pytest
from anyio.abc import TaskGroup
from hypothesis import HealthCheck, given, settings

from askback.stores.postgres import PostgresStore
from tests.stores.test_interleavings import MOVES, Act, Claim, Table
from tests.support.stores.postgres import empty, shell, until_heard

pytestmark = [pytest.mark.services, pytest.mark.slow]

SCHEMA = "interleavings"


class FarTable(Table):
    """What was said is heard by the server before the next one moves; else nobody could tell what it should answer."""

    def __init__(self, store: PostgresStore, group: TaskGroup) -> None:
        super().__init__(store, group)
        self._store = store
        self._refused: list[Claim] = []

    def learn_of_refusal(self, claim: Claim) -> None:
        """Who waited hears of it on another connection than the one for whose sake it was refused, perhaps sooner."""
        self._refused.append(claim)

    async def let_all_move(self) -> None:
        for _ in range(4):
            await super().let_all_move()
            await until_heard(self._store)
        while self._refused:
            super().learn_of_refusal(self._refused.pop())


async def play(url: str, moves: list[Claim | Act]) -> None:
    async with shell(url) as connection:
        await empty(connection, SCHEMA)
    store = PostgresStore(f"{url}?migrate=1", schema=SCHEMA)
    async with anyio.create_task_group() as group:
        await FarTable(store, group).play(moves)
    await store.close()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MOVES)
def test_in_postgres_nothing_runs_twice_and_nobody_waits_for_ever(
    postgres_url: str, moves: list[Claim | Act]
):
    anyio.run(play, postgres_url, moves)
