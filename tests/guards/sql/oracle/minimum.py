"""The smallest part of a leaking statement that still leaks, by leaving out runs of words."""

import re
from collections.abc import Awaitable, Callable

from tests.guards.sql.oracle.oracle import Inspector, Leak, find_leak
from tests.guards.sql.oracle.twins import Twins

WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|\w+|.)\s*", re.DOTALL)

MAX_TRIES = 400


async def minimise(leak: Leak, engine: Inspector, twins: Twins) -> Leak:
    """A leak of fewer words where one is found within some hundred tries."""
    found = leak

    async def leaks(words: list[str]) -> bool:
        nonlocal found
        smaller = await find_leak(engine, twins, "".join(words))
        found = smaller or found
        return smaller is not None

    await leave_out(WORD.findall(leak.statement), leaks)
    return found


async def leave_out(words: list[str], leaks: Callable[[list[str]], Awaitable[bool]]) -> None:
    """Leave out ever shorter runs of words, as long as the rest leaks."""
    tries, size = 0, max(1, len(words) // 2)
    while tries < MAX_TRIES:
        start, was_left_out = 0, False
        while start < len(words) and tries < MAX_TRIES:
            rest = words[:start] + words[start + size :]
            tries += 1
            if rest and await leaks(rest):
                words, was_left_out = rest, True
            else:
                start += size
        if size == 1 and not was_left_out:
            return
        size = size if was_left_out and size == 1 else max(1, size // 2)
