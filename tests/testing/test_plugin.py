"""The pytest plugin, as it comes with the package: a test of one's own, run on every revision."""

import pytest

pytest_plugins = ["pytester"]

SERVER = """
from mcp.server import MCPServer
from askback import Askback, ask

mcp = MCPServer("hello")
Askback(mcp)

@mcp.tool()
async def hello() -> str:
    return f"Hello {(await ask('Name?', str)).or_stop('nobody')}"
"""

TEST = """
import pytest
from askback.testing import accept, decline
from server import mcp

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

async def test_hello(askback_run_tool):
    run = await askback_run_tool(mcp, "hello", answers=[accept("Ada")])
    assert run.text == "Hello Ada"

async def test_decline(askback_run_tool, askback_revision):
    run = await askback_run_tool(mcp, "hello", None, [decline()], always_replay=False)
    assert run.text == "nobody"
    assert run.asked[0].key == ("ask-1" if askback_revision.startswith("2026") else None)

async def test_wrong_script(askback_run_tool):
    await askback_run_tool(mcp, "hello")
"""


def test_its_fixtures_run_a_test_on_each_revision_and_its_failures_are_readable(pytester: pytest.Pytester):
    pytester.makepyfile(server=SERVER, test_hello=TEST)
    run = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-v")
    run.assert_outcomes(passed=6, failed=3)
    run.stdout.fnmatch_lines(
        [
            "*test_hello[[]2025-06-18] PASSED*",
            "*test_hello[[]2025-11-25] PASSED*",
            "*test_hello[[]2026-07-28] PASSED*",
            "*ScriptMismatch: The server asked 'Name?' (value), and the script has no reply left*",
        ]
    )
