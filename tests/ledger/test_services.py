"""The ledger on real servers, which go away in the middle and come back."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable

import anyio
import pytest

from askback.errors import StoreUnavailable
from askback.ledger import Ledger
from askback.ledger.reader import entry_of
from askback.stores import Store, open_store
from scripts.services import redis_server
from tests.ledger.books import KEY, entry
from tests.support.services import found
from tests.support.stores.shared import SHARED
from tests.support.stores.shared import url as url

pytestmark = [pytest.mark.services, pytest.mark.anyio, pytest.mark.verifies("T24")]

BOUND = 30.0
WRITERS, EACH = 4, 50


@pytest.fixture
async def store(url: str) -> AsyncGenerator[Store]:
    store = open_store(url, clock=lambda: entry().at)
    yield store
    await store.close()


async def calls(ledger: Ledger) -> Counter[str]:
    found = [entry_of(line) async for line in ledger.entries()]
    return Counter(one.call for one in found if one is not None)


@pytest.mark.parametrize("url", SHARED[1:], indirect=True)
async def test_several_workers_write_at_once_and_every_line_is_there(store: Store):
    ledgers = [Ledger(store, [KEY]) for _ in range(WRITERS)]
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for worker, ledger in enumerate(ledgers):
                for number in range(EACH):
                    group.start_soon(ledger.write, entry(f"{worker}-{number}"))
    report = await ledgers[0].verify()
    assert (report.problems, report.writers) == ((), WRITERS)
    assert {*(await calls(ledgers[0])).values()} == {1}


async def test_what_was_written_is_there_after_the_server_was_killed_and_the_rest_was_refused():
    with found(), redis_server(keeps=True) as server:
        store = open_store(server.url, clock=lambda: entry().at)
        ledger = Ledger(store, [KEY])
        written: list[str] = []
        refused: list[str] = []
        came_back, news = anyio.Event(), anyio.Condition()

        async def work(worker: int) -> None:
            number = 0
            while not (came_back.is_set() and number % EACH == 0):
                number += 1
                try:
                    await ledger.write(entry(f"{worker}-{number}"))
                    outcome = written
                except StoreUnavailable:
                    outcome = refused
                async with news:
                    outcome.append(f"{worker}-{number}")
                    news.notify_all()

        async def until(is_true: Callable[[], object]) -> None:
            async with news:
                while not is_true():
                    await news.wait()

        with anyio.fail_after(BOUND):
            async with anyio.create_task_group() as group:
                for worker in range(WRITERS):
                    group.start_soon(work, worker)
                await until(lambda: len(written) > 2 * EACH)
                await asyncio.to_thread(server.kill)
                await until(lambda: refused)
                await asyncio.to_thread(server.start)
                before = len(written)
                await until(lambda: len(written) > before + EACH)
                came_back.set()
        report = await ledger.verify()
        assert report.is_sound, report.problems
        assert report.writers > 1
        assert not {*written} - {*await calls(ledger)}
        await store.close()
