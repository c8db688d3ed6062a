"""Many questions on one desk: a tab hears of what changed and of nothing else, however many wait."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2 as httpx
import pytest

from askback.client.desk import DeskPerson
from bench.__main__ import main
from tests.client.turns import make_form
from tests.support.desk import PATIENCE

pytestmark = pytest.mark.anyio

WAITING = 200


def client_of(desk: DeskPerson) -> httpx.AsyncClient:
    """Speaks to the desk as its page does."""
    address = urlsplit(desk.url)
    origin = f"http://{address.netloc}"
    headers = {"authorization": f"Bearer {address.fragment}", "origin": origin}
    return httpx.AsyncClient(base_url=origin, headers=headers, timeout=PATIENCE)


async def changes(lines: AsyncIterator[str]) -> list[dict[str, Any]]:
    """What the next event tells; an empty line is a sign of life."""
    async for line in lines:
        if line:
            return json.loads(line)["changed"]
    raise AssertionError("The watch is over.")


@pytest.mark.verifies("T20")
async def test_of_two_hundred_that_wait_a_tab_hears_of_the_one_that_is_settled():
    with anyio.fail_after(PATIENCE):
        async with DeskPerson() as desk, client_of(desk) as client, anyio.create_task_group() as tasks:
            async with client.stream("GET", "/events") as watch:
                lines = watch.aiter_lines()
                assert json.loads(await anext(lines))["cards"] == []
                for _ in range(WAITING):
                    tasks.start_soon(desk.answer, make_form())
                waiting: list[str] = []
                while len(waiting) < WAITING:
                    waiting += [card["id"] for card in await changes(lines)]
                for card in (
                    waiting[100],
                    waiting[0],
                ):  # the second shows that nothing more came of the first
                    await client.post(f"/cards/{card}/decline", json={})
                    assert [(one["id"], one["outcome"]) for one in await changes(lines)] == [
                        (card, "declined")
                    ]
            tasks.cancel_scope.cancel()


async def test_the_bench_answers_one_of_two_hundred_and_one_of_one(tmp_path: Path):
    written = tmp_path / "bench.json"
    arguments = ["--quick", "--only", "desk/", "--pairs", "2", "--json", str(written)]
    assert await anyio.to_thread.run_sync(main, arguments) == 0
    assert [growth["name"] for growth in json.loads(written.read_text())["growths"]] == ["desk/answer"]
