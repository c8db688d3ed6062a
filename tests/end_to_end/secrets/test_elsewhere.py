"""The end of a visit comes from another process than the one that waits for it: a webhook's, or another worker's."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.end_to_end.secrets.scene import MODES, Customer, text_of
from tests.support.secret_shop.process import PATIENCE, ROOT, free_port, shop_at
from tests.support.secret_shop.shop import Plan
from tests.support.secret_shop.visitor import SAVED, Visitor

pytestmark = pytest.mark.slow

WAKING = 2.0
"""Seconds from the end of a visit in one process to the end of the call in another; a tenth of that at rest."""


class Call:
    """One call of a tool, under way in a task of its own."""

    def __init__(self, url: str, revision: str, customer: Customer) -> None:
        self._url, self._revision, self._customer = url, revision, customer
        self._ended = anyio.Event()
        self._said = ""

    async def make(self, tool: str, **arguments: Any) -> None:
        mode = MODES[self._revision]
        async with Client(self._url, mode=mode, elicitation_callback=self._customer) as client:
            self._said = text_of(await client.call_tool(tool, arguments))
            self._ended.set()

    async def said(self) -> str:
        """Soon, or the test fails."""
        with anyio.fail_after(WAKING):
            await self._ended.wait()
        return self._said


@pytest.mark.parametrize("revision", MODES)
@pytest.mark.parametrize(
    ("how", "said"),
    [("settle", "Paid: 20"), ("fail", "the card was refused")],
    ids=["settled", "failed"],
)
async def test_a_webhook_in_another_process_ends_the_wait(how: str, said: str, revision: str, tmp_path: Path):
    plan = Plan(folder=str(tmp_path), port=free_port())

    async def hear_of(url: str) -> None:
        webhook = [
            sys.executable,
            "-m",
            "tests.end_to_end.secrets.webhook",
            how,
            str(plan.store),
            url.rpartition("/")[2],
        ]
        await anyio.run_process(webhook, cwd=ROOT)

    with anyio.fail_after(PATIENCE):
        async with shop_at(plan) as shop, anyio.create_task_group() as tasks:
            customer = Customer(tasks, hear_of)
            call = Call(shop.url, revision, customer)
            tasks.start_soon(call.make, "pay")
            await customer.rests(links=1)
            assert said in await call.said()


@pytest.mark.parametrize("revision", MODES)
async def test_a_key_typed_at_one_worker_wakes_the_call_at_another(revision: str, tmp_path: Path):
    plan = Plan(folder=str(tmp_path), port=free_port())
    other = replace(plan, port=free_port())
    with anyio.fail_after(PATIENCE):
        async with (
            shop_at(plan) as shop,
            shop_at(other),
            Visitor() as visitor,
            anyio.create_task_group() as tasks,
        ):

            async def type_there(url: str) -> None:
                assert await visitor.type(url.replace(str(plan.port), str(other.port)), "a key") == SAVED

            customer = Customer(tasks, type_there)
            call = Call(shop.url, revision, customer)
            tasks.start_soon(partial(call.make, "use", how="well"))
            await customer.rests(links=1)
            assert await call.said() == "5 signs"
