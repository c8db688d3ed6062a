"""What a `def` body does, it does on every revision and on every host."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest

from askback.testing import REVISIONS, Run, run_tool
from askback.testing.run import FORMS
from askback.testing.script import Answers
from tests.support.corners import run_on_corners
from tests.sync.servers import HOSTS, Body

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
    run_on_corners(metafunc, CORNERS)


class RunBody(Protocol):
    """Runs a body as the tool of a server, answered by a script."""

    def __call__(self, body: Body, answers: Answers = ..., **options: Any) -> Awaitable[Run]: ...


@pytest.fixture(params=[one for one in REVISIONS if one.startswith("2025")])
def push_revision(request: pytest.FixtureRequest) -> str:
    """The revisions on which a thread waits for the person."""
    return request.param


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return HOSTS[request.param]


@pytest.fixture
def run(revision: str, host: Callable[..., Any]) -> RunBody:
    async def run_body(body: Body, answers: Answers = (), **options: Any) -> Run:
        always_replay = options.pop("always_replay", True)
        capabilities = options.pop("capabilities", FORMS)
        return await run_tool(
            host(body, **options),
            "t",
            None,
            answers,
            revision=revision,
            always_replay=always_replay,
            capabilities=capabilities,
        )

    return run_body
