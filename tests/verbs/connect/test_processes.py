"""Several programs of one person that share a vault, and programs that are killed in the middle of a refresh."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from typing import Literal

import anyio
import pytest
from mcp import Client, MCPError

from tests.support.openid.provider import LASTING, OpenID
from tests.support.openid.revisions import REVISIONS
from tests.support.visitor import visitor
from tests.verbs.connect.desktop import desktop
from tests.verbs.connect.office import BASIC, Traveller, calendar, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.strangers]

ALICE = "alice: offline_access openid"
LATER = 2 * LASTING


@pytest.fixture
async def traveller(openid: OpenID) -> AsyncGenerator[Traveller]:
    """Somebody who is connected: an earlier program has seen to it."""
    async with visitor() as alone:
        traveller = Traveller(openid=openid, provider=calendar(openid), visitor=alone)
        async with desktop(traveller.provider, REVISIONS[-1], traveller) as client:
            assert await fetch(client) == ALICE
        yield traveller


async def fetch(client: Client) -> str:
    return text_of(await client.call_tool("fetch", {"scopes": BASIC}))


async def test_programs_that_share_a_vault_refresh_once_at_the_same_moment(
    openid: OpenID, traveller: Traveller
):
    said: list[str] = []

    async def fetch_with(client: Client) -> None:
        said.append(await fetch(client))

    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                desktop(traveller.provider, REVISIONS[-1], traveller, ahead=LATER)
            )
            for _ in range(3)
        ]
        async with openid.holding("before"), anyio.create_task_group() as tasks:
            for client in clients:
                tasks.start_soon(fetch_with, client)
            await openid.until_held()
            await openid.let_go()
    assert said == [ALICE] * 3
    assert len(await openid.refreshes(traveller.provider.client_id)) == 1
    assert len(traveller.links) == 1


@pytest.mark.parametrize(("when", "visits"), [("before", 1), ("after", 2)])
async def test_a_program_killed_while_it_refreshes_costs_a_question_at_worst(
    openid: OpenID, traveller: Traveller, when: Literal["before", "after"], visits: int
):
    """Where the provider had not taken the old refresh token yet, the next program uses it. Where it had, nobody has
    the new one, and the person signs in once more."""

    async def fetch_to_the_death(client: Client) -> None:
        with suppress(MCPError):
            await fetch(client)

    async with (
        desktop(traveller.provider, REVISIONS[-1], traveller, ahead=LATER) as first,
        desktop(traveller.provider, REVISIONS[-1], traveller, ahead=LATER) as second,
    ):
        victim = int(text_of(await first.call_tool("process_id", {})))
        async with openid.holding(when), anyio.create_task_group() as tasks:
            tasks.start_soon(fetch_to_the_death, first)
            await openid.until_held()
            os.kill(victim, signal.SIGKILL)
            await openid.until_abandoned()
        assert await fetch(second) == ALICE
    assert len(traveller.links) == visits
