"""A secretary that reads its user's calendar, which is kept by somebody else."""

from collections.abc import Sequence
from typing import Any

from mcp.server import MCPServer

from askback import Accepted, Askback, Cancelled, Declined, connect, disconnect
from askback.oauth import Provider


class NotTaken(Exception):
    """The calendar has refused the token."""


async def fetch_meeting(token: str) -> str:
    """Stands for the calendar's own interface."""
    if token != "a-good-token":
        raise NotTaken
    return "Tea at four"


# --8<-- [start:provider]
CALENDAR = Provider(
    name="calendar", title="Example Calendar", issuer="https://calendar.example", client_id="secretary"
)


def make_server(providers: Sequence[Provider] = (CALENDAR,), **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("secretary")
    for body in (next_meeting, next_meeting_for_sure, forget_calendar):
        server.add_tool(body)
    Askback(server, providers=providers, **options)
    return server


# --8<-- [end:provider]


# --8<-- [start:first]
async def next_meeting() -> str:
    """What comes next in the calendar."""
    match await connect(
        "calendar", ["calendar.read"], message="To find your next meeting, I read your calendar."
    ):
        case Accepted(token):
            return await fetch_meeting(token.reveal())
        case Declined():
            return "Then look it up yourself."
        case Cancelled():
            return "Ask me again when you have a minute."


# --8<-- [end:first]


# --8<-- [start:reject]
async def next_meeting_for_sure() -> str:
    """A token that the calendar no longer accepts is refreshed; if that fails, the person is asked again."""
    while True:
        token = (await connect("calendar", ["calendar.read"])).or_stop("Then look it up yourself.")
        try:
            return await fetch_meeting(token.reveal())
        except NotTaken:
            await token.reject()


# --8<-- [end:reject]


# --8<-- [start:disconnect]
async def forget_calendar() -> str:
    """Give the tokens back, and forget them."""
    return "Disconnected." if await disconnect("calendar") else "It was not connected."


# --8<-- [end:disconnect]
