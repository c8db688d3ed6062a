"""Ends of a round that are hard to keep, and what the copies of the round get then."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback import Askback, Text, ask, confirm, once
from askback.errors import AuthorError, OperatorError
from askback.stores import Granted, MemoryStore, Verdict
from askback.testing import run_tool
from tests.support.raw import accepting, answering, raw_client
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


async def test_an_end_that_cannot_be_written_down_leaves_no_copy_waiting():
    async def body() -> str:
        await ask("Go on?", bool)
        raise MCPError(-32000, "no", data=object())

    async with raw_client(mcpserver(body)) as client:
        first = await client.call()
        answer = answering(first, ask_1=accepting(value=True))
        for _ in range(2):
            with anyio.fail_after(5), pytest.raises(MCPError):
                await client.call(**answer)


class FromAnotherVersion(MemoryStore):
    """As if a newer Askback had begun each round, and died: we cannot read what it noted."""

    async def claim(self, key: str, *, until: float, **options: Any) -> Verdict:
        verdict = await super().claim(key, until=until, **options)
        return verdict._replace(noted=b'{"version": 9}') if isinstance(verdict, Granted) else verdict


async def test_notes_that_cannot_be_read_leave_no_copy_waiting():
    async def body() -> str:
        return str(await ask("Go on?", bool))

    async with raw_client(mcpserver(body, store=FromAnotherVersion())) as client:
        answer = answering(await client.call(), ask_1=accepting(value=True))
        for _ in range(2):
            with anyio.fail_after(5), pytest.raises(MCPError):
                await client.call(**answer)


async def test_a_copy_gets_a_question_that_its_author_has_excused():
    async def body() -> str:
        await confirm("Online?")
        return str(await ask("Which?", {"password": Text(not_a_secret="the word of the day, on the door")}))

    async with raw_client(mcpserver(body)) as client:
        first = await client.call()
        answer = answering(first, ask_1=accepting(yes=True))
        ends = [await client.call(**answer) for _ in range(2)]
    assert [list(end["inputRequests"]) for end in ends] == [["ask-2"], ["ask-2"]]


async def test_the_client_reads_nothing_of_the_operators_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async def body() -> str:
        return str(await ask("Go on?", bool))

    store = f"sqlite:///{tmp_path}/missing/askback.db"
    async with raw_client(mcpserver(body, store=store)) as client:
        with pytest.raises(MCPError) as caught:
            await client.call()
        assert "missing" not in str(caught.value)
        assert "missing" in caplog.text
        (tmp_path / "missing").mkdir()
        end = await client.call(**answering(await client.call(), ask_1=accepting(value=True)))
    assert end["content"][0]["text"] == "Accepted(value=True)"


async def test_a_question_after_long_work_gets_its_full_time():
    now = [1000.0]

    def work() -> str:
        now[0] += 40
        return "done"

    async def body() -> str:
        await once("work", work)
        return str(await ask("Quick?", bool, timeout=30))

    async with raw_client(mcpserver(body, clock=lambda: now[0])) as client:
        first = await client.call()
        now[0] += 1
        end = await client.call(**answering(first, ask_1=accepting(value=True)))
    assert end["content"][0]["text"] == "Accepted(value=True)"


@pytest.mark.parametrize("key", ["", "\ud800", "x" * 201])
async def test_a_key_that_cannot_be_written_down_is_refused(key: str):
    async def body() -> str:
        try:
            return str(await once(key, lambda: 1))
        except AuthorError as error:
            return str(error)

    assert "cannot be written down" in (await run_tool(mcpserver(body), "t")).text


def test_what_is_no_store_is_refused_where_it_is_given(tmp_path: Path):
    path: Any = tmp_path / "askback.db"
    with pytest.raises(OperatorError, match="is no store"):
        Askback(MCPServer("t"), store=path)
