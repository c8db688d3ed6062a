"""A 2026-07-28 client over HTTP that sends exactly what a test says, and can hang up."""

from collections.abc import Mapping
from typing import Any

import httpx2
from mcp.shared.exceptions import MCPError

from askback.testing.run import CLIENT_INFO, FORMS
from tests.support.raw import LATEST

HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": LATEST,
    "mcp-method": "tools/call",
    "mcp-name": "t",
}

META = {
    "io.modelcontextprotocol/protocolVersion": LATEST,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": FORMS,
}


class Posting:
    """Each call is one POST; a call that is cancelled hangs up."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url, self._headers = url, {**HEADERS, **headers}

    async def call(self, arguments: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        params = {"name": "t", "arguments": dict(arguments or {}), "_meta": META, **fields}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        async with httpx2.AsyncClient() as http:
            answer = (await http.post(self._url, json=request, headers=self._headers)).json()
        if "error" in answer:
            raise MCPError(**answer["error"])
        return answer["result"]
