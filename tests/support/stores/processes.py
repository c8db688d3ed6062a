"""What the processes of these tests do: `python -m tests.support.stores.processes NAME URL`, begun when told."""

import json
import os
import sys
import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread

from askback.stores import Finished, Granted
from askback.stores.sqlite.claims import Claims
from askback.stores.sqlite.file import File
from askback.stores.sqlite.worker import Job, Worker
from tests.support.stores.url import FILE, opened

FAR = 4e9
BOUND = 20.0
KEYS, COPIES = 25, 4
LEASE = 1.0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def race(url: str) -> None:
    """Deliver every key several times at once; say which were run here, and what everybody got."""
    store = opened(url)
    await store.count()
    runs: list[str] = []
    results: list[tuple[str, str]] = []

    async def deliver(key: str) -> None:
        verdict = await store.claim(key, digest="yes", until=FAR)
        if isinstance(verdict, Granted):
            runs.append(key)
            await anyio.lowlevel.checkpoint()
            assert await store.record(verdict, b"run by %d" % os.getpid())
            verdict = await store.claim(key, digest="yes", until=FAR)
        assert isinstance(verdict, Finished)
        results.append((key, verdict.result.decode()))

    say("ready")
    sys.stdin.readline()
    async with anyio.create_task_group() as group:
        for number in range(KEYS * COPIES):
            group.start_soon(deliver, f"key {number % KEYS}")
    spent = [key for key in map(str, range(KEYS)) if await store.spend(key, until=FAR)]
    say(json.dumps({"runs": runs, "results": results, "spent": spent}))
    await store.close()


async def hold(url: str) -> None:
    """Claim, note, and never come back."""
    store = opened(url, lease=LEASE)
    for key in ("order", "payment"):
        claim = await store.claim(key, until=FAR)
        assert isinstance(claim, Granted)
        await store.note(claim, b"noted by the dead")
    say("ready")
    sys.stdin.readline()


async def leave(url: str) -> None:
    """End with a claim held and the store open."""
    store = opened(url)
    assert isinstance(await store.claim("order", until=FAR), Granted)
    say("ready")


def fork(url: str) -> None:
    """A server that opens its store before its workers are forked."""
    store = opened(url)
    anyio.run(store.append, b"before")
    child = os.fork()
    anyio.run(store.append, b"after")
    if child:
        _pid, status = os.waitpid(child, 0)
        say(f"ready {status}")
    else:
        os._exit(0)


def fork_at_work(url: str) -> None:
    """A process that forks while its store's thread is in the middle of something."""
    order: list[str] = []
    busy, forking = threading.Event(), threading.Event()

    def work(claims: Claims) -> None:
        busy.set()
        forking.wait(BOUND)
        order.append("done")

    def fork() -> None:
        busy.wait(BOUND)
        forking.set()
        if not (child := os.fork()):
            os._exit(0)
        order.append("forked")
        os.waitpid(child, 0)

    async def both() -> None:
        worker = Worker(File(Path(url.removeprefix(FILE))), clock=time.time, lease=15.0)
        job = Job[None](work)
        worker.put(job)
        await anyio.to_thread.run_sync(fork)
        await job.done.wait()

    anyio.run(both)
    say(" ".join(order))


def main() -> None:
    _program, deed, url = sys.argv
    if deed.startswith("fork"):
        {"fork": fork, "fork at work": fork_at_work}[deed](url)
    else:
        anyio.run({"race": race, "hold": hold, "leave": leave}[deed], url)


if __name__ == "__main__":
    main()
