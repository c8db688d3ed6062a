"""What came of the questions of one call, told to whoever made it, also while others run beside it."""

from typing import Any

import anyio
import pytest

from askback.client import AnswerRecord, Driver
from askback.testing import accept
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import JULY, SIZE, Context, Heard, Stranger, asking, done, form, visit

NOVEMBER = "2025-11-25"


def both_ask(revision: str) -> Stranger:
    """Asks as soon as two calls are under way."""
    both = anyio.Event()
    server = Stranger(lambda ctx, heard: ask(ctx, heard), revision=revision)

    async def ask(ctx: Context, heard: Heard) -> dict[str, Any]:
        if "inputResponses" in heard.params:
            return done()
        if len(server.calls) == 2:
            both.set()
        await both.wait()
        if revision == JULY:
            return asking("s", size=form(f"For {heard.params['name']}?"))
        params = {"message": f"For {heard.params['name']}?", "requestedSchema": SIZE}
        await ctx.send_raw_request("elicitation/create", params)
        return done()

    return server


NOTED = {
    JULY: {"soup": ["For soup?"], "stew": ["For stew?"]},
    NOVEMBER: {"soup": ["For soup?", "For stew?"], "stew": ["For soup?", "For stew?"]},
}
"""Before 2026 the wire does not say which call asks."""


@pytest.mark.parametrize("version", NOTED)
async def test_a_call_hears_of_its_own_questions(version: str):
    noted: dict[str, list[AnswerRecord]] = {"soup": [], "stew": []}
    person = ScriptedPerson(lambda asked: accept(size=1))
    async with Driver(both_ask(version).transport(), person) as driver, anyio.create_task_group() as tasks:
        for name, heard in noted.items():
            tasks.start_soon(lambda name, heard: driver.call_tool(name, noted=heard.append), name, heard)
    told = {name: sorted(one.asked.message for one in heard) for name, heard in noted.items()}
    assert told == NOTED[version]
    assert len(driver.answered) == 2


async def test_a_link_that_comes_again_is_told_each_time():
    async def ask(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if heard.params.get("requestState") == "2" else asking(state(heard), pay=visit())

    def state(heard: Heard) -> str:
        return "1" if "requestState" not in heard.params else "2"

    noted: list[AnswerRecord] = []
    async with Driver(Stranger(ask).transport(), ScriptedPerson([accept()])) as driver:
        await driver.call_tool("order", noted=noted.append)
    assert [one.action for one in noted] == ["accept", "accept"]
