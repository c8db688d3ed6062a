"""Every behaviour runs on every revision and on every host."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp.shared.exceptions import MCPError

from askback.testing import Run, run_tool
from askback.testing.script import Answers
from tests.support.corners import run_on_corners
from tests.support.tool_servers import HOSTS, Body

CORNERS = [
    ("2025-06-18", "MCPServer"),
    ("2025-06-18", "mounted"),
    ("2025-11-25", "Server"),
    ("2025-11-25", "FastMCP"),
    ("2026-07-28", "MCPServer"),
    ("2026-07-28", "FastMCP"),
]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The folders below have hosts of their own."""
    if metafunc.definition.path.parent == Path(__file__).parent:
        run_on_corners(metafunc, CORNERS)


class RunBody(Protocol):
    """Runs a body as the tool of a server, answered by a script."""

    def __call__(self, body: Body, answers: Answers = ..., **options: Any) -> Awaitable[Run]: ...


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return HOSTS[request.param]


@pytest.fixture
def run(revision: str, host: Callable[..., Any]) -> RunBody:
    async def run_body(body: Body, answers: Answers = (), **options: Any) -> Run:
        always_replay = options.pop("always_replay", True)
        server = host(body, **options)
        return await run_tool(server, "t", None, answers, revision=revision, always_replay=always_replay)

    return run_body


async def says(run: Awaitable[Run]) -> str:
    """What a client reads of a call that failed, in its result or instead of one."""
    try:
        ended = await run
    except MCPError as error:
        return str(error)
    assert ended.is_error
    return ended.text
