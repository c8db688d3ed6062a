"""A question and its answer, as they stand in the ledger on every revision."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from askback import InvalidAnswer, Text, TimedOut, ask, confirm, once
from askback.ledger import Ledger
from askback.stores import SQLiteStore
from askback.testing import (
    accept,
    cancel,
    decline,
    fail,
    get_prompt,
    raw,
    read_resource,
    run_tool,
    silence,
)
from askback.testing.run import LATEST
from tests.server.audit.books import KEY, Books, Host, mcpserver

pytestmark = pytest.mark.anyio


async def order(cake: str) -> str:
    """Two questions and what is done about them."""
    number = await ask("How many?", int, key="number")
    is_sure = await confirm(f"Bake {cake}?", key="sure")

    def bake() -> str:
        return "baked"

    return f"{number} {is_sure} {await once('bake', bake)}"


def without_rounds(told: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """On the rounds era each round that was redeemed is there too."""
    return [row for row in told if row[1] is not None]


async def test_all_that_happens_is_told_in_its_order(host: Host, revision: str, tmp_path: Path):
    books = host(order, tmp_path)
    answers = [accept(value="many"), accept(3), accept(yes=True)]
    run = await run_tool(books.server, "t", {"cake": "apple pie"}, answers, revision=revision)
    assert run.text == "Accepted(value=3) True baked"
    assert without_rounds(await books.told("place", "action", "reason")) == [
        ("asked", "number", None, None),
        ("refused", "number", None, "does not fit"),
        ("asked", "number", None, None),
        ("answered", "number", "accept", None),
        ("asked", "sure", None, None),
        ("answered", "sure", "accept", None),
        ("spent", "bake", None, None),
    ]
    rounds = [entry.reason for entry in await books.entries() if entry.place is None]
    assert rounds == (["round 1", "round 2", "round 3"] if revision == LATEST else [])


async def test_an_entry_says_who_asked_whom_what_and_how(host: Host, revision: str, tmp_path: Path):
    books = host(order, tmp_path)
    run = await run_tool(
        books.server, "t", {"cake": "plum pie"}, [accept(3), accept(yes=True)], revision=revision
    )
    entries = await books.entries()
    assert {entry.call for entry in entries} == {entries[0].call} and entries[0].call
    asked = next(entry for entry in entries if entry.place == "sure")
    assert (asked.server, asked.kind, asked.target) == ("bakery", "tool", "t")
    assert (asked.caller, asked.client, asked.revision) == ("local", "askback.testing 1", revision)
    assert (asked.channel, asked.message) == ("form", "Bake plum pie?")
    assert asked.asks == run.asked[1].schema
    assert asked.arguments is not None and len(asked.arguments) == 64
    answered = next(entry for entry in entries if (entry.event, entry.place) == ("answered", "sure"))
    assert answered.question == asked.question and answered.question
    digest = books.ledger.digest_of({"yes": True}, call=answered.call, place="sure")
    assert (answered.word, answered.digest) == ("client", digest)
    assert [entry.answer for entry in entries if entry.answer is not None] == []


async def test_an_answer_is_kept_word_for_word_only_where_its_tool_is_named(
    host: Host, revision: str, tmp_path: Path
):
    store = SQLiteStore(tmp_path / "askback.db")
    for name, kept in (("t", {"value": 3}), ("other", None)):
        books = host(order, tmp_path, store=store, ledger=Ledger(store, [KEY], answers=[name]))
        await run_tool(books.server, "t", {"cake": name}, [accept(3), accept(yes=True)], revision=revision)
        answered = [entry for entry in await books.entries() if entry.event == "answered"][-2]
        assert (answered.place, answered.answer) == ("number", kept)


@pytest.mark.parametrize(("reply", "action"), [(decline(), "decline"), (cancel(), "cancel")])
async def test_a_no_is_an_answer_without_a_digest(reply: Any, action: str, revision: str, tmp_path: Path):
    async def body() -> str:
        return repr(await ask("How many?", int))

    books = mcpserver(body, tmp_path)
    await run_tool(books.server, "t", answers=[reply], revision=revision)
    assert (await books.told("action", "digest"))[-1] == ("answered", action, None)


async def test_a_question_that_nobody_answers_expires(revision: str, tmp_path: Path):
    async def body() -> str:
        try:
            return repr(await ask("How many?", int, timeout=0.05))
        except TimedOut:
            return "nobody"

    books = mcpserver(body, tmp_path)
    run = await run_tool(books.server, "t", answers=[silence()], revision=revision)
    assert run.text == "nobody"
    assert (await books.told("place", "reason"))[-1] == ("expired", "ask-1", "nobody answered in time")


async def test_replies_that_keep_not_fitting_are_all_told_of(revision: str, tmp_path: Path):
    async def body() -> str:
        with pytest.raises(InvalidAnswer):
            await ask("How many?", int)
        return "never"

    books = mcpserver(body, tmp_path, reply_retries=1)
    strange = [raw({"action": "accept", "content": content}) for content in ({"value": "\ud800"}, [1e308])]
    await run_tool(books.server, "t", answers=strange, revision=revision)
    refused = [entry for entry in await books.entries() if entry.event == "refused"]
    assert [(entry.reason, entry.action) for entry in refused] == [("does not fit", None)] * 2
    assert len({entry.digest for entry in refused}) == 2


async def test_a_client_that_breaks_is_told_of(tmp_path: Path):
    books = mcpserver(order, tmp_path)
    await run_tool(books.server, "t", {"cake": "pie"}, [fail(-32000)], revision="2025-11-25")
    assert (await books.told("place", "reason"))[-1] == (
        "refused",
        "number",
        "the client answered with error -32000",
    )


async def test_questions_side_by_side_are_all_there(revision: str, tmp_path: Path):
    async def body() -> str:
        return str(await asyncio.gather(*(ask(f"{key}?", bool, key=key) for key in "abc")))

    books = mcpserver(body, tmp_path)
    await run_tool(
        books.server,
        "t",
        answers={key: accept(True) for key in "abc"} if revision == LATEST else [accept(True)] * 3,
        revision=revision,
    )
    told = await books.told("place")
    for event in ("asked", "answered"):
        assert sorted(place for what, place in told if what == event) == ["a", "b", "c"]


async def test_a_call_that_asks_nothing_writes_nothing(host: Host, revision: str, tmp_path: Path):
    async def body() -> str:
        def effect() -> str:
            return "done"

        return await once("effect", effect)

    books = host(body, tmp_path)
    run = await run_tool(books.server, "t", revision=revision)
    assert run.text == "done"
    assert await books.ledger.store.read() == []


async def test_prompts_and_resources_are_told_by_name_and_uri(revision: str, tmp_path: Path):
    books: Books = mcpserver(order, tmp_path)

    @books.server.prompt()
    async def recipe() -> str:
        return repr(await ask("Which?", str))

    @books.server.resource("cake://today")
    async def today() -> str:
        return repr(await ask("Whose?", str))

    await get_prompt(books.server, "recipe", answers=[accept("plum")], revision=revision)
    await read_resource(books.server, "cake://today", [accept("Ada's")], revision=revision)
    asked = [entry for entry in await books.entries() if entry.event == "asked"]
    assert [(entry.kind, entry.target) for entry in asked] == [
        ("prompt", "recipe"),
        ("resource", "cake://today"),
    ]


async def test_what_a_client_says_of_an_answer_is_told_as_its_word(revision: str, tmp_path: Path):
    async def body() -> str:
        return f"{await ask('How many?', int, key='a')} {await ask('Sure?', bool, key='b')}"

    books = mcpserver(body, tmp_path)
    by_policy = {"channel": "policy", "rule": "few cakes", "shown": 0}
    by_page = {"channel": "page", "rule": "x" * 1_000, "shown": "yesterday"}
    answers = [
        raw({"action": "accept", "content": {"value": 3}, "_meta": {"askback/answered": by_policy}}),
        raw({"action": "accept", "content": {"value": True}, "_meta": {"askback/answered": by_page}}),
    ]
    await run_tool(books.server, "t", answers=answers, revision=revision)
    entries = {(entry.event, entry.place): entry for entry in await books.entries()}
    first, shown, second = entries["answered", "a"], entries["shown", "a"], entries["answered", "b"]
    assert (first.channel, first.rule, first.word) == ("policy", "few cakes", "policy")
    assert (shown.channel, shown.word) == ("policy", "client")
    assert entries["asked", "a"].at - 1 <= shown.at <= first.at, "within what we know"
    assert (second.channel, second.word) == (None, "client"), "a page is ours to name"
    assert second.rule is not None and len(second.rule) == 200
    assert ("shown", "b") not in entries


@pytest.mark.parametrize(
    "channel", ["Page", " page", "p\u0430ge", "page\u200b", "link\n", "x" * 41, "", 7], ids=ascii
)
async def test_no_client_has_a_channel_that_looks_like_one_of_ours(channel: Any, tmp_path: Path):
    async def body() -> str:
        return str(await ask("Sure?", bool, key="b"))

    books, said = mcpserver(body, tmp_path), {"askback/answered": {"channel": channel}}
    reply = raw({"action": "accept", "content": {"value": True}, "_meta": said})
    await run_tool(books.server, "t", answers=[reply])
    assert ("answered", None, "client") in await books.told("channel", "word")


@pytest.mark.parametrize("answers", [[], ["t"]], ids=["digest", "word for word"])
async def test_what_was_filled_in_beforehand_is_kept_only_where_answers_are(
    answers: list[str], tmp_path: Path
):
    """Most people send what they find there: it is as good as the answer."""

    async def body() -> str:
        return str(await ask("Where to?", {"street": Text(default="Canary Row 1")}, key="where"))

    path = f"sqlite:///{tmp_path}/askback.db"
    books = mcpserver(body, tmp_path, ledger=Ledger(path, [KEY], answers=answers))
    run = await run_tool(books.server, "t", answers=[accept(street="Canary Row 1")])
    (asked,) = [entry for entry in await books.entries() if entry.event == "asked"]
    assert "Canary" in str(run.asked[0].schema) and asked.asks is not None
    assert (asked.asks == run.asked[0].schema) == bool(answers)
    lines = b"".join([line.raw async for line in books.ledger.entries()])
    assert (b"Canary" in lines) == bool(answers)
