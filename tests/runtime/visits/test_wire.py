"""Visits as they go over the wire: what each revision has words for, and nothing else."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from askback import Accepted, CannotAsk, ask, secret, visit
from askback.server.hosts import lowlevel_of
from askback.testing import Asked, Script, accept, decline, raw, run_tool
from askback.testing.run import TranscriptLine, Wire, connect
from askback.testing.script import Reply
from tests.runtime.visits.callers import agreed, caller, linked_id
from tests.support.ids import sent_words
from tests.support.visit_shops import (
    BOUND,
    JULY,
    LINK,
    LINKS,
    NOVEMBER,
    CountingMemory,
    Host,
    Listening,
    Shop,
    Traveller,
    greeting,
    id_in,
    mcpserver,
    over_http,
    pay,
    text_of,
)

pytestmark = pytest.mark.anyio

COMPLETE = "notifications/elicitation/complete"
JUNE = "2025-06-18"


class Spoken:
    """One connection on one revision, and all that was said."""

    def __init__(self, shop: Shop, revision: str) -> None:
        self.shop = shop
        self.ids: list[str] = []
        self.wire = Wire(version=revision, capabilities=LINKS, script=Script(self._agree))

    def _agree(self, asked: Asked) -> Reply:
        if asked.mode == "form":
            return accept(value="tea")
        self.ids.append(id_in(asked.url))
        return raw({"action": "accept"})

    def connected(self) -> Any:
        return connect(lowlevel_of(self.shop.server), self.wire)

    async def call(self) -> dict[str, Any]:
        return await self.wire.call("tools/call", {"name": "t", "arguments": {}})

    def bodies(self, what: str, direction: str = "<-") -> list[Any]:
        lines: list[TranscriptLine] = self.wire.transcript
        return [line.body for line in lines if line.what == what and line.direction == direction]


async def spoken_until_paid(host: Host, revision: str) -> Spoken:
    """What was said in a call whose visit is settled as soon as the server waits for it, and which then succeeds."""
    store = CountingMemory()
    spoken = Spoken(host(pay, store=store), revision)
    results: list[dict[str, Any]] = []

    async def call() -> None:
        results.append(await spoken.call())

    with anyio.fail_after(BOUND):
        async with spoken.connected():
            async with anyio.create_task_group() as group:
                group.start_soon(call)
                await store.counting.until_waiting()
                assert await spoken.shop.asked.settle(spoken.ids[0], "paid")
            await anyio.lowlevel.checkpoint()
    assert results[0]["content"][0]["text"] == "Accepted(value='paid')"
    return spoken


@pytest.mark.verifies("R07")
@pytest.mark.parametrize("pushing", [JUNE, NOVEMBER])
async def test_in_2025_a_visit_is_a_request_with_its_id_and_its_end_a_notification(host: Host, pushing: str):
    """Also on 2025-06-18, which knows no links, for a client that declares them: Codex does."""
    spoken = await spoken_until_paid(host, pushing)
    (id,) = spoken.ids
    (sent,) = spoken.bodies("elicitation/create")
    assert sent_words(sent) == {
        "mode": "url",
        "message": "Please pay.",
        "url": LINK.replace("{id}", id),
        "elicitationId": id,
    }
    assert spoken.bodies(COMPLETE) == [{"elicitationId": id}]
    what = [line.what for line in spoken.wire.transcript]
    assert what.index(COMPLETE) < len(what) - 1 - what[::-1].index("result")


@pytest.mark.verifies("R07", "R08", "R09", "R10")
async def test_on_2026_07_28_it_is_an_input_request_and_then_the_retry_is_held(host: Host):
    spoken = await spoken_until_paid(host, JULY)
    (id,) = spoken.ids
    first, last = spoken.bodies("result")
    assert first["inputRequests"] == {
        "link-1": {
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Please pay.", "url": LINK.replace("{id}", id)},
        }
    }
    assert (first["resultType"], last["resultType"]) == ("input_required", "complete")
    assert {line.what for line in spoken.wire.transcript} == {"tools/call", "result"}


async def test_between_two_holds_there_is_nothing_but_the_state():
    shop = mcpserver(pay, hold=0.01)
    spoken = Spoken(shop, JULY)
    with anyio.fail_after(BOUND):
        async with spoken.connected():
            result = await spoken.call()
    assert "make the same call again" in result["content"][0]["text"]
    rounds = spoken.bodies("result")[:-1]
    assert ["inputRequests" in one for one in rounds] == [True, *[False] * 8, True]
    assert all(one["requestState"] and one["resultType"] == "input_required" for one in rounds)
    assert len(rounds) == 10  # what the usual client puts up with
    assert len(set(spoken.ids)) == 1


async def test_who_gave_a_token_hears_that_it_goes_on():
    store = CountingMemory()
    spoken = Spoken(mcpserver(pay, store=store), JULY)
    meta = {**spoken.wire.envelope(), "progressToken": "mine"}
    params: dict[str, Any] = {"name": "t", "arguments": {}, "_meta": meta}
    with anyio.fail_after(BOUND):
        async with spoken.connected(), anyio.create_task_group() as group:
            first = await spoken.wire.send("tools/call", params)
            group.start_soon(spoken.wire.send, "tools/call", {**params, **agreed(first)})
            await store.counting.until_waiting()
            while not spoken.bodies("notifications/progress"):
                await anyio.lowlevel.checkpoint()
            assert await spoken.shop.asked.settle(linked_id(first), "paid")
    (told,) = spoken.bodies("notifications/progress")
    assert told["progressToken"] == "mine" and told["total"] == 25.0
    assert told["message"] == "Waiting for the person to finish on the page."


async def test_who_gave_none_hears_nothing():
    spoken = await spoken_until_paid(mcpserver, JULY)
    assert not spoken.bodies("notifications/progress")


class Guest(Listening):
    """A person and their client, which hears notifications."""

    def __init__(self) -> None:
        super().__init__()
        self.person = Traveller()

    def at(self, url: str) -> Client:
        return Client(url, mode="legacy", elicitation_callback=self.person, message_handler=self.hear)


@pytest.mark.verifies("R80")
@pytest.mark.parametrize("waits", [True, False], ids=["waited for", "gone on"])
async def test_the_client_that_was_asked_is_told_of_the_end_and_no_other(host: Host, waits: bool):
    store = CountingMemory()

    async def body() -> str:
        return repr(await visit("Please pay.", LINK, wait=waits))

    shop = greeting(host(body, store=store))
    ada, eve = Guest(), Guest()
    texts: dict[str, str] = {}

    async def call(client: Client, who: str) -> None:
        texts[who] = text_of(await client.call_tool("t", {}))

    with anyio.fail_after(BOUND):
        async with over_http(shop) as url, ada.at(url) as hers, eve.at(url) as evil:
            await ada.until_listening(hers)
            await eve.until_listening(evil)
            async with anyio.create_task_group() as group:
                group.start_soon(call, hers, "ada")
                group.start_soon(call, evil, "eve")
                await ada.person.asked.wait()
                await eve.person.asked.wait()
                if waits:
                    await store.counting.until_waiting(2)
                    assert await shop.asked.settle(ada.person.id, "paid")
                    await ada.news.wait()
                    assert eve.heard == []
                    assert await shop.asked.settle(eve.person.id, "paid too")
            if not waits:
                assert await shop.asked.settle(ada.person.id, "paid")
                await ada.news.wait()
                assert eve.heard == []
                assert await shop.asked.fail(eve.person.id, "not paid")
            await eve.news.wait()
    assert ada.heard == [ada.person.id]
    assert eve.heard == [eve.person.id]
    if waits:
        assert texts == {"ada": "Accepted(value='paid')", "eve": "Accepted(value='paid too')"}


@pytest.mark.verifies("R08")
async def test_on_2026_07_28_nobody_is_told(host: Host):
    async def body() -> str:
        return repr(await visit("Please pay.", LINK, wait=False))

    spoken = Spoken(host(body), JULY)
    with anyio.fail_after(BOUND):
        async with spoken.connected():
            await spoken.call()
            assert await spoken.shop.asked.settle(spoken.ids[0], "paid")
            await spoken.wire.send("tools/list", {"_meta": spoken.wire.envelope()})
    assert not spoken.bodies(COMPLETE)


@pytest.mark.verifies("R80")
async def test_a_body_that_runs_again_tells_of_the_end_once():
    async def pay_and_drink() -> str:
        paid = await visit("Please pay.", LINK)
        drinks = [await ask(question, str) for question in ("Drink?", "Another?")]
        return " ".join(answer.value for answer in (paid, *drinks) if isinstance(answer, Accepted))

    shop = mcpserver(pay_and_drink)
    ids: list[str] = []

    def agree(asked: Asked) -> Reply:
        if asked.mode == "form":
            return accept(value="tea")
        ids.append(id_in(asked.url))
        group.start_soon(shop.asked.settle, ids[-1], "paid")
        return raw({"action": "accept"})

    async with anyio.create_task_group() as group:
        run = await run_tool(shop.server, "t", None, agree, revision=NOVEMBER, capabilities=LINKS)
        told = [line.body for line in run.transcript if line.what == COMPLETE]
        assert (run.text, told) == ("paid tea tea", [{"elicitationId": ids[0]}])
    assert len(ids) == 1


@pytest.mark.verifies("R01", "R02")
@pytest.mark.parametrize("wait", [True, False])
async def test_a_client_that_shows_no_links_is_sent_none_and_the_author_gets_advice(
    revision: str, host: Host, wait: bool
):
    errors: list[CannotAsk] = []

    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK, wait=wait))
        except CannotAsk as error:
            errors.append(error)
            return "Please pay at the counter."

    run = await run_tool(host(body).server, "t", None, (), revision=revision)
    assert run.text == "Please pay at the counter."
    assert not run.asked
    (error,) = errors
    assert error.reason == "This client did not declare that it can show a link (elicitation.url)."
    assert error.advice.startswith("Use a client that declares it")
    assert error.advice.endswith("catch CannotAsk and say what the person can do instead.")
    assert "argument" not in error.advice, "what a link is for must not come through the model instead"


@pytest.mark.parametrize("declared", [{}, {"form": {}}], ids=["empty", "forms"])
async def test_a_client_of_june_2025_that_declares_no_links_gets_none(
    host: Host, declared: Mapping[str, Any]
):
    capabilities = {"elicitation": declared}
    run = await run_tool(host(pay).server, "t", revision=JUNE, capabilities=capabilities)
    assert run.is_error and not run.asked
    assert run.text.startswith("This client speaks MCP 2025-06-18, which knows forms and no links.")
    assert "Connect with a client that speaks 2025-11-25 or later" in run.text


async def test_one_that_declares_them_is_sent_to_a_page_for_a_secret_too(host: Host):
    async def body() -> str:
        return repr(await secret("The dictionary wants a key.", "dictionary key"))

    run = await run_tool(host(body).server, "t", None, [decline()], revision=JUNE, capabilities=LINKS)
    assert run.text == "Declined()"
    assert [asked.mode for asked in run.asked] == ["url"]


async def test_where_it_is_to_call_again_its_call_ends_with_the_visits_too(host: Host):
    spoken = Spoken(host(pay, demand_visits=True, caller=caller), JUNE)
    with anyio.fail_after(BOUND), pytest.raises(MCPError) as demanded:
        async with spoken.connected():
            await spoken.call()
    assert demanded.value.code == -32042
    (listed,) = demanded.value.data["elicitations"]
    assert listed["url"] == LINK.replace("{id}", listed["elicitationId"])
