"""Many deliveries at once, and how each of them ended."""

from collections.abc import Awaitable, Sequence
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

PATIENCE = 15.0
"""Seconds that anything here may take; it takes milliseconds."""

REFUSED = {
    "code": -32602,
    "message": "This round was answered before. Call again from the start.",
    "data": {"reason": "used_round"},
}
"""The one fixed sentence."""

INTERRUPTED = "The effect {!r} failed with Interrupted."

End = dict[str, Any]
"""A result, or the error in its place."""


async def end_of(delivery: Awaitable[dict[str, Any]]) -> End:
    with anyio.fail_after(PATIENCE):
        try:
            return await delivery
        except MCPError as error:
            return error.error.model_dump(exclude_none=True)


async def ends_of(deliveries: Sequence[Awaitable[dict[str, Any]]]) -> list[End]:
    """All at the same time."""
    ends: list[End] = []

    async def run(delivery: Awaitable[dict[str, Any]]) -> None:
        ends.append(await end_of(delivery))

    async with anyio.create_task_group() as tasks:
        for delivery in deliveries:
            tasks.start_soon(run, delivery)
    return ends


def all_alike(ends: list[End]) -> bool:
    """But for the seal, which is fresh for everybody."""
    return all(without_seal(end) == without_seal(ends[0]) for end in ends)


def without_seal(end: End) -> End:
    return {**end, "requestState": "sealed"} if "requestState" in end else end


def text_of(end: End) -> str:
    """What the person behind the client reads."""
    match end:
        case {"content": [{"text": str() as text}]}:
            return text
        case {"messages": [{"content": {"text": str() as text}}]}:
            return text
        case {"contents": [{"text": str() as text}]}:
            return text
        case _:
            return str(end)
