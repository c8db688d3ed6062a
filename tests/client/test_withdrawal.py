"""How a connection ends: nobody who leaves waits for ever, and what was not sent is not said to be in doubt."""

import json
import os
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import TextContent

from askback.answers import Declined
from askback.client import Driver, WaitingCall
from askback.client.target import StderrLog
from askback.errors import ServerGone
from tests.client.stranger_servers import BOTH, Heard, Stranger, asking, done, form
from tests.client.stranger_servers import Context as Wire
from tests.support.servers.http import served

NOVEMBER = "2025-11-25"
GREETING: dict[str, Any] = {
    "protocolVersion": NOVEMBER,
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}


class Remote(BaseHTTPRequestHandler):
    """Opens a session, knows nothing of it afterwards, and does not say that it is over until it may."""

    protocol_version = "HTTP/1.1"
    may_answer = Event()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["method"] == "initialize":
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": GREETING}
            self._answer(200, json.dumps(answer).encode())
        else:
            self._answer(404 if "id" in asked else 202)

    def do_GET(self) -> None:
        self._answer(405)

    def do_DELETE(self) -> None:
        self.may_answer.wait(20)
        self._answer(204)

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if body else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Mcp-Session-Id", "s1")
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


@pytest.fixture
def remote() -> Generator[str]:
    Remote.may_answer = Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Remote) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        Remote.may_answer.set()
        server.shutdown()


async def test_a_server_that_never_says_that_the_session_is_over_is_left_all_the_same(
    remote: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.client.connection.LEAVE_SECONDS", 0.1)
    with anyio.move_on_after(10) as scope:
        async with Driver(remote, revision=NOVEMBER):
            pass
    assert not scope.cancel_called


@pytest.mark.parametrize("reach", [str, streamable_http_client], ids=["URL", "transport"])
async def test_a_session_that_a_server_does_not_know_any_more_is_a_server_that_went_away(
    remote: str, reach: Callable[[str], Any]
):
    Remote.may_answer.set()
    async with Driver(reach(remote), revision=NOVEMBER) as driver:
        with pytest.raises(ServerGone, match="went away during tool order"):
            await driver.call_tool("order")
        assert driver.is_gone


async def test_a_session_that_was_ended_is_known_by_its_status_whatever_the_server_says_of_it():
    mcp = MCPServer("inn")

    @mcp.tool()
    async def session(ctx: Context[Any, Any]) -> str:
        return (ctx.headers or {})["mcp-session-id"]

    async with served(mcp) as url, Driver(url, revision=NOVEMBER) as driver:
        told = (await driver.call_tool("session")).content[0]
        assert isinstance(told, TextContent)
        async with httpx2.AsyncClient() as other:
            await other.delete(url, headers={"mcp-session-id": told.text, "mcp-protocol-version": NOVEMBER})
        with pytest.raises(ServerGone, match="went away during tool session"):
            await driver.call_tool("session")
        assert driver.is_gone


async def asks_size(ctx: Wire, heard: Heard) -> dict[str, Any]:
    return done() if "inputResponses" in heard.params else asking("s", size=form())


async def gone(server: Stranger, driver: Driver) -> None:
    server.gone.set()
    with anyio.fail_after(5):
        while not driver.is_gone:
            await anyio.lowlevel.checkpoint()


async def test_a_call_after_the_end_says_that_nothing_was_called():
    server = Stranger(asks_size)
    async with Driver(server.transport(), label="inn") as driver:
        await gone(server, driver)
        with pytest.raises(ServerGone) as raised:
            await driver.call_tool("order")
    assert (
        str(raised.value)
        == "The server inn had gone away before tool order. Nothing was called; connect to it again."
    )


async def test_answers_for_a_server_that_has_gone_are_not_noted_as_given():
    server = Stranger(asks_size)
    async with Driver(server.transport(), modes=BOTH) as driver:
        waiting = await driver.begin("order")
        assert isinstance(waiting, WaitingCall)
        await gone(server, driver)
        with pytest.raises(ServerGone, match="Nothing was called"):
            await driver.resume(waiting, {"size": Declined()})
        assert driver.answered == []


async def test_while_the_last_words_of_a_program_are_waited_for_everything_else_goes_on():
    """A child of the program may hold its standard error after it."""
    let_go = list[int]()

    async def let_it_go(held: int) -> None:
        os.close(held)
        let_go.append(held)

    async with anyio.create_task_group() as tasks:
        async with StderrLog().listening() as errlog:
            held = os.dup(errlog.fileno())
            tasks.start_soon(let_it_go, held)
        assert let_go == [held]
