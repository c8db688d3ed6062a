"""Links as the ledger has them: where they lead and never what opens them, who was on the page, and how it ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from askback import Askback, TimedOut, secret, visit
from askback.errors import VisitFailed
from askback.model.visit import StoredVisit
from askback.server.hosts import lowlevel_of
from askback.stores import SQLiteStore
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault
from tests.server.audit.books import Books, Host, mcpserver
from tests.support.secret_shop.canary import Canary
from tests.support.secret_shop.visitor import SAVED
from tests.support.secret_shop.visitor import Visitor as Typist
from tests.support.servers.clients import client_on
from tests.support.visit_pages import ADA, OUTSIDE, WHO, by_function
from tests.support.visit_shops import BOUND, JULY, NOVEMBER, Traveller
from tests.support.visitor import visitor

pytestmark = pytest.mark.anyio

LINK = "https://pay.example/checkout/{id}"


@pytest.fixture(params=[NOVEMBER, JULY])
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where a vault's key would be."""
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))


async def lines_of(books: Books) -> bytes:
    return b"\n".join(line for _, line in await books.ledger.store.read(limit=1_000))


async def pay() -> str:
    """What came of the visit."""
    try:
        return repr(await visit("Please pay.", LINK, key="pay"))
    except VisitFailed as failed:
        return failed.reason


End = Callable[[Askback, str], Any]

ENDS: dict[str, tuple[End, tuple[Any, ...]]] = {
    "settled": (lambda asked, id: asked.settle(id, {"paid": 3}), ("settled", "pay", "server", None)),
    "failed": (lambda asked, id: asked.fail(id, "no money"), ("settled", "pay", "server", "no money")),
}


@pytest.mark.parametrize("how", ENDS)
async def test_a_visit_is_asked_agreed_to_and_ended_by_the_application(
    how: str, host: Host, revision: str, tmp_path: Path
):
    books = host(pay, tmp_path)
    end, expected = ENDS[how]
    person = Traveller(then=lambda id: end(books.askback, id))
    async with person.at(revision, lowlevel_of(books.server)) as client:
        await client.call_tool("t", {})
    entries = await books.entries()
    asked = entries[0]
    assert (asked.event, asked.channel, asked.asks) == ("asked", "link", {"url": LINK})
    told = [(entry.event, entry.place, entry.word, entry.reason) for entry in entries if entry.place]
    assert ("answered", "pay", "client", None) in told
    assert {row for row in told if row[0] == "settled"} == {expected}
    assert len({entry.call for entry in entries}) == 1
    assert person.id.encode() not in await lines_of(books)


async def test_a_no_to_a_link_is_an_answer_and_no_end(revision: str, tmp_path: Path):
    books = mcpserver(pay, tmp_path)
    async with Traveller("decline").at(revision, lowlevel_of(books.server)) as client:
        await client.call_tool("t", {})
    assert (await books.told("action"))[-1] == ("answered", "decline")


async def test_a_visit_that_runs_out_is_told_of_when_it_is_noticed(revision: str, tmp_path: Path):
    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK, key="pay", timeout=0.05))
        except TimedOut:
            return "not done"

    books = mcpserver(body, tmp_path)
    async with Traveller().at(revision, lowlevel_of(books.server)) as client:
        await client.call_tool("t", {})
    assert (await books.told("place", "reason"))[-1] == ("expired", "pay", "not done in time")


async def test_a_secret_leaves_word_of_the_page_and_nothing_of_itself(
    host: Host, revision: str, tmp_path: Path
):
    async def body() -> str:
        return type(await secret("To look up the weather.", "weather key")).__name__

    books, canary, links = host(body, tmp_path), Canary(), list[str]()
    with anyio.fail_after(BOUND):
        async with Typist() as typist, anyio.create_task_group() as tasks:

            async def type_in(url: str) -> None:
                assert await typist.type(url, canary.value) == SAVED
                await typist.open(url)

            async def agree(context: Any, params: Any) -> ElicitResult:
                links.append(params.url)
                tasks.start_soon(type_in, params.url)
                return ElicitResult(action="accept")

            async with client_on(revision, lowlevel_of(books.server), agree) as client:
                await client.call_tool("t", {})
                tasks.cancel_scope.cancel()
    place, origin = "secret-1:weather key", "/".join(links[0].split("/", 3)[:3])
    told = [row for row in await books.told("place", "channel", "word") if row[1] == place]
    assert told[0] == ("asked", place, "link", None)
    assert told.count(("shown", place, "page", "page")) == 1
    assert ("answered", place, None, "client") in told
    assert {row for row in told if row[0] == "settled"} == {("settled", place, None, "page")}
    assert (await books.entries())[0].asks == {"url": origin}
    lines = await lines_of(books)
    assert canary.places({"ledger": lines}) == {}
    _, _, _, _, *words = links[0].split("/")
    assert not [word for word in words if len(word) > 8 and word.encode() in lines], "what opens the page"


def ada(_: object) -> str:
    return "ada"


async def test_somebody_else_at_the_door_is_told_of_and_the_one_it_is_for_once(tmp_path: Path):
    store = SQLiteStore(tmp_path / "askback.db")
    vault = Vault(store, KeyRing([bytes(32)]))
    books = mcpserver(pay, tmp_path, store=store, vault=vault, pages=by_function(), caller=ada)
    asked = books.askback
    fields = [{"name": "value", "label": "key", "hint": "", "hidden": True}]
    id = asked.visits.new_id()
    await asked.visits.open(
        StoredVisit(
            id=id,
            kind="secret",
            server="bakery",
            owner=ADA,
            client="Chat",
            message="For the oven.",
            asked_at=0.0,
            until=4e9,
            about={"name": "key", "fields": fields, "keep": None},
            thing="key",
            call="the call",
            place="secret-1:key",
        )
    )
    async with visitor(asked.pages) as person:
        for who in ("eve", "ada", "ada"):
            await person.open(f"{OUTSIDE}/askback/visit/{id}", {WHO: who})
    refused, shown = await books.entries()
    assert (refused.event, refused.reason, refused.call) == ("refused", "opened by somebody else", "the call")
    assert refused.caller is not None and "eve" in refused.caller
    assert (shown.event, shown.place, shown.client) == ("shown", "secret-1:key", "Chat")


async def test_visits_that_a_call_demands_are_asked(tmp_path: Path):
    books = mcpserver(pay, tmp_path, demand_visits=True)

    async def never(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("nobody is asked in the middle of the call")

    async with client_on(NOVEMBER, lowlevel_of(books.server), never) as client:
        assert not isinstance(client, ClientSession)
        with pytest.raises(MCPError) as demand:
            await client.call_tool("t", {})
        (link,) = demand.value.data["elicitations"]
        await books.askback.settle(link["elicitationId"])
        await client.call_tool("t", {})
    entries = await books.entries()
    assert [(entry.event, entry.place) for entry in entries] == [
        ("asked", "pay"),
        ("settled", "pay"),
        ("settled", "pay"),
    ]
    assert entries[0].asks == {"url": LINK}
    first, second, third = (entry.call for entry in entries)
    assert first == second != third, "the call that was made again has a name of its own"
