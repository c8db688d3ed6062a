"""Keeps the rows of this worker and of its sessions in the store, for as long as they are true."""

import asyncio
import contextvars
import logging

import anyio

from askback.errors import StoreUnavailable
from askback.model.store import Store
from askback.server.forwarding.directory import (
    HEARTBEAT_INTERVAL,
    RENEW_INTERVAL,
    SessionDirectory,
    WorkerLocation,
    this_machine,
)
from askback.server.forwarding.listener import WorkerListener, join
from askback.server.forwarding.sessions import LocalSession, LocalSessions

logger = logging.getLogger("askback")

LEAVE_TIMEOUT = 1.0
"""Seconds to delete the row of this worker. If that fails, the row expires."""


class Presence:
    """Begins with the first session of a process, and ends with its server."""

    def __init__(
        self, directory: SessionDirectory, store: Store, sessions: LocalSessions, *, address: str | None
    ) -> None:
        self._directory, self._store, self._sessions = directory, store, sessions
        self._address = address
        self._lock = anyio.Lock()
        self._listener: WorkerListener | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._owner: WorkerLocation | None = None
        self._epoch = ""

    @property
    def worker(self) -> str | None:
        """The name of this worker, once it has sessions."""
        return self._owner.worker if self._owner is not None else None

    async def enter(self, id: str, session: LocalSession) -> None:
        """Let all workers find this session. Raises `OperatorError` if they could not."""
        async with self._lock:
            owner = self._owner or await self._begin()
        self._sessions.add(id, session)
        try:
            await self._directory.enter(id, owner)
        except StoreUnavailable:
            self._sessions.remove(id)
            raise

    async def forget(self, id: str) -> None:
        """The session has ended."""
        self._sessions.remove(id)
        if self._owner is not None:
            await self._directory.forget(id, self._owner)

    async def end(self) -> None:
        """Take this worker and its listener away. May repeat."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.wait([self._heartbeat])
        listener, owner = self._listener, self._owner
        self._heartbeat = self._listener = self._owner = None
        if listener is not None:
            await listener.leave(self._sessions)
        if owner is not None:
            with anyio.move_on_after(LEAVE_TIMEOUT):
                await self._directory.leave(owner.worker)

    async def _begin(self) -> WorkerLocation:
        if self._listener is None:
            self._listener = await join(self._address, self._sessions)
        worker = self._listener.worker
        await self._directory.heartbeat(worker)
        self._epoch = await self._store.epoch()
        self._owner = WorkerLocation(self._listener.address, worker, this_machine())
        # In a context of its own: it outlives the request that needed it first.
        self._heartbeat = asyncio.get_running_loop().create_task(
            self._send_heartbeats(self._owner), context=contextvars.Context()
        )
        return self._owner

    async def _send_heartbeats(self, owner: WorkerLocation) -> None:
        renewed, was_dead = anyio.current_time(), False
        while True:
            await anyio.sleep(HEARTBEAT_INTERVAL)
            alive = [*self._sessions.list_alive()]
            try:
                # After WORKER_LEASE without a heartbeat it counted as dead, and others deleted rows of its sessions.
                was_dead = was_dead or not await self._directory.is_alive(owner.worker)
                await self._directory.heartbeat(owner.worker)
                epoch = await self._store.epoch()
                if was_dead or epoch != self._epoch or anyio.current_time() >= renewed + RENEW_INTERVAL:
                    for id in alive:
                        await self._directory.enter(id, owner)
                    self._epoch, renewed, was_dead = epoch, anyio.current_time(), False
            except StoreUnavailable as error:
                logger.warning("the heartbeat of this worker could not be stored: %s", error)
