"""The same over HTTP, with the SDK's own clients: several at once, in one ledger that verifies."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult

from askback import ask, once
from tests.server.audit.books import HOSTS
from tests.support.call_states import replay
from tests.support.fastmcp_http import fastmcp_served
from tests.support.servers.clients import client_on
from tests.support.servers.http import served

pytestmark = pytest.mark.anyio

SERVED: dict[str, Callable[..., AbstractAsyncContextManager[str]]] = {
    "MCPServer": served,
    "FastMCP": fastmcp_served,
}

CALLS = 6
BOUND = 30.0


def bake() -> str:
    return "baked"


async def order(number: int) -> str:
    """One question and one effect."""
    answer = await ask(f"Cake {number}?", bool)
    return f"{answer.or_stop('No cake.')} {await once('bake', bake)}"


async def agree(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"value": True})


@pytest.mark.parametrize("name", HOSTS)
async def test_calls_side_by_side_are_told_apart(name: str, revision: str, tmp_path: Path):
    books = HOSTS[name](order, tmp_path)
    with anyio.fail_after(BOUND):
        async with (
            SERVED[name](books.server) as url,
            client_on(revision, url, agree) as client,
            anyio.create_task_group() as tasks,
        ):
            for number in range(CALLS):
                tasks.start_soon(client.call_tool, "t", {"number": number})
    entries = await books.entries()
    assert {(entry.caller, entry.revision) for entry in entries} == {(None, revision)}, (
        "nobody tells who calls"
    )
    assert {entry.message for entry in entries if entry.event == "asked"} == {
        f"Cake {number}?" for number in range(CALLS)
    }
    standings = list(replay(entries).values())
    assert [(one.questions, one.effects) for one in standings] == [
        ({"ask-1": "accept"}, {"bake": "done"})
    ] * CALLS
