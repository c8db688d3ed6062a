"""Which worker a session lives with, and whether that worker does: rows in the store that expire by themselves."""

import json
import os
import socket
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from askback.model.store import Store
from askback.schema.networks import is_loopback_address
from askback.server.forwarding.addresses import is_address

SESSIONS, WORKERS = "askback/sessions", "askback/workers"

SESSION_LEASE, RENEW_INTERVAL = 3600.0, 900.0
"""Seconds that a row is kept, and after which it is written anew while its session lives."""

WORKER_LEASE, HEARTBEAT_INTERVAL = 75.0, 10.0
"""Seconds. A worker that did not say for so long that it lives, and does not answer, is taken for dead. Longer than an
accepted answer is tried (`DELIVERY_TIMEOUT`) and one beat: a pause that an answer survives ends no session. A process
that was killed is found out at once, since its port refuses connections; this is for machines that vanished."""

PLACES = (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/net"))
"""What tells machines apart that were made from one image, and containers of one machine."""


class WorkerLocation(NamedTuple):
    """The worker that a session lives with."""

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
    """One store's rows about sessions and workers. All verbs raise `StoreUnavailable`."""

    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock

    async def enter(self, id: str, owner: WorkerLocation) -> None:
        until = self._clock() + SESSION_LEASE
        await self._store.put(SESSIONS, _name(id), owner.row(), until=until)

    async def find(self, id: str) -> WorkerLocation | None:
        row = await self._store.get(SESSIONS, _name(id))
        return None if row is None else _owner(row)

    async def remove(self, id: str, owner: WorkerLocation) -> None:
        """Only what says so still: nobody else's word is taken back."""
        await self._store.replace(SESSIONS, _name(id), owner.row(), None)

    async def heartbeat(self, worker: str) -> None:
        await self._store.put(WORKERS, worker, b"", until=self._clock() + WORKER_LEASE)

    async def is_alive(self, worker: str) -> bool:
        return await self._store.get(WORKERS, worker) is not None

    async def leave(self, worker: str) -> None:
        await self._store.delete(WORKERS, worker)


def _owner(row: bytes) -> WorkerLocation | None:
    """None for what no worker wrote: whoever writes to the store sends nobody to an address that is more than one."""
    try:
        told: object = json.loads(row)
    except ValueError:
        return None
    if not isinstance(told, list) or [type(item) for item in cast("list[object]", told)] != [str, str, str]:
        return None
    owner = WorkerLocation(*cast("list[str]", told))
    return owner if is_address(owner.address) else None


def is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return is_loopback_address(ip_address(host))
    except ValueError:
        return host == "localhost"


@cache
def this_machine() -> str:
    """The same for all processes that share a loopback."""
    told = [socket.gethostname(), *(_told_by(place) for place in PLACES)]
    return sha256("\n".join(told).encode()).hexdigest()[:16]


def _told_by(place: Path) -> str:
    try:
        return os.readlink(place) if place.is_symlink() else place.read_text().strip()
    except OSError:
        return ""


def _name(id: str) -> str:
    """Who reads the store learns no session's id."""
    return sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
