"""One worker in a process of its own, forked with everything loaded, that speaks MCP line by line like any on stdio."""

import json
import socket
from collections.abc import AsyncGenerator
from typing import Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server

from askback.server.hosts import lowlevel_of
from tests.end_to_end.faults.points import Fuse

STAGES = ("the call", "the first answer", "the second answer", "the consent", "the third answer")
"""What a worker reads in a flow, beside the report of the page."""

REPORT = "the report of the page"


class Ear:
    """Lines as they come from the client. What they mean is the stage that the fuse is in from then on."""

    def __init__(self, line: socket.socket, fuse: Fuse) -> None:
        self._line, self._fuse = line, fuse
        self._answers = 0

    async def __aiter__(self) -> AsyncGenerator[str]:
        heard = b""
        while True:
            await anyio.wait_readable(self._line)
            if not (more := self._line.recv(65_536)):
                return
            *lines, heard = (heard + more).split(b"\n")
            for line in lines:
                self._hear(json.loads(line))
                yield line.decode()

    def _hear(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if "result" in message or "inputResponses" in params:
            self._answers += 1
        elif message.get("method") != "tools/call":
            return
        self._fuse.stage = REPORT if params.get("name") == "paid" else STAGES[self._answers]
        self._fuse.pass_by("reading it", "after")


class Mouth:
    """What the client gets, with a point on both sides of every line that somebody waits for."""

    def __init__(self, line: socket.socket, fuse: Fuse) -> None:
        self._line, self._fuse = line, fuse

    async def write(self, text: str) -> None:
        message = json.loads(text)
        if self._fuse.stage == "nothing" or "id" not in message:
            self._line.sendall(text.encode())
            return
        deed = said_in(message)
        self._fuse.pass_by(deed, "before")
        self._line.sendall(text.encode())
        self._fuse.pass_by(deed, "after")

    async def flush(self) -> None:
        """It is out already."""


def said_in(message: dict[str, Any]) -> str:
    match message:
        case {"result": {"resultType": "input_required"}} | {"method": "elicitation/create"}:
            return "sending the question"
        case _:
            return "sending the result"


async def serve(server: MCPServer[Any], line: socket.socket, fuse: Fuse) -> None:
    lowlevel = lowlevel_of(server)
    ear, mouth = cast("Any", Ear(line, fuse)), cast("Any", Mouth(line, fuse))
    async with stdio_server(ear, mouth) as (read, write):
        await lowlevel.run(read, write, lowlevel.create_initialization_options())


async def serve_all(server: MCPServer[Any], listener: socket.socket) -> None:
    """A worker that lives, and has any number of clients."""
    async with anyio.create_task_group() as tasks:
        while True:
            await anyio.wait_readable(listener)
            line, _ = listener.accept()
            tasks.start_soon(serve, server, line, Fuse())
