"""What the processes of these tests do: `python -m tests.ledger.processes DEED STORE`. They begin when told so."""

import asyncio
import os
import sys

import anyio

from askback.ledger import Ledger
from tests.ledger.books import KEY, entry

CALLS = 40


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def many(ledger: Ledger) -> None:
    """Many calls at once."""
    say("ready")
    sys.stdin.readline()
    async with anyio.create_task_group() as group:
        for number in range(CALLS):
            call = f"{os.getpid()}-{number}"
            group.start_soon(ledger.write, entry(call), entry(call, event="answered", action="accept"))
    await ledger.close()


async def endless(ledger: Ledger) -> None:
    """Say each call that is in the ledger, until somebody ends it."""
    number = 0

    async def write() -> None:
        nonlocal number
        while True:
            number += 1
            call = f"call {number}"
            await ledger.write(entry(call), entry(call, event="answered", action="accept"))
            say(call)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(write)


def fork(ledger: Ledger) -> None:
    """A server that has written before its worker is forked, on a loop that both go on with."""
    with asyncio.Runner() as runner:
        runner.run(ledger.write(entry("before")))
        child = os.fork()
        if child:
            _pid, status = os.waitpid(child, 0)
            say(f"ended with {status}")
        runner.run(ledger.write(entry("after", place="parent" if child else "child")))
        if not child:
            os._exit(0)


def main() -> None:
    _program, deed, store = sys.argv
    ledger = Ledger(store, [KEY])
    if deed == "fork":
        fork(ledger)
    else:
        anyio.run({"many": many, "endless": endless}[deed], ledger)


if __name__ == "__main__":
    main()
