"""Rounds as the ledger has them: one append each, before anybody learns of it, and those that are refused."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from askback import ask, once
from askback.protocol.server.events import MALFORMED, NOT_ASKED, USED
from askback.server.refusal_limit import BURST_SIZE
from askback.server.refused_states import ELSEWHERE, FORGED, LATE
from askback.stores import SQLiteStore
from tests.runtime.visits.callers import WHO, caller
from tests.server.audit.books import KEY, mcpserver
from tests.support.raw import accepting, answering, raw_client
from tests.support.raw_http import Posting
from tests.support.servers.http import served

pytestmark = pytest.mark.anyio

THREE, FOUR = accepting(value=3), accepting(value=4)


class Watched(SQLiteStore):
    """Tells in which order it was spoken to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.verbs: list[str] = []

    async def append(self, *lines: bytes) -> int:
        self.verbs.append("append")
        return await super().append(*lines)

    async def record(self, claim: Any, result: bytes) -> bool:
        self.verbs.append("record")
        return await super().record(claim, result)

    async def note(self, claim: Any, noted: bytes) -> bool:
        self.verbs.append("note")
        return await super().note(claim, noted)


async def how_many() -> str:
    """One question."""
    return repr(await ask("How many?", int))


async def test_each_round_is_one_append_before_its_record(tmp_path: Path):
    async def body() -> str:
        return f"{await ask('How many?', int)} {await ask('Sure?', bool)}"

    store = Watched(tmp_path / "askback.db")
    books = mcpserver(body, tmp_path, store=store)
    async with raw_client(books.server) as client:
        first = await client.call()
        assert store.verbs == ["append"]
        second = await client.call(**answering(first, ask_1=THREE))
        assert store.verbs[1:] == ["append", "record"]
        await client.call(**answering(second, ask_2=accepting(value=True)))
    assert store.verbs[3:] == ["append", "record"]


async def test_an_answer_is_on_record_before_what_it_allows_is_begun(tmp_path: Path):
    store = Watched(tmp_path / "askback.db")

    def bake() -> str:
        assert store.verbs[1:] == ["append", "note"]
        return "baked"

    async def body() -> str:
        await ask("How many?", int)
        return await once("bake", bake)

    books = mcpserver(body, tmp_path, store=store)
    async with raw_client(books.server) as client:
        end = await client.call(**answering(await client.call(), ask_1=THREE))
    assert end["content"][0]["text"] == "baked"
    assert store.verbs[3:] == ["note", "append", "record"]


async def test_a_copy_of_a_round_adds_nothing_and_another_answer_is_refused(tmp_path: Path):
    books = mcpserver(how_many, tmp_path)
    async with raw_client(books.server) as client:
        first = await client.call()
        for _ in range(2):
            await client.call(**answering(first, ask_1=THREE))
        with pytest.raises(MCPError):
            await client.call(**answering(first, ask_1=FOUR))
    told = await books.told("reason")
    assert told == [("asked", None), ("spent", "round 1"), ("answered", None), ("refused", USED)]
    assert len({entry.call for entry in await books.entries()}) == 1


async def test_replies_that_are_none_or_that_nobody_asked_for_are_refused(tmp_path: Path):
    books = mcpserver(how_many, tmp_path)
    async with raw_client(books.server) as client:
        first = await client.call(inputResponses={"ask-1": THREE})
        with pytest.raises(MCPError):
            await client.call(**answering(first, ask_1="three"))
        await client.call(**answering(first, ask_1=THREE, ask_2=FOUR, ask_3=None))
    assert [reason for event, reason in await books.told("reason") if event == "refused"] == [
        NOT_ASKED,
        MALFORMED,
        NOT_ASKED,
    ]


@pytest.mark.parametrize("reason", [FORGED, LATE, ELSEWHERE])
async def test_a_state_that_is_not_good_here_is_refused_with_its_reason(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    books = mcpserver(how_many, tmp_path, think_time=600)
    async with raw_client(books.server) as client:
        first = await client.call()
        retry = answering(first, ask_1=THREE)
        if reason == FORGED:
            retry["requestState"] = retry["requestState"][:-3] + "AAA"
        if reason == LATE:
            later = time.time() + 3600
            monkeypatch.setattr("time.time", lambda: later)
        with pytest.raises(MCPError, match="requestState"):
            await client.call(arguments={"other": 1} if reason == ELSEWHERE else {}, **retry)
    (asked, refused) = await books.entries()
    assert (refused.event, refused.reason) == ("refused", reason)
    assert refused.call == ("" if reason == FORGED else asked.call)


async def test_somebody_elses_round_is_refused_under_their_own_name(tmp_path: Path):
    books = mcpserver(how_many, tmp_path, caller=caller)
    async with served(books.server) as url:
        first = await Posting(url, {WHO: "ada"}).call()
        with pytest.raises(MCPError):
            await Posting(url, {WHO: "eve" * 100}).call(**answering(first, ask_1=THREE))
    (asked, refused) = await books.entries()
    assert (asked.caller, refused.reason) == ("ada", ELSEWHERE)
    assert refused.caller is not None and refused.caller.startswith("sha256:")


async def test_a_flood_of_refusals_is_bounded_and_what_is_left_out_is_counted(tmp_path: Path):
    now = [1_800_000_000.0]
    books = mcpserver(how_many, tmp_path, clock=lambda: now[0])
    async with raw_client(books.server) as client:

        async def knock(times: int) -> None:
            for _ in range(times):
                with pytest.raises(MCPError):
                    await client.call(requestState="forged")

        await knock(BURST_SIZE + 20)
        assert len(await books.entries()) == BURST_SIZE
        now[0] += 1
        await knock(2)
    entries = await books.entries()
    assert len(entries) == BURST_SIZE + 1
    assert entries[-1].reason == f"{FORGED}; 20 more before it are not on record"


async def test_a_reply_that_came_and_was_never_read_is_on_record(tmp_path: Path):
    passes: list[str] = ["ab", "a"]

    async def body() -> str:
        return str(await asyncio.gather(*(ask(f"{key}?", bool, key=key) for key in passes.pop(0))))

    books = mcpserver(body, tmp_path)
    async with raw_client(books.server) as client:
        yes = accepting(value=True)
        await client.call(**answering(await client.call(), a=yes, b=yes))
    told = await books.told("place", "reason")
    assert [row for row in told if row[0] == "answered"] == [
        ("answered", "a", None),
        ("answered", "b", "not read by the body"),
    ]


async def test_rounds_go_on_after_a_restart_in_one_ledger(tmp_path: Path):
    first_life = mcpserver(how_many, tmp_path)
    async with raw_client(first_life.server) as client:
        first = await client.call()
    second_life = mcpserver(how_many, tmp_path, keys=[b"another key, a newer one, for it!!", KEY])
    async with raw_client(second_life.server) as client:
        await client.call(**answering(first, ask_1=THREE))
    entries = await second_life.entries()
    assert [entry.event for entry in entries] == ["asked", "spent", "answered"]
    assert len({entry.call for entry in entries}) == 1
