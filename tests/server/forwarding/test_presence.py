"""A worker that stood still and goes on: its sessions are found again, and were not given up too early."""

import time
from pathlib import Path

import anyio
import httpx2
import pytest

from askback.server.forwarding import presence
from askback.server.forwarding.directory import HEARTBEAT_INTERVAL, SESSIONS, WORKERS, SessionDirectory
from askback.server.forwarding.forwarder import SILENCE_TIMEOUT
from askback.server.forwarding.outbox import DELIVERY_TIMEOUT
from askback.stores import MemoryStore, SQLiteStore
from tests.server.forwarding.crew import PATIENCE, Posting, crew, serving
from tests.server.forwarding.travel import app_of, travel

pytestmark = pytest.mark.anyio


async def test_a_pause_that_an_accepted_answer_survives_ends_no_session():
    now = 1000.0
    register = SessionDirectory(MemoryStore(clock=lambda: now), clock=lambda: now)
    await register.heartbeat("w")
    now += HEARTBEAT_INTERVAL + max(SILENCE_TIMEOUT, DELIVERY_TIMEOUT)
    assert await register.is_alive("w")
    now += 3 * HEARTBEAT_INTERVAL
    assert not await register.is_alive("w")


class Noting(SQLiteStore):
    """Notes the workers and sessions that are entered."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.workers: list[str] = []
        self.entered = anyio.Event()

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        await super().put(owner, name, value, until=until)
        if owner == WORKERS:
            self.workers.append(name)
        if owner == SESSIONS:
            self.entered.set()


async def test_a_worker_that_counted_as_dead_enters_its_sessions_again(
    tmp_path: Path, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(presence, "HEARTBEAT_INTERVAL", 0.3)
    store, client = Noting(tmp_path / "shared.db"), Posting(http)
    async with (
        serving(app_of("MCPServer", travel("MCPServer", store=store))) as first,
        crew("MCPServer", tmp_path, count=1) as (second,),
    ):
        await client.begin(first)
        id = client.headers["mcp-session-id"]
        register = SessionDirectory(store, clock=time.time)
        owner = await register.find(id)
        assert owner is not None
        store.entered = anyio.Event()
        await register.forget(id, owner)  # as another worker does
        await register.leave(store.workers[0])  # as time does
        with anyio.fail_after(PATIENCE):
            await store.entered.wait()
        assert await register.find(id) == owner
        assert (await client.call(second, "bell")).status_code == 200
    await store.close()
