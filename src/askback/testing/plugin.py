"""Fixtures that pytest finds by itself if askback is installed."""

from collections.abc import Mapping
from functools import partial
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
    """The protocol revision: a test with this fixture runs once on each that can ask."""
    return request.param


@pytest.fixture
def askback_run_tool(askback_revision: str) -> RunTool:
    """Runs a tool; a test with this fixture runs once on each revision."""
    return partial(run_tool, revision=askback_revision)
