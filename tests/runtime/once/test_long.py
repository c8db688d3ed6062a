"""Journals that are too long for a client to carry stay in a store that lasts."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from askback import ask, once
from askback.errors import RoundForgotten
from askback.model.durations import CLOCK_SKEW
from askback.server.offload import MAX_OFFLOADED_LENGTH, OFFLOAD_LENGTH, OWNER
from askback.stores import SQLiteStore
from tests.support.clock import Clock
from tests.support.defence import with_and_without
from tests.support.deliveries import text_of
from tests.support.direct_middleware import Direct
from tests.support.raw import accepting, answering

pytestmark = pytest.mark.anyio

RESULT = "a very personal line\n"


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncGenerator[SQLiteStore]:
    store = SQLiteStore(tmp_path / "askback.db", clock=clock)
    yield store
    await store.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def reading(characters: int) -> str:
    return RESULT * (characters // len(RESULT))


async def survey(characters: int) -> str:
    text = await once("read", reading, characters)
    first = (await ask("First?", int)).or_stop("No.")
    second = (await ask("Second?", int)).or_stop("No.")
    return f"{len(text)} {first + second}"


async def test_a_handle_takes_its_place(store: SQLiteStore, clock: Clock, tmp_path: Path):
    direct = Direct(store=store, clock=clock)

    async def body() -> str:
        return await survey(20 * OFFLOAD_LENGTH)

    first = await direct.call(body)
    assert len(first["requestState"]) < 100
    second = await direct.call(body, **answering(first, ask_1=accepting(value=1)))
    last = await direct.call(body, **answering(second, ask_2=accepting(value=2)))
    assert text_of(last) == f"{len(reading(20 * OFFLOAD_LENGTH))} 3"
    assert text_of(await direct.call(body, **answering(second, ask_2=accepting(value=2)))) == text_of(last)
    async for file in anyio.Path(tmp_path).iterdir():
        assert RESULT.strip().encode() not in await file.read_bytes()


async def test_short_ones_cost_the_store_nothing(store: SQLiteStore, clock: Clock):
    direct = Direct(store=store, clock=clock)

    async def body() -> str:
        return await survey(100)

    first = await direct.call(body)
    assert RESULT.strip() in first["requestState"]
    assert await store.count() == 0


async def test_one_whose_time_is_over_is_refused(store: SQLiteStore, clock: Clock):
    direct = Direct(store=store, clock=clock, think_time=60)

    async def body() -> str:
        return await survey(2 * OFFLOAD_LENGTH)

    first = await direct.call(body)
    clock.now += 60 + 2 * CLOCK_SKEW
    with pytest.raises(MCPError, match="Find out first") as refused:
        await direct.call(body, **answering(first, ask_1=accepting(value=1)))
    assert refused.value.error.data == {"reason": "lost_round"}
    await store.sweep()
    assert await store.count() == 0


async def test_one_that_somebody_changed_in_the_store_is_refused(store: SQLiteStore, clock: Clock):
    direct = Direct(store=store, clock=clock)

    async def body() -> str:
        return await survey(2 * OFFLOAD_LENGTH)

    first = await direct.call(body)
    ((_, name),) = await store.rows(prefix=OWNER)
    sealed = await store.get(OWNER, name)
    assert sealed is not None
    await store.put(OWNER, name, sealed[:-1] + bytes([sealed[-1] ^ 1]), until=clock() + 60)
    with pytest.raises(RoundForgotten):
        await direct.call(body, **answering(first, ask_1=accepting(value=1)))


async def test_even_a_store_does_not_take_everything(store: SQLiteStore, clock: Clock):
    direct = Direct(store=store, clock=clock)

    async def body() -> str:
        return await survey(MAX_OFFLOADED_LENGTH + len(RESULT))

    assert "kept for one call" in text_of(await direct.call(body))


@pytest.mark.verifies("T36")
@with_and_without
async def test_journals_of_calls_that_never_come_back_take_a_share_and_no_more(
    is_defended: bool, store: SQLiteStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    if is_defended:
        monkeypatch.setattr("askback.server.offload.MAX_OF_CALLER", 10 * OFFLOAD_LENGTH)
    direct = Direct(store=store, clock=clock)

    async def body() -> str:
        return await survey(2 * OFFLOAD_LENGTH)

    firsts = [await direct.call(body) for _ in range(20)]
    kept = await store.rows(prefix=OWNER)
    size = sum([len(await store.get(*row) or b"") for row in kept])
    assert (size <= 10 * OFFLOAD_LENGTH) == is_defended
    assert len(kept) == (4 if is_defended else 20)
    end = await direct.call(body, **answering(firsts[-1], ask_1=accepting(value=1)))
    assert end["requestState"]
    if is_defended:
        with pytest.raises(RoundForgotten):
            await direct.call(body, **answering(firsts[0], ask_1=accepting(value=1)))
