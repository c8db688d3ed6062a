"""Headers are secrets: sent with every request, and in no sentence of ours."""

import json
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from traceback import format_exception
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from askback.client import Driver
from askback.client.target import read_headers, redact_headers
from askback.errors import AuthorError, CannotConnect
from tests.support.servers.http import served

SECRET = "sk-live-VERYSECRET"
ADDRESS = "http://127.0.0.1:9/mcp"


async def test_headers_go_with_every_request():
    plain, seen = MCPServer("plain"), list[str | None]()

    @plain.tool()
    async def table(ctx: Context[Any, Any]) -> str:
        seen.append((ctx.headers or {}).get("x-table"))
        return "seen"

    async with served(plain) as url, Driver(url, headers={"X-Table": "7 caf\xe9"}) as driver:
        assert driver.asker.host == "127.0.0.1"
        await driver.call_tool("table")
    assert seen == ["7 caf\xe9"]


BAD: dict[str, Any] = {
    "line break at the end": f"Bearer {SECRET}\n",
    "line break inside": f"{SECRET}\r\nX-Admin: yes",
    "control character": f"{SECRET}\x00",
    "escape": f"\x1b[2J{SECRET}",
    "delete": f"{SECRET}\x7f",
    "C1": f"{SECRET}\x85",
    "beyond Latin-1": f"{SECRET}\u2019",
    "blank at an end": f" {SECRET}",
    "bytes": SECRET.encode(),
    "nothing": None,
}


@pytest.mark.parametrize("name", BAD)
def test_a_value_that_cannot_be_sent_is_refused_by_the_name_of_its_header(name: str):
    with pytest.raises(AuthorError, match="The header Authorization has a value") as raised:
        Driver(ADDRESS, headers={"Authorization": BAD[name]})
    assert "VERYSECRET" not in str(raised.value)


@pytest.mark.parametrize("name", ["", "X Y", "X:", f"Authorization: {SECRET}", "X\n", "\xe4"], ids=ascii)
def test_a_name_that_is_none_is_refused_and_not_repeated(name: str):
    with pytest.raises(AuthorError, match="The name of a header is made of letters") as raised:
        Driver(ADDRESS, headers={name: "x"})
    assert "VERYSECRET" not in str(raised.value)


class Telling(BaseHTTPRequestHandler):
    """Refuses every message, and says what came in its header."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = f"I do not know {self.headers['Authorization']}"
        error = {"jsonrpc": "2.0", "id": asked.get("id"), "error": {"code": -32000, "message": said}}
        answer = json.dumps(error).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


@pytest.fixture
def telling() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Telling) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


async def test_a_server_that_repeats_a_value_when_it_refuses_is_quoted_without_it(telling: str):
    with pytest.raises(CannotConnect, match=r"I do not know \[header\]") as raised:
        async with Driver(telling, headers={"Authorization": f"Bearer {SECRET}"}):
            pass
    assert "VERYSECRET" not in "".join(format_exception(raised.value))


def test_short_values_are_no_secrets_and_spoil_no_sentence():
    assert (
        redact_headers("HTTP 401 at port 80", read_headers({"X-Table": "80", "X-Empty": ""}))
        == "HTTP 401 at port 80"
    )
