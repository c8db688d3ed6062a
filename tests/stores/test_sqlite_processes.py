"""Several processes on one file."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from askback.stores import Done, Lost, Mine, SQLiteStore
from tests.stores.processes import FAR
from tests.stores.racing import BOUND, process, race_for_every_key, said_by

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "askback.db"


def test_several_processes_run_every_key_once(path: Path):
    race_for_every_key(path)


async def test_what_a_killed_process_was_running_is_taken_over_or_lost(path: Path):
    store = SQLiteStore(path)
    with process("hold", path) as holder:
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


def test_an_open_store_does_not_keep_its_process_alive(path: Path):
    with process("leave", path) as leaver:
        assert said_by(leaver) == "ready"
        assert leaver.wait(BOUND) == 0


def test_a_process_forks_only_while_its_store_rests(path: Path):
    with process("fork at work", path) as parent:
        assert said_by(parent) == "done forked"


async def test_a_store_that_was_opened_before_a_fork_serves_both_processes(path: Path):
    with process("fork", path) as parent:
        assert said_by(parent) == "ready 0"
        assert parent.wait(BOUND) == 0
    store = SQLiteStore(path)
    lines = await store.read()
    assert [line for _number, line in lines] == [b"before", b"after", b"after"]
    await store.close()
