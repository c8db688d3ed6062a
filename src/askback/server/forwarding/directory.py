"""The rows in the store that say which worker has which session, and which workers live. They expire by themselves."""

import json
import logging
import os
import socket
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from askback.errors import StoreUnavailable
from askback.model.store import Store
from askback.schema.networks import is_loopback_address
from askback.server.forwarding.addresses import is_address

logger = logging.getLogger("askback")

SESSIONS, WORKERS = "askback/sessions", "askback/workers"

SESSION_LEASE, RENEW_INTERVAL = 3600.0, 900.0
"""Seconds that the row of a session is kept, and after which it is renewed while the session lives."""

WORKER_LEASE, HEARTBEAT_INTERVAL = 75.0, 10.0
"""Seconds. A worker without a heartbeat for so long that does not answer either is taken for dead. Longer than the
delivery of an accepted answer is tried (`DELIVERY_TIMEOUT`) and one interval: a pause that an answer survives ends no
session. A killed process is noticed at once, since its port refuses connections; the lease is for machines that
vanished."""

MAX_ROUTES = 10_000
"""Routes to other workers' sessions. The one that was not used for longest is forgotten, and looked up again."""

MACHINE_FILES = (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/net"))
"""They differ on machines that were made from one image, and in containers of one machine."""

_ROW = TypeAdapter(tuple[str, str, str])


class WorkerLocation(NamedTuple):
    """The worker that has a session, and where it listens."""

    address: str
    worker: str
    machine: str

    @property
    def is_within_reach(self) -> bool:
        """Loopback is another place on every machine."""
        return self.machine == this_machine() or not is_loopback(self.address)

    def row(self) -> bytes:
        return json.dumps(self).encode()


class SessionDirectory:
    """The rows of one store, and the routes that were looked up in it.

    A session lives and dies with one worker, so a route is right until that worker says that it has no such session.
    Requests with a known route need no store: an answer finds its worker while the store does not answer.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._routes: OrderedDict[str, WorkerLocation] = OrderedDict()

    async def enter(self, id: str, owner: WorkerLocation) -> None:
        """Write or renew the row of a session. Raises `StoreUnavailable`."""
        until = self._clock() + SESSION_LEASE
        await self._store.put(SESSIONS, _row_name(id), owner.row(), until=until)

    def has_route(self, id: str) -> bool:
        """Whether this session was looked up before, and is still remembered."""
        return id in self._routes

    async def find(self, id: str) -> WorkerLocation | None:
        """The worker that has a session. Raises `StoreUnavailable` if there is no route yet."""
        owner = self._routes.get(id)
        if owner is None:
            row = await self._store.get(SESSIONS, _row_name(id))
            owner = None if row is None else _read_row(row)
        if owner is not None:
            self._routes[id] = owner
            self._routes.move_to_end(id)
        if len(self._routes) > MAX_ROUTES:
            self._routes.popitem(last=False)
        return owner

    async def forget(self, id: str, owner: WorkerLocation) -> None:
        """Delete the row of a session that has ended, if it still names this worker."""
        self._routes.pop(id, None)
        try:
            await self._store.replace(SESSIONS, _row_name(id), owner.row(), None)
        except StoreUnavailable:
            logger.info("the row of a session that has ended could not be deleted; it expires", exc_info=True)

    async def heartbeat(self, worker: str) -> None:
        """Renew the lease of a worker. Raises `StoreUnavailable`."""
        await self._store.put(WORKERS, worker, b"", until=self._clock() + WORKER_LEASE)

    async def is_alive(self, worker: str) -> bool:
        """Whether the lease of a worker has not expired. Raises `StoreUnavailable`."""
        return await self._store.get(WORKERS, worker) is not None

    async def has_expired(self, worker: str) -> bool:
        """Whether a worker that does not answer has lost its lease. If the store does not answer either, it has not."""
        try:
            return not await self.is_alive(worker)
        except StoreUnavailable:
            return False

    async def leave(self, worker: str) -> None:
        """Delete the row of a worker that ends."""
        try:
            await self._store.delete(WORKERS, worker)
        except StoreUnavailable:
            logger.info("the row of a worker that ends could not be deleted; it expires", exc_info=True)


def _read_row(row: bytes) -> WorkerLocation | None:
    """None for a row that no worker wrote: access to the store is not enough to send requests to any URL."""
    try:
        owner = WorkerLocation(*_ROW.validate_json(row))
    except ValidationError:
        return None
    return owner if is_address(owner.address) else None


def is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return is_loopback_address(ip_address(host))
    except ValueError:
        return host == "localhost"


@cache
def this_machine() -> str:
    """A name that is equal in all processes that share a loopback interface."""
    facts = [socket.gethostname(), *(_read_fact(file) for file in MACHINE_FILES)]
    return sha256("\n".join(facts).encode()).hexdigest()[:16]


def _read_fact(file: Path) -> str:
    try:
        return os.readlink(file) if file.is_symlink() else file.read_text().strip()
    except OSError:
        return ""


def _row_name(id: str) -> str:
    """A digest, so that readers of the store learn no session ids."""
    return sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
