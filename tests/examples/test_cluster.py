"""The cluster of the page about workers: it runs as a whole, and the recipe for sticky sessions does what it says."""

import subprocess
import sys
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from askback.client import Driver
from askback.testing import REVISIONS, accept
from askback.testing.person import ScriptedPerson
from examples.cluster.workers import workers
from scripts.services import nginx
from tests.support.paths import ROOT
from tests.support.services import found

pytestmark = [pytest.mark.anyio, pytest.mark.services, pytest.mark.slow]

RECIPES = ROOT / "examples" / "cluster"


def test_one_command_starts_it_and_shows_it_working():
    with found():
        done = subprocess.run(
            [sys.executable, "-m", "examples.cluster"], cwd=ROOT, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Sent 20 euro to Ada") == len(REVISIONS) + 1
    assert "is killed" in done.stdout
    assert "The ledger is as it was written" in done.stdout


async def transfer(url: str) -> dict[str, Any] | None:
    replies = [accept(account="savings"), accept(yes=True)]
    async with Driver(f"{url}/mcp", ScriptedPerson(replies), revision="2025-11-25", patience=5) as driver:
        return (await driver.call_tool("transfer", {"amount": 20, "to": "Ada"})).structured_content


async def test_behind_the_sticky_recipe_sessions_need_nothing_shared():
    # Each keeps its sessions to itself: in its own memory there is nowhere to look who has them.
    alone = {"BANK_KEYS": "k" * 32, "BANK_STORE": "memory:"}
    with found(), workers(3, alone) as them:
        addresses = [f"127.0.0.1:{worker.port}" for worker in them]
        with nginx(addresses, recipe=RECIPES / "sticky.conf") as proxy:
            results = [await transfer(proxy.url) for _ in range(3)]
        with nginx(addresses, recipe=RECIPES / "nginx.conf") as proxy, pytest.raises(MCPError):
            await transfer(proxy.url)
    assert all(result and "Sent 20 euro" in result["result"] for result in results)
