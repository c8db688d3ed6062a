"""Settled in another process, which shares a file with the server."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from askback.stores.sqlite import worker
from tests.support.visit_shops import CountingFile, Traveller, in_memory, mcpserver, pay, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


ENDS = {
    "settle": "Accepted(value={'amount': 20})",
    "fail": "What the person was sent to do did not work out: the card was refused",
}


@pytest.mark.parametrize("verb", ENDS)
async def test_a_visit_that_another_process_ends_is_over_here(revision: str, tmp_path: Path, verb: str):
    file = tmp_path / "askback.db"
    shop = mcpserver(pay, store=f"sqlite:///{file}")
    said: list[list[bool]] = []

    async def end(id: str) -> None:
        till = await anyio.run_process(
            [sys.executable, "-m", "tests.runtime.visits.till", str(file), id, verb]
        )
        said.append(json.loads(till.stdout))

    person = Traveller(then=end)
    async with in_memory(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == ENDS[verb]
    assert said == [[True, False]]
    await shop.asked.store.close()


async def test_within_one_process_whoever_waits_is_woken_by_the_end_itself(
    revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The store's own thread looks up to ten times a second what other processes did; here it does not for an hour."""
    monkeypatch.setattr(worker, "MIN_PAUSE", 3600.0)
    monkeypatch.setattr(worker, "MAX_PAUSE", 3600.0)
    store = CountingFile(tmp_path / "askback.db")
    shop = mcpserver(pay, store=store)
    person, texts = Traveller(), list[str]()

    async with in_memory(shop) as target, person.at(revision, target) as client:

        async def call() -> None:
            texts.append(text_of(await client.call_tool("t", {})))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await store.counting.until_waiting()
            assert await shop.asked.settle(person.id, "paid")
    assert texts == ["Accepted(value='paid')"]
    assert store.counting.calls["wait"] == 1
    await store.close()
