"""Tools as FastMCP 3 taught to write them, on FastMCP 4, called by its own client."""

from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError

from askback.testing import REVISIONS, accept, decline
from askback.testing.script import Reply
from tests.end_to_end.migrate.guide import SECTIONS
from tests.end_to_end.migrate.running import load, run_as_it_was, run_with_askback, server_in
from tests.end_to_end.migrate.stories import Story
from tests.support.docs_pages import one_line

pytestmark = pytest.mark.anyio


async def on_the_north_shelf(_message: str, response_type: Any, _params: Any, _context: Any) -> Any:
    return response_type(value="north")


async def moved_by(mode: Any, variant: str) -> str:
    options: dict[str, Any] = {} if mode is None else {"mode": mode}
    server = server_in(load("fastmcp3", variant))
    async with Client(server, elicitation_handler=on_the_north_shelf, **options) as client:
        result = await client.call_tool("move_box", {"year": "1848"})
        return f"{client.protocol_version}: {result.data}"


async def test_its_client_speaks_2026_unless_told_otherwise_and_the_tool_fails():
    assert (await moved_by("legacy", "before")).endswith("1848 is on the north shelf.")
    with pytest.raises(ToolError) as caught:
        await moved_by(None, "before")
    assert one_line(str(caught.value)) == SECTIONS["fastmcp3"].quoted[0]


async def test_with_the_line_its_client_is_served_whatever_it_speaks():
    assert await moved_by(None, "line") == "2026-07-28: 1848 is on the north shelf."
    assert await moved_by("legacy", "line") == "2025-11-25: 1848 is on the north shelf."


def shredding(reply: Reply, text: str = "") -> Story:
    return Story(style="fastmcp3", name="shred_box", arguments={"year": "1918"}, answers=[reply], text=text)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_no_line_brings_back_a_form_without_fields(revision: str):
    for variant in ("before", "line"):
        outcome = await run_as_it_was(server_in(load("fastmcp3", variant)), shredding(decline()), revision)
        assert (one_line(outcome.text), outcome.failed) == (SECTIONS["fastmcp3"].quoted[1], True)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_confirm_takes_its_place(revision: str):
    for story in (
        shredding(accept(yes=True), "The papers of 1918 are gone."),
        shredding(decline(), "The papers stay."),
    ):
        run = await run_with_askback(server_in(load("fastmcp3", "after")), story, revision)
        assert run.text == story.text
