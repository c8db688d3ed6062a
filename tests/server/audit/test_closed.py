"""A ledger that cannot be written to: nothing is acted on, the client learns that much, and it recovers by itself."""

from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from askback import ask, once
from askback.errors import StoreUnavailable
from askback.ledger import Ledger
from askback.stores import SQLiteStore
from askback.testing import accept, run_tool
from tests.server.audit.books import KEY, Books, Host, mcpserver
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio


class Faltering(SQLiteStore):
    """Takes so many appends, then none; until it is well again."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.takes: int | None = None

    async def append(self, *lines: bytes) -> int:
        if self.takes == 0:
            raise StoreUnavailable(store="the ledger's", problem="the disk is full", advice="Make room.")
        self.takes = None if self.takes is None else self.takes - 1
        return await super().append(*lines)


class Bakery:
    """Counts what it bakes."""

    def __init__(self, path: Path, host: Host = mcpserver) -> None:
        self.baked = 0
        self.ledgers_own = Faltering(path / "ledger.db")
        self.books: Books = host(self.order, path, ledger=Ledger(self.ledgers_own, [KEY]))

    async def order(self) -> str:
        await ask("Sure?", bool)
        return await once("bake", self._bake)

    def _bake(self) -> str:
        self.baked += 1
        return f"baked {self.baked}"


@pytest.mark.parametrize("takes", [0, 1])
async def test_what_cannot_be_recorded_is_not_acted_on_and_the_next_call_is_served(
    takes: int, host: Host, revision: str, tmp_path: Path
):
    bakery = Bakery(tmp_path, host)
    bakery.ledgers_own.takes = takes
    answers = [accept(True)] * takes
    with pytest.raises(MCPError, match="cannot keep what this call needs"):
        await run_tool(bakery.books.server, "t", answers=answers, revision=revision)
    assert bakery.baked == 0
    bakery.ledgers_own.takes = None
    run = await run_tool(bakery.books.server, "t", answers=[accept(True)], revision=revision)
    assert run.text == "baked 1"
    assert [event for (event,) in await bakery.books.told()][-3:].count("spent") >= 1


async def test_the_same_round_goes_on_when_the_ledger_is_back(tmp_path: Path):
    bakery = Bakery(tmp_path)
    async with raw_client(bakery.books.server) as client:
        first = await client.call()
        retry = answering(first, ask_1=accepting(value=True))
        for takes, baked in ((0, 0), (1, 1)):
            bakery.ledgers_own.takes = takes
            with pytest.raises(MCPError):
                await client.call(**retry)
            assert bakery.baked == baked
        bakery.ledgers_own.takes = None
        end = await client.call(**retry)
    assert end["content"][0]["text"] == "baked 1"
    told = await bakery.books.told("place", "reason")
    assert ("spent", "bake", None) in told
    assert {event for event, *_ in told} == {"asked", "spent", "answered"}


async def test_a_refusal_stands_whether_or_not_it_can_be_recorded(tmp_path: Path):
    bakery = Bakery(tmp_path)
    bakery.ledgers_own.takes = 0
    async with raw_client(bakery.books.server) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.call(requestState="forged")
