"""A 2026-07-28 client that sends exactly what a test says."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from askback.server.hosts import lowlevel_of
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Script

LATEST = "2026-07-28"


class Raw:
    """One connection; each call is one request."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def call(
        self,
        tool: str = "t",
        arguments: Mapping[str, Any] | None = None,
        *,
        capabilities: Mapping[str, Any] = FORMS,
        also: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """A tools/call, with `requestState` and `inputResponses` among the fields; `also` goes into its `_meta`."""
        declared = {"io.modelcontextprotocol/clientCapabilities": dict(capabilities)}
        meta = {**self._wire.envelope(), **declared, **(also or {})}
        params = {"name": tool, "arguments": dict(arguments or {}), "_meta": meta, **fields}
        return await self._wire.send("tools/call", params)

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._wire.send(method, {"_meta": self._wire.envelope(), **params})


@asynccontextmanager
async def raw_client(server: Any) -> AsyncGenerator[Raw]:
    wire = Wire(version=LATEST, capabilities=FORMS, script=Script())
    async with connect(lowlevel_of(server), wire):
        yield Raw(wire)


def answering(result: Mapping[str, Any], **replies: Any) -> dict[str, Any]:
    """The fields of the retry: replies by key (`ask_1` for `ask-1`) and the state as it came."""
    responses = {
        key.replace("_", "-", 1) if key.startswith(("ask_", "visit_")) else key: reply
        for key, reply in replies.items()
    }
    return {"inputResponses": responses, "requestState": result["requestState"]}


def accepting(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}
