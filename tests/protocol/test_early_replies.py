"""Replies that come before the body gets to their question: they travel on in the state, unread."""

import asyncio
from typing import Any

import anyio.lowlevel
import pytest

from askback import Answer, ask
from tests.support.raw import accepting, answering, raw_client
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


HOSTILE = {
    "half a surrogate pair": "\ud800",
    "the other half, as a name": {"\udfff": 1},
    "too large": "x" * 300_000,
    "too deep to read": nested(220),
    "too deep to write": nested(900),
    "too many digits to read": 10**5_000,
    "not a number": float("nan"),
}
"""What the HTTP transport of 2026-07-28 lets through, but for the digits, which only callers in memory can send."""


class Couple:
    """Two tasks; on its second run the second is held up, so its reply is there before it has asked again."""

    def __init__(self) -> None:
        self.runs = 0

    async def body(self) -> str:
        self.runs += 1
        answers = await asyncio.gather(self._first(), self._second())
        return str(answers)

    async def _first(self) -> Answer[str]:
        await ask("Name?", str, key="name")
        return await ask("Town?", str, key="town")

    async def _second(self) -> Answer[str]:
        if self.runs == 2:
            for _ in range(100):
                await anyio.lowlevel.checkpoint()
        return await ask("Country?", str, key="country")


async def test_a_reply_that_fits_is_not_asked_for_again():
    async with raw_client(mcpserver(Couple().body)) as client:
        first = await client.call()
        both = answering(first, name=accepting(value="Ada"), country=accepting(value="England"))
        second = await client.call(**both)
        assert list(second["inputRequests"]) == ["town"]
        last = await client.call(**answering(second, town=accepting(value="London")))
        assert last["content"][0]["text"] == "[Accepted(value='London'), Accepted(value='England')]"


@pytest.mark.verifies("R14", "R41")
@pytest.mark.parametrize("hostile", HOSTILE)
async def test_one_that_does_not_is_asked_again_and_breaks_nothing(hostile: str):
    async with raw_client(mcpserver(Couple().body)) as client:
        first = await client.call()
        early = accepting(value=HOSTILE[hostile])
        second = await client.call(**answering(first, name=accepting(value="Ada"), country=early))
        assert "town" in second["inputRequests"]
        third = await client.call(**answering(second, town=accepting(value="London")))
        assert list(third["inputRequests"]) == ["country"]
        last = await client.call(**answering(third, country=accepting(value="England")))
        assert last["content"][0]["text"] == "[Accepted(value='London'), Accepted(value='England')]"
