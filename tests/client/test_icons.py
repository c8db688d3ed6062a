"""Icons that a server names for itself: nothing of ours shows them, so nothing of ours fetches them."""

import socket
from collections.abc import Generator

import pytest
from mcp.server import MCPServer
from mcp_types import Icon

from askback import Askback, confirm
from askback.client import Driver
from askback.testing import ScriptedPerson, accept

pytestmark = pytest.mark.anyio


@pytest.fixture
def bait() -> Generator[socket.socket, None, None]:
    """A listener that would notice whoever fetches an icon from it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def address_of(bait: socket.socket) -> str:
    return f"http://127.0.0.1:{bait.getsockname()[1]}/icon.png"


def icons_at(address: str) -> list[Icon]:
    return [
        Icon(src=source)
        for source in (address, "https://user:word@icons.example/a.svg", "javascript:alert(1)")
    ]


def server_with(icons: list[Icon]) -> MCPServer:
    mcp = MCPServer("inn", icons=icons)
    Askback(mcp)

    @mcp.tool(icons=icons)
    async def leave() -> str:
        return "Gone." if await confirm("Leave?") else "Stayed."

    return mcp


@pytest.mark.verifies("R54")
async def test_no_icon_is_fetched_and_none_reaches_a_person(bait: socket.socket, revision: str):
    icons, person = icons_at(address_of(bait)), ScriptedPerson([accept(yes=True)])
    async with Driver(server_with(icons), person, revision=revision) as driver:
        await driver.list_tools()
        await driver.call_tool("leave")
    (turn,) = person.turns
    assert [icon.src for icon in icons if icon.src in repr(turn.asked)] == []
    with pytest.raises(BlockingIOError):
        bait.accept()
