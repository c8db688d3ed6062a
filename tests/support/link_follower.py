"""Somebody who agrees to go where a server sends them, and does there what the test says, while the call waits."""

import os
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from askback.answers import Accepted, Answer
from askback.client import Driver, Turn, VisitAsked
from askback.testing import accept
from askback.testing.person import ScriptedPerson
from askback.testing.script import Answers
from tests.support.programs import ROOT, listening

Deed = Callable[[str], Coroutine[Any, Any, object]]
"""What is done at a link."""

CORNERS = [("2025-11-25", "HTTP"), ("2026-07-28", "stdio")]
"""Every revision and every transport once, for what follows a story that is told on each with each."""

PATIENCE = 40
"""Seconds for a whole story: a process starts, a page is filled in, a call ends."""


class Goer(ScriptedPerson):
    """Says what the script says, and once they agreed goes off to do the next deed."""

    def __init__(self, tasks: TaskGroup, deeds: list[Deed], answers: Answers) -> None:
        super().__init__(answers)
        self._tasks, self._deeds = tasks, deeds

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await super().answer(turn)
        if isinstance(turn.asked, VisitAsked) and isinstance(answer, Accepted) and self._deeds:
            self._tasks.start_soon(self._deeds.pop(0), turn.asked.verdict.href)
        return answer


@asynccontextmanager
async def going(
    target: Any, *deeds: Deed, revision: str, answers: Answers | None = None, **options: Any
) -> AsyncGenerator[Driver]:
    """A driver of one server; whoever sits before it agrees to every link, unless `answers` say otherwise."""
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            person = Goer(tasks, list(deeds), (lambda _: accept()) if answers is None else answers)
            async with Driver(target, person, revision=revision, **options) as driver:
                yield driver


@asynccontextmanager
async def running(example: str, transport: str, *words: str, port: int | None = None) -> AsyncGenerator[Any]:
    """An example as a process of its own, as something that a driver connects to."""
    module = f"examples.{example}"
    if transport == "stdio":
        # The SDK hands only a few variables on by itself.
        yield stdio_client(
            StdioServerParameters(
                command=sys.executable, args=["-m", module, *words], env=dict(os.environ), cwd=ROOT
            )
        )
        return
    with listening("-m", module, "--http", "--port", str(port or free_port()), *words) as url:
        yield url


def free_port() -> int:
    """Of this machine; nobody else takes it in the moment until it is used, as far as one can tell."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def text_of(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))
