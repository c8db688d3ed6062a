"""What the processes of these tests do: `python -m tests.stores.processes NAME PATH`. They begin when told so."""

import json
import os
import sys

import anyio

from askback.stores import Done, Mine, SQLiteStore

FAR = 4e9
KEYS, COPIES = 25, 4
LEASE = 1.0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def race(path: str) -> None:
    """Deliver every key several times at once; say which were run here, and what everybody got."""
    store = SQLiteStore(path)
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
    store = SQLiteStore(path, lease=LEASE)
    for key in ("order", "payment"):
        claim = await store.claim(key, until=FAR)
        assert isinstance(claim, Mine)
        await store.note(claim, b"noted by the dead")
    say("ready")
    sys.stdin.readline()


async def leave(path: str) -> None:
    """End with a claim held and the store open."""
    store = SQLiteStore(path)
    assert isinstance(await store.claim("order", until=FAR), Mine)
    say("ready")


def fork(path: str) -> None:
    """A server that opens its store before its workers are forked."""
    store = SQLiteStore(path)
    anyio.run(store.append, b"before")
    child = os.fork()
    anyio.run(store.append, b"after")
    if child:
        _pid, status = os.waitpid(child, 0)
        say(f"ready {status}")
    else:
        os._exit(0)


def main() -> None:
    _program, deed, path = sys.argv
    if deed == "fork":
        fork(path)
    else:
        anyio.run({"race": race, "hold": hold, "leave": leave}[deed], path)


if __name__ == "__main__":
    main()
