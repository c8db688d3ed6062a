"""A form, a person, and the places where a body can ask."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from fastmcp import FastMCP
from mcp.server.elicitation import render_elicitation_schema
from mcp_types import ElicitRequest, ElicitRequestFormParams
from pydantic import BaseModel

from askback.testing import Asked, Run, accept, get_prompt, raw, read_resource, run_tool
from askback.testing.script import Reply

LINKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a client declares that can show both."""


class Order(BaseModel):
    """What most of the tests ask for."""

    drink: Literal["tea", "coffee"]
    sugar: int = 0


def question(message: str) -> ElicitRequest:
    """The same form, in the protocol's own words."""
    schema = render_elicitation_schema(Order)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def tea(asked: Asked) -> Reply:
    """Somebody who takes tea, and opens every link."""
    return raw({"action": "accept"}) if asked.mode == "url" else accept(drink="tea")


def serve(mcp: FastMCP[Any], body: Callable[..., Awaitable[str]]) -> None:
    """The body as a tool, a prompt and a resource."""
    mcp.tool(body, name="order")
    mcp.prompt(body, name="order")
    mcp.resource("cafe://order")(body)


async def call_tool(mcp: FastMCP[Any], **options: Any) -> Run:
    return await run_tool(mcp, "order", **options)


async def ask_for_prompt(mcp: FastMCP[Any], **options: Any) -> Run:
    return await get_prompt(mcp, "order", **options)


async def read(mcp: FastMCP[Any], **options: Any) -> Run:
    return await read_resource(mcp, "cafe://order", **options)


Call = Callable[..., Awaitable[Run]]

EVERYWHERE: dict[str, Call] = {"tool": call_tool, "prompt": ask_for_prompt, "resource": read}
"""How a body is reached that was served."""
