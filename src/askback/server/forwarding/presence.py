"""That this worker is there, and which sessions live with it, kept in the store for as long as it is true."""

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
from askback.server.forwarding.listener import WorkerListener, join, leave
from askback.server.forwarding.sessions import LocalSession, LocalSessions

logger = logging.getLogger("askback")

LEAVE_TIMEOUT = 1.0
"""Seconds for the last word to the store; without it the row expires."""


class Presence:
    """Begins with the first session of a process, and ends with its server."""

    def __init__(
        self, register: SessionDirectory, store: Store, homes: LocalSessions, *, address: str | None
    ) -> None:
        self._register, self._store, self._homes, self._address = register, store, homes, address
        self._lock = anyio.Lock()
        self._listener: WorkerListener | None = None
        self._beating: asyncio.Task[None] | None = None
        self._owner: WorkerLocation | None = None
        self._epoch = ""

    @property
    def worker(self) -> str | None:
        """The name of this one among all workers, once it has sessions."""
        return self._owner.worker if self._owner is not None else None

    async def enter(self, id: str, home: LocalSession) -> None:
        """Let all workers find this session; raises `OperatorError` where they could not."""
        async with self._lock:
            owner = self._owner or await self._begin()
        self._homes.add(id, home)
        try:
            await self._register.enter(id, owner)
        except StoreUnavailable:
            self._homes.remove(id)
            raise

    async def forget(self, id: str) -> None:
        self._homes.remove(id)
        if self._owner is not None:
            await self._register.remove(id, self._owner)

    async def end(self) -> None:
        """Nothing is left over; may repeat."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        listener, owner = self._listener, self._owner
        self._beating = self._listener = self._owner = None
        if listener is not None:
            await leave(listener, self._homes)
        if owner is not None:
            with anyio.move_on_after(LEAVE_TIMEOUT):
                await self._tell_end(owner)

    async def _tell_end(self, owner: WorkerLocation) -> None:
        try:
            await self._register.leave(owner.worker)
        except StoreUnavailable:
            logger.info("the store could not be told that this worker ends; its row expires", exc_info=True)

    async def _begin(self) -> WorkerLocation:
        if self._listener is None:
            self._listener = await join(self._address, self._homes)
        worker = self._listener.worker
        await self._register.heartbeat(worker)
        self._epoch = await self._store.epoch()
        self._owner = WorkerLocation(self._listener.address, worker, this_machine())
        # In a context of its own: it outlives the request that needed it first.
        self._beating = asyncio.get_running_loop().create_task(
            self._beat(self._owner), context=contextvars.Context()
        )
        return self._owner

    async def _beat(self, owner: WorkerLocation) -> None:
        renewed, was_dead = anyio.current_time(), False
        while True:
            await anyio.sleep(HEARTBEAT_INTERVAL)
            living = [*self._homes.list_alive()]
            try:
                # After WORKER_LEASE without a beat it counted as dead, and others have deleted rows of its sessions.
                was_dead = was_dead or not await self._register.is_alive(owner.worker)
                await self._register.heartbeat(owner.worker)
                epoch = await self._store.epoch()
                if was_dead or epoch != self._epoch or anyio.current_time() >= renewed + RENEW_INTERVAL:
                    for id in living:
                        await self._register.enter(id, owner)
                    self._epoch, renewed, was_dead = epoch, anyio.current_time(), False
            except StoreUnavailable as error:
                logger.warning("the store could not be told that this worker lives: %s", error)
