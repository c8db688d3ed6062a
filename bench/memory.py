"""What a server keeps for people who are thinking: each is asked on 2026-07-28 and never comes back."""

import gc
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

from mcp import Client
from mcp_types import InputRequiredResult

from bench.connect import client_of, connected, served

NAME = "thinking"

TARGET_BYTES = 1024

PAGE_BYTES = 4096

FIRST = 20
"""People asked before the counting: imports and the form's own schema are not kept per person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """How much each open question costs, as told by one way of measuring."""

    people: int
    traced: float
    """Bytes each that Python allocated and did not free, client and server in one process together."""
    resident: float | None
    """Bytes each by which a server process over HTTP grew, in pages; `None` where the system does not tell."""


async def measure_memory(people: int) -> Memory:
    """From a server that has only just begun, so that what its caches take on is counted too."""
    return Memory(people=people, traced=await traced_each(people), resident=await _resident(people))


async def traced_each(people: int) -> float:
    """Bytes that a person who was asked and is thinking costs, as Python counts them."""
    tracemalloc.start()
    try:
        async with connected("askback", "in-memory", "2026-07-28") as client:
            await _leave_open(client, range(FIRST))
            before = _traced_bytes()
            await _leave_open(client, range(FIRST, FIRST + people))
            return (_traced_bytes() - before) / people
    finally:
        tracemalloc.stop()


def _traced_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def _resident(people: int) -> float | None:
    async with served("askback") as process, client_of(process.url, "2026-07-28") as client:
        await _leave_open(client, range(FIRST))
        before = _resident_bytes(process.pid)
        await _leave_open(client, range(FIRST, FIRST + people))
        after = _resident_bytes(process.pid)
        return None if before is None or after is None else (after - before) / people


def _resident_bytes(pid: int) -> int | None:
    told = Path(f"/proc/{pid}/statm")
    return int(told.read_text().split()[1]) * PAGE_BYTES if told.exists() else None


async def _leave_open(client: Client, guests: range) -> None:
    """One call each, in words of its own, abandoned with its question open."""
    for guest in guests:
        result = await client.session.call_tool("one", {"guest": f"guest {guest}"}, allow_input_required=True)
        if not isinstance(result, InputRequiredResult):
            raise RuntimeError(f"The tool did not ask: {result}")
