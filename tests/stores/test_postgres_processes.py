"""Several processes on one database."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from askback.stores import Done, Lost, Mine
from askback.stores.postgres import PostgresStore
from askback.stores.postgres.upkeep import migrate
from tests.stores.postgres import schema_of
from tests.stores.processes import FAR
from tests.stores.racing import BOUND, process, race_for_every_key, said_by

pytestmark = [pytest.mark.services, pytest.mark.slow]


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    url = f"{postgres_url}?schema={schema_of(tmp_path)}"
    anyio.run(migrate, url)
    return url


def test_several_processes_run_every_key_once(url: str):
    race_for_every_key(url)


async def test_what_a_killed_process_was_running_is_taken_over_or_lost(url: str):
    store = PostgresStore(url)
    with process("hold", url) as holder:
        assert said_by(holder) == "ready"
        with anyio.move_on_after(0.2) as patience:
            await store.claim("order", until=FAR)
        assert patience.cancelled_caught, "it is alive"
        os.kill(holder.pid, signal.SIGKILL)
        assert holder.wait(BOUND) == -signal.SIGKILL
        with anyio.fail_after(BOUND):
            taken_over = await store.claim("order", until=FAR)
            assert await store.claim("payment", until=FAR, takeover=False) == Lost()
    assert isinstance(taken_over, Mine)
    assert taken_over.noted == b"noted by the dead"
    await store.record(taken_over, b"Order 1")
    assert await store.claim("order", until=FAR) == Done(b"Order 1")
    await store.close()


def test_an_open_store_does_not_keep_its_process_alive(url: str):
    with process("leave", url) as leaver:
        assert said_by(leaver) == "ready"
        assert leaver.wait(BOUND) == 0


async def test_a_store_that_was_opened_before_a_fork_serves_both_processes(url: str):
    with process("fork", url) as parent:
        assert said_by(parent) == "ready 0"
        assert parent.wait(BOUND) == 0
    store = PostgresStore(url)
    lines = await store.read()
    assert [line for _number, line in lines] == [b"before", b"after", b"after"]
    await store.close()
