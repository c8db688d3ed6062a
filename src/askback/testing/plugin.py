"""Fixtures for pytest, which finds them by itself where askback is installed."""

from collections.abc import Mapping
from typing import Any, Protocol

import pytest

from askback.testing.run import FORMS, REVISIONS, Run, run_tool
from askback.testing.script import Answers


class RunTool(Protocol):
    """`askback.testing.run_tool`, with the revision of the running test."""

    async def __call__(
        self,
        server: Any,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        answers: Answers = (),
        *,
        always_replay: bool = True,
        capabilities: Mapping[str, Any] = FORMS,
    ) -> Run: ...


@pytest.fixture(params=REVISIONS)
def askback_revision(request: pytest.FixtureRequest) -> str:
    """Each protocol revision that can ask; a test with this fixture runs once on each."""
    return request.param


@pytest.fixture
def askback_run_tool(askback_revision: str) -> RunTool:
    """Run a tool on every revision, one after the other."""

    async def run(
        server: Any,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        answers: Answers = (),
        *,
        always_replay: bool = True,
        capabilities: Mapping[str, Any] = FORMS,
    ) -> Run:
        return await run_tool(
            server,
            name,
            arguments,
            answers,
            revision=askback_revision,
            always_replay=always_replay,
            capabilities=capabilities,
        )

    return run
