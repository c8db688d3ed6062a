"""What the processes of these tests do: `python -m tests.stores.processes NAME PLACE`. They begin when told so."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread

from askback.stores import Done, Mine, SQLiteStore, Store
from askback.stores.postgres import PostgresStore
from askback.stores.redis import RedisStore
from askback.stores.sqlite.file import File
from askback.stores.sqlite.rows import Rows
from askback.stores.sqlite.worker import Job, Worker

FAR = 4e9
BOUND = 20.0
KEYS, COPIES = 25, 4
LEASE = 1.0


STORES: dict[str, Callable[..., Store]] = {"postgresql": PostgresStore, "redis": RedisStore}
"""By the scheme of a URL; what has none is a file."""


def opened(place: str, *, lease: float = 15.0) -> Store:
    return STORES.get(place.partition(":")[0], SQLiteStore)(place, lease=lease)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def race(path: str) -> None:
    """Deliver every key several times at once; say which were run here, and what everybody got."""
    store = opened(path)
    await store.count()
    runs: list[str] = []
    results: list[tuple[str, str]] = []

    async def deliver(key: str) -> None:
        verdict = await store.claim(key, digest="yes", until=FAR)
        if isinstance(verdict, Mine):
            runs.append(key)
            await anyio.lowlevel.checkpoint()
            assert await store.record(verdict, b"run by %d" % os.getpid())
            verdict = await store.claim(key, digest="yes", until=FAR)
        assert isinstance(verdict, Done)
        results.append((key, verdict.result.decode()))

    say("ready")
    sys.stdin.readline()
    async with anyio.create_task_group() as group:
        for number in range(KEYS * COPIES):
            group.start_soon(deliver, f"key {number % KEYS}")
    spent = [key for key in map(str, range(KEYS)) if await store.spend(key, until=FAR)]
    say(json.dumps({"runs": runs, "results": results, "spent": spent}))
    await store.close()


async def hold(path: str) -> None:
    """Claim, note, and never come back."""
    store = opened(path, lease=LEASE)
    for key in ("order", "payment"):
        claim = await store.claim(key, until=FAR)
        assert isinstance(claim, Mine)
        await store.note(claim, b"noted by the dead")
    say("ready")
    sys.stdin.readline()


async def leave(path: str) -> None:
    """End with a claim held and the store open."""
    store = opened(path)
    assert isinstance(await store.claim("order", until=FAR), Mine)
    say("ready")


def fork(path: str) -> None:
    """A server that opens its store before its workers are forked."""
    store = opened(path)
    anyio.run(store.append, b"before")
    child = os.fork()
    anyio.run(store.append, b"after")
    if child:
        _pid, status = os.waitpid(child, 0)
        say(f"ready {status}")
    else:
        os._exit(0)


def fork_at_work(path: str) -> None:
    """A process that forks while its store's thread is in the middle of something."""
    order: list[str] = []
    busy, forking = threading.Event(), threading.Event()

    def work(rows: Rows) -> None:
        busy.set()
        forking.wait(BOUND)
        rows.append([b"at work"])
        order.append("done")

    def fork() -> None:
        busy.wait(BOUND)
        forking.set()
        if not (child := os.fork()):
            os._exit(0)
        order.append("forked")
        os.waitpid(child, 0)

    async def both() -> None:
        worker = Worker(File(Path(path)), clock=time.time, lease=15.0)
        job = Job[None](work)
        worker.put(job)
        await anyio.to_thread.run_sync(fork)
        await job.done()

    anyio.run(both)
    say(" ".join(order))


def main() -> None:
    _program, deed, path = sys.argv
    if deed.startswith("fork"):
        {"fork": fork, "fork at work": fork_at_work}[deed](path)
    else:
        anyio.run({"race": race, "hold": hold, "leave": leave}[deed], path)


if __name__ == "__main__":
    main()
