"""The guides for the SDK's and FastMCP's own clients: each tells the stories of the inn, on both eras."""

from contextlib import suppress
from typing import Literal

import pytest
from fastmcp.exceptions import ToolError
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams, TextContent

from askback.testing import ScriptedPerson, accept
from examples.hosts import on_fastmcp, on_sdk
from examples.hosts.inn import mcp
from examples.hosts.stories import STORIES

pytestmark = pytest.mark.anyio

HOSTS = {"the SDK's client": on_sdk.call, "FastMCP's client": on_fastmcp.call}
Mode = Literal["auto", "legacy"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", STORIES)
async def test_a_guest_is_asked(name: str, host: str, mode: Mode):
    story = STORIES[name]
    person = story.person()
    result = await HOSTS[host](mcp, story.tool, story.arguments, person, mode)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert block.text == story.text
    assert person.visited == story.visits
    person.finish()


@pytest.fixture
def gate() -> MCPServer:
    """A server that lets nobody in before they have been elsewhere."""
    gate, visits = MCPServer("gate"), iter([True])

    @gate.tool()
    async def enter() -> str:
        if next(visits, False):
            visit = ElicitRequestURLParams(message="Sign in", url="https://gate.example/", elicitation_id="g")
            raise UrlElicitationRequiredError([visit])
        return "Welcome."

    return gate


@pytest.mark.verifies("R66")
@pytest.mark.parametrize("host", HOSTS)
async def test_a_demanded_visit_is_made_first(host: str, gate: MCPServer):
    person = ScriptedPerson([accept()])
    result = await HOSTS[host](gate, "enter", {}, person, "legacy")
    assert isinstance(result.content[0], TextContent) and result.content[0].text == "Welcome."
    assert person.visited == ["https://gate.example/"]


@pytest.mark.verifies("R51")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("host", HOSTS)
async def test_a_person_who_cannot_be_shown_links_is_shown_none(host: str, mode: Mode):
    person = ScriptedPerson(modes=frozenset(["form"]))
    # Each host has its own way to say that the call came to nothing.
    with suppress(MCPError, ToolError, ExceptionGroup):
        assert (await HOSTS[host](mcp, "pay", {}, person, mode)).is_error
    assert person.turns == []
