"""A server without other workers, in an application that goes on: its end is nobody's concern but its own."""

from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from starlette.types import Message, Scope

from askback import Askback
from askback.protocol.server.push import PendingQuestions
from askback.server.forwarding import drain
from askback.server.forwarding.single import SingleWorker
from askback.server.hosts import lowlevel_of
from askback.testing import accept, run_tool
from tests.server.forwarding.crew import PATIENCE
from tests.server.forwarding.travel import book

pytestmark = pytest.mark.anyio

POST: Scope = {"type": "http", "method": "POST", "headers": []}


async def nothing(_message: Message) -> None:
    raise AssertionError


async def silence() -> Message:
    return {"type": "http.request", "body": b"{}", "more_body": False}


async def test_a_manager_that_ends_does_not_wait_where_the_process_goes_on():
    questions = PendingQuestions()
    worker, begun = SingleWorker(questions), anyio.Event()

    async def run_for_ever(*_: Any) -> None:
        begun.set()
        await anyio.sleep_forever()

    manager = Manager(Server[Any]("travel"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker.handle, manager, run_for_ever, POST, silence, nothing)
        await begun.wait()
        with anyio.fail_after(PATIENCE):
            await worker.finish()
        assert not questions.are_closed
        tasks.cancel_scope.cancel()


async def test_and_waits_for_what_runs_where_the_process_is_to_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drain, "is_stopping", lambda: True)
    questions = PendingQuestions()
    worker, begun, done = SingleWorker(questions), anyio.Event(), list[str]()

    async def run_until_told(*_: Any) -> None:
        begun.set()
        while not questions.are_closed:
            await anyio.lowlevel.checkpoint()
        done.append("done")

    manager = Manager(Server[Any]("travel"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker.handle, manager, run_until_told, POST, silence, nothing)
        await begun.wait()
        with anyio.fail_after(PATIENCE):
            await worker.finish()
        assert done == ["done"]


async def test_a_server_asks_on_after_one_of_its_managers_has_ended():
    server: MCPServer[Any] = MCPServer("travel")
    server.add_tool(book)
    Askback(server)
    async with Manager(lowlevel_of(server)).run():
        pass
    result = await run_tool(server, "book", {"city": "Rome"}, [accept(3)], revision="2025-11-25")
    assert result.text.startswith("3 to Rome")
