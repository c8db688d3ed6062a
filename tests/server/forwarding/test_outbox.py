"""Answers to questions of a worker that does not listen, or that nobody can find: accepted, and delivered once."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from starlette.types import Receive, Send

from askback.server.forwarding import outbox
from askback.server.forwarding.forwarder import ForwardOutcome
from tests.server.forwarding.crew import PATIENCE, Posting, crew, messages, serving
from tests.server.forwarding.test_unreachable import Failing
from tests.server.forwarding.travel import app_of, travel

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ITEM = outbox.OutboxItem(session="a", size=1, has_route=True)
FOUR: dict[str, Any] = {"action": "accept", "content": {"value": 4}}


@asynccontextmanager
async def two_workers(folder: Path) -> AsyncGenerator[tuple[str, str, Failing]]:
    """The store of the second can be cut off."""
    store = Failing(folder / "shared.db")
    async with (
        crew("MCPServer", folder, count=1) as (first,),
        serving(app_of("MCPServer", travel("MCPServer", store=store))) as second,
    ):
        yield first, second, store
    await store.close()


@pytest.fixture
def accepts_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "ACCEPT_AFTER", 0.2)


@pytest.mark.usefixtures("accepts_soon")
async def test_an_answer_that_finds_no_way_is_accepted_and_delivered_when_it_does(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with two_workers(tmp_path) as (first, second, store):
        client = Posting(http)
        await client.begin(first)
        async with client.asking(first, "Rome") as response:
            said = messages(response)
            question = await anext(said)
            store.is_off = True
            assert (await client.tell(second, id=question["id"], result=FOUR)).status_code == 202
            store.is_off = False
            with anyio.fail_after(PATIENCE):
                assert "4 to Rome" in (await anext(said))["result"]["content"][0]["text"]


class Way:
    """To a worker that is silent until it is opened."""

    def __init__(self) -> None:
        self.is_open = False
        self.came = 0

    async def attempt(self, receive: Receive, send: Send) -> ForwardOutcome:
        self.came += self.is_open
        return ForwardOutcome.ANSWERED if self.is_open else ForwardOutcome.SILENT


@pytest.mark.usefixtures("accepts_soon")
async def test_a_worker_that_ends_delivers_first_what_it_has_accepted():
    box, way = outbox.Outbox(), Way()
    assert await box.deliver(way.attempt, ITEM, may_repeat=True) is None
    way.is_open = True
    with anyio.fail_after(PATIENCE):
        await box.close()
    assert way.came == 1


@pytest.mark.usefixtures("accepts_soon")
async def test_a_worker_that_ends_does_not_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(outbox, "FLUSH_TIMEOUT", 0.1)
    box, way = outbox.Outbox(), Way()
    assert await box.deliver(way.attempt, ITEM, may_repeat=True) is None
    with anyio.fail_after(PATIENCE):
        await box.close()
    assert "could not be delivered: this worker ends" in caplog.text


@pytest.mark.usefixtures("accepts_soon")
async def test_what_is_accepted_is_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(outbox, "DELIVERY_TIMEOUT", 0.5)
    box, way = outbox.Outbox(), Way()
    assert await box.deliver(way.attempt, ITEM, may_repeat=True) is None
    with anyio.fail_after(PATIENCE):
        await box.close()
    assert way.came == 0 and "was not taken: SILENT" in caplog.text


@pytest.mark.usefixtures("accepts_soon")
async def test_an_attempt_that_does_not_end_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(outbox, "DELIVERY_TIMEOUT", 0.5)
    monkeypatch.setattr(outbox, "FLUSH_TIMEOUT", PATIENCE)

    async def attempt(_receive: Receive, _send: Send) -> ForwardOutcome:
        await anyio.sleep_forever()
        raise AssertionError

    box = outbox.Outbox()
    assert await box.deliver(attempt, ITEM, may_repeat=True) is None
    with anyio.fail_after(PATIENCE / 2):
        await box.close()
    assert "was not taken: SILENT" in caplog.text


@pytest.mark.usefixtures("accepts_soon")
async def test_the_log_has_the_status_of_an_answer_that_was_refused_later(caplog: pytest.LogCaptureFixture):
    may_go_on = anyio.Event()

    async def attempt(_receive: Receive, send: Send) -> ForwardOutcome:
        await may_go_on.wait()
        await send({"type": "http.response.start", "status": 401, "headers": []})
        return ForwardOutcome.ANSWERED

    box = outbox.Outbox()
    assert await box.deliver(attempt, ITEM, may_repeat=True) is None
    may_go_on.set()
    await box.close()
    assert "was not taken: ANSWERED, HTTP status 401" in caplog.text


@pytest.mark.parametrize(
    ("taken", "most"),
    [
        ([ITEM] * 30, outbox.MAX_PER_SESSION),
        ([ITEM._replace(session=str(n), has_route=False) for n in range(300)], outbox.MAX_MESSAGES // 4),
    ],
    ids=["one session", "sessions that nobody knows"],
)
async def test_one_sender_leaves_room_for_the_others(
    taken: list[outbox.OutboxItem], most: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outbox, "ACCEPT_AFTER", 0.0)
    monkeypatch.setattr(outbox, "FLUSH_TIMEOUT", 0.0)
    box, way, accepted = outbox.Outbox(), Way(), 0
    for item in taken:
        accepted += await box.deliver(way.attempt, item, may_repeat=True) is None
    assert accepted == most
    assert await box.deliver(way.attempt, ITEM._replace(session="another"), may_repeat=True) is None
    await box.close()


async def test_a_session_that_was_looked_up_has_a_place_while_the_store_stands_still(
    tmp_path: Path, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outbox, "MAX_UNROUTED", 0)
    async with two_workers(tmp_path) as (first, second, store):
        client, other = Posting(http), Posting(http)
        for one in (client, other):
            await one.begin(first)
        await client.call(second, "bell")
        store.is_off = True
        statuses = [(await one.tell(second, id=1, result=FOUR)).status_code for one in (client, other)]
        assert statuses == [202, 503]


@pytest.mark.parametrize(("limit", "value"), [("MAX_MESSAGES", 0), ("MAX_BYTES", 10)])
async def test_no_more_is_accepted_than_there_is_room_for(
    limit: str, value: int, tmp_path: Path, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outbox, limit, value)
    async with two_workers(tmp_path) as (first, second, store):
        client = Posting(http)
        await client.begin(first)
        store.is_off = True
        answer = await client.tell(second, id=1, result=FOUR)
        assert answer.status_code == 503 and "try again" in answer.json()["error"]["message"]


async def test_an_answer_for_a_session_that_is_gone_is_refused(tmp_path: Path, http: httpx2.AsyncClient):
    async with two_workers(tmp_path) as (first, second, _store):
        client = Posting(http)
        await client.begin(first)
        await client.end(first)
        assert (await client.tell(second, id=1, result=FOUR)).status_code == 404


async def test_an_answer_that_comes_twice_counts_once(tmp_path: Path, http: httpx2.AsyncClient):
    """The copy answers no later question, and ends nothing."""
    async with crew("MCPServer", tmp_path) as (first, second, third):
        client = Posting(http)
        await client.begin(first)
        for city in ("Rome", "Oslo"):
            async with client.asking(first, city) as response:
                said = messages(response)
                question = await anext(said)
                for url in (second, third, second):
                    answer = await client.tell(url, id=question["id"], result=FOUR)
                    assert answer.status_code == 202
                with anyio.fail_after(PATIENCE):
                    assert f"4 to {city}" in (await anext(said))["result"]["content"][0]["text"]
