"""The guarded database as a process of its own, on stdio and over HTTP, with a person behind the agent."""

from pathlib import Path

import pytest

from askback.testing import accept, decline
from tests.examples.guards.test_guarded_sql import HARMLESS, PERSONAL
from tests.support.link_follower import CORNERS, going, running, text_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("revision", "transport"), CORNERS)
async def test_it_serves_an_agent_whose_person_says_no_and_then_yes_to_some(
    database: Path, transport: str, revision: str
):
    answers = [decline(to="main.customers.email"), accept(decision="limit", to="Run this query?")]
    async with (
        running("guarded_sql", transport, "--database", str(database)) as target,
        going(target, revision=revision, answers=answers) as driver,
    ):
        harmless, refused, limited = [
            text_of(await driver.call_tool("query", {"statement": statement}))
            for statement in (HARMLESS, PERSONAL, PERSONAL)
        ]
    assert harmless.startswith("city,customers\nDelft,38")
    assert "the person said no" in refused
    assert limited.startswith("name,email\ncustomer-000001") and limited.count("\n") == 100
    assert [one.action for one in driver.answered] == ["decline", "accept"]
