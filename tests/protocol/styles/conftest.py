"""Every behaviour runs on every revision, replayed after every answer and not, and on every host once."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

import pytest

from askback.testing import REVISIONS, Run, run_tool
from askback.testing.run import FORMS
from askback.testing.script import Answers
from tests.protocol.styles.servers import HOSTS, SDK_HOSTS, Body

LATEST = REVISIONS[-1]


class Way(NamedTuple):
    """How a call is made."""

    revision: str
    always_replay: bool = True

    def __str__(self) -> str:
        return f"{self.revision} {'replayed' if self.always_replay else 'straight'}"


WAYS = [
    Way(revision, always_replay)
    for revision in REVISIONS
    for always_replay in (True, False)
    if always_replay or revision != LATEST  # where it is always replayed
]


HOST_OF = dict(zip(WAYS, ["FastMCP", "MCPServer", "Server", "FastMCP", "MCPServer"], strict=True))
"""Every way once, and every host; that each host goes with each way, `tests/server/hosts` shows."""


class RunBody(Protocol):
    """Runs a body as the tool of a server, answered by a script."""

    def __call__(
        self, body: Body, answers: Answers = ..., *, capabilities: Mapping[str, Any] = ..., **options: Any
    ) -> Awaitable[Run]: ...


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=WAYS, ids=str)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return HOSTS[request.param]


@pytest.fixture(params=SDK_HOSTS)
def sdk_host(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return SDK_HOSTS[request.param]


@pytest.fixture
def run(way: Way) -> RunBody:
    """On every host."""
    return _running(way, HOSTS[HOST_OF[way]])


@pytest.fixture
def run_on_sdk(way: Way) -> RunBody:
    """On the two hosts of the SDK."""
    return _running(way, SDK_HOSTS.get(HOST_OF[way]) or SDK_HOSTS["Server"])


def _running(way: Way, make: Callable[..., Any]) -> RunBody:
    async def run_body(
        body: Body, answers: Answers = (), *, capabilities: Mapping[str, Any] = FORMS, **options: Any
    ) -> Run:
        revision, always_replay = way
        return await run_tool(
            make(body, **options),
            "t",
            None,
            answers,
            revision=revision,
            always_replay=always_replay,
            capabilities=capabilities,
        )

    return run_body
