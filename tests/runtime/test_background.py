"""Tasks that a body starts and does not wait for."""

import asyncio

import anyio
import pytest

from askback import ask, once
from askback.testing import Asked, accept, run_tool, silence
from askback.testing.script import Silence
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


async def test_work_that_goes_on_after_the_call_is_left_alone():
    finished = anyio.Event()
    tasks: list[asyncio.Task[None]] = []

    async def later() -> None:
        await once("start", len, "started")
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        finished.set()

    async def body() -> str:
        tasks.append(asyncio.create_task(later()))
        await anyio.lowlevel.checkpoint()
        return str(await ask("Name?", str))

    await run_tool(mcpserver(body), "t", None, [accept("Ada")], revision="2025-11-25", always_replay=False)
    with anyio.fail_after(5):
        await finished.wait()


async def test_a_question_nobody_waits_for_is_withdrawn_with_its_call():
    asked, tasks = anyio.Event(), list[asyncio.Task[object]]()

    async def body() -> str:
        tasks.append(asyncio.create_task(ask("Anybody?", str, key="stray")))
        await asked.wait()
        return "done"

    def reply(_asked: Asked) -> Silence:
        asked.set()
        return silence()

    run = await run_tool(mcpserver(body), "t", None, reply, revision="2025-11-25", always_replay=False)
    assert run.text == "done"
    with anyio.fail_after(5):
        await asyncio.wait(tasks)
    assert tasks[0].cancelled()
