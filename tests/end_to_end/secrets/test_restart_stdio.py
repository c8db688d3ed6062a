"""A program on this machine that is killed while a person is on its page, and started again by its client."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from askback.answers import Accepted
from askback.client import Driver, FinishedCall, VisitAsked, WaitingCall
from tests.end_to_end.secrets.scene import MODES, text_of
from tests.support.secret_shop.process import PATIENCE, ROOT, environment, free_port
from tests.support.secret_shop.shop import Plan
from tests.support.secret_shop.visitor import SAVED, Visitor

pytestmark = [pytest.mark.verifies("R24", "R28"), pytest.mark.slow]

KEY = "a key for the weather"
WELL = f"{len(KEY)} signs"
_, JULY = MODES

CONSENTED = {"secret-1:weather key": Accepted(None)}


@asynccontextmanager
async def program(plan: Plan) -> AsyncGenerator[Driver]:
    """One life of it."""
    command, *words = plan.command
    server = StdioServerParameters(command=command, args=words, cwd=ROOT, env=environment(Path(plan.folder)))
    async with Driver(stdio_client(server), modes={"url"}, label="shop", revision=JULY) as driver:
        yield driver


def kill(plan: Plan) -> None:
    os.kill(int(plan.pid.read_text()), signal.SIGKILL)


async def begun(driver: Driver) -> tuple[WaitingCall, str]:
    waiting = await driver.begin("use", {"how": "well"})
    assert isinstance(waiting, WaitingCall)
    (asked,) = waiting.questions.values()
    assert isinstance(asked, VisitAsked)
    return waiting, asked.url


async def taken_up(driver: Driver, waiting: WaitingCall) -> str:
    ended = await driver.resume(waiting, CONSENTED)
    assert isinstance(ended, FinishedCall)
    return text_of(ended.result)


async def reachable(port: int) -> None:
    """Its pages are there, from the moment that a call needs them."""
    while True:
        try:
            await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
        except OSError:
            await anyio.lowlevel.checkpoint()
        else:
            return


async def test_what_was_typed_before_it_died_is_there_afterwards(tmp_path: Path):
    plan = Plan(folder=str(tmp_path))
    with anyio.fail_after(PATIENCE):
        async with Visitor() as visitor:
            async with program(plan) as driver:
                waiting, link = await begun(driver)
                assert await visitor.type(link, KEY) == SAVED
                kill(plan)
            async with program(plan) as driver:
                assert await taken_up(driver, waiting) == WELL


async def test_a_page_that_was_open_when_it_died_is_opened_again_by_the_same_link(tmp_path: Path):
    """Where the pages have a port of their own. The browser's old cookie is worth nothing then, and not needed."""
    plan, results = Plan(folder=str(tmp_path), local_port=free_port()), list[str]()
    with anyio.fail_after(PATIENCE):
        async with Visitor() as visitor:
            async with program(plan) as driver:
                waiting, link = await begun(driver)
                await visitor.open(link)
                kill(plan)
            async with program(plan) as driver, anyio.create_task_group() as tasks:

                async def take_up() -> None:
                    results.append(await taken_up(driver, waiting))

                tasks.start_soon(take_up)
                await reachable(plan.local_port)
                assert await visitor.type(link, KEY) == SAVED
    assert results == [WELL]


async def test_elsewhere_the_person_is_shown_where_the_page_is_now(tmp_path: Path):
    """A free port is another one after each start, so consent to the old address is none to the new."""
    plan = Plan(folder=str(tmp_path))
    with anyio.fail_after(PATIENCE):
        async with Visitor() as visitor:
            async with program(plan) as driver:
                waiting, link = await begun(driver)
                kill(plan)
            async with program(plan) as driver:
                again = await driver.resume(waiting, CONSENTED)
                assert isinstance(again, WaitingCall)
                (asked,) = again.questions.values()
                assert isinstance(asked, VisitAsked) and asked.url != link
                assert await visitor.type(asked.url, KEY) == SAVED
                assert await taken_up(driver, again) == WELL
