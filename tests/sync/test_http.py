"""Threads that wait for a client over streamable HTTP: what ends a call there sets them free."""

import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import anyio.to_thread
import pytest
from mcp.client import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult

from askback import sync
from tests.support.servers.clients import NOVEMBER, client_on
from tests.support.servers.http import served
from tests.sync.servers import mcpserver

pytestmark = pytest.mark.anyio


class Asking:
    """A body that asks, and a person who never answers."""

    def __init__(self) -> None:
        self.asked, self.ended = anyio.Event(), threading.Event()

    def body(self) -> str:
        try:
            return str(sync.ask("Sure?", bool))
        finally:
            self.ended.set()

    async def think(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.asked.set()
        await anyio.sleep_forever()
        return ElicitResult(action="cancel")

    @asynccontextmanager
    async def called(self, url: str, revision: str) -> AsyncGenerator[anyio.CancelScope]:
        """A client whose person is being asked; the scope is that of its call."""
        async with client_on(revision, url, self.think) as client, anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "t")
            with anyio.fail_after(10):
                await self.asked.wait()
            yield calls.cancel_scope

    async def end(self) -> None:
        with anyio.CancelScope(shield=True):
            assert await anyio.to_thread.run_sync(partial(self.ended.wait, 10))


async def test_a_client_that_cancels_its_call(push_revision: str):
    asking = Asking()
    async with served(mcpserver(asking.body)) as url, asking.called(url, push_revision) as call:
        call.cancel()
        await asking.end()


@pytest.mark.slow  # the SDK gives whoever still runs six seconds
async def test_a_server_that_shuts_down():
    asking = Asking()

    async def call(url: str) -> None:
        with suppress(Exception):  # what its client makes of a lost connection is not our concern here
            async with asking.called(url, NOVEMBER):
                await anyio.sleep_forever()

    async with anyio.create_task_group() as clients:
        async with served(mcpserver(asking.body)) as url:
            clients.start_soon(call, url)
            with anyio.fail_after(10):
                await asking.asked.wait()
        await asking.end()
        clients.cancel_scope.cancel()
