"""Results of tools that declare what they look like: the work is done, and what it gave is never lost."""

from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, TextContent

from askback.client import Driver, connection
from askback.errors import PeerError
from tests.client.stranger_servers import Context, Heard, Stranger, done

SIZED = {
    "name": "order",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}},
}


class Kitchen(Stranger):
    """Does the work, and lists its tools in its own way."""

    def __init__(self, listing: Any, size: object = 3) -> None:
        super().__init__(self._cook)
        self._listing, self._size = listing, size

    async def _cook(self, ctx: Context, heard: Heard) -> dict[str, Any]:
        return {**done(), "structuredContent": {"size": self._size}}

    async def _on_request(self, ctx: Context, method: str, params: Any) -> dict[str, Any]:
        if method != "tools/list":
            return await super()._on_request(ctx, method, params)
        if self._listing is None:
            await anyio.sleep_forever()
        if isinstance(self._listing, Exception):
            raise self._listing
        return {"tools": self._listing, "ttlMs": 0, "cacheScope": "private"}


LISTINGS: dict[str, Any] = {
    "an error": MCPError(INTERNAL_ERROR, "no list today"),
    "nonsense": "what?",
    "nothing at all": None,
    "a schema that fits": [SIZED],
}


@pytest.mark.parametrize("name", LISTINGS)
async def test_a_finished_result_is_returned_whatever_comes_of_the_list_of_tools(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "CHECK_SECONDS", 0.05 if LISTINGS[name] is None else 5)
    async with Driver(Kitchen(LISTINGS[name]).transport(), patience=5) as driver:
        result = await driver.call_tool("order")
    assert result.content == [TextContent(type="text", text="done")]
    assert result.structured_content == {"size": 3}


async def test_a_result_that_does_not_fit_its_schema_goes_with_the_error():
    async with Driver(Kitchen([SIZED], size="big").transport()) as driver:
        with pytest.raises(PeerError, match=r"tool order was called and has finished.*not of type") as raised:
            await driver.call_tool("order")
    assert raised.value.data["structuredContent"] == {"size": "big"}
    assert raised.value.data["content"] == done()["content"]
