"""An ag2 agent with the tools of an MCP server, whose questions reach a person.

ag2 takes no callback for them: it answers forms of one field with text and declines all else. So the driver makes the
calls, and ag2 gets its tools as functions.
"""

from typing import Any

from ag2 import tool
from ag2.tools.final import FunctionTool
from mcp_types import TextContent, Tool

from askback.client import Driver


# --8<-- [start:tools]
async def tools_of(driver: Driver) -> list[FunctionTool]:
    """What the server offers, for `Agent(tools=...)`."""
    return [as_tool(driver, offered) for offered in await driver.list_tools()]


def as_tool(driver: Driver, offered: Tool) -> FunctionTool:
    named: dict[str, Any] = offered.input_schema.get("properties", {})

    async def call(**given: Any) -> str:
        # ag2 passes its own context along, which is not for the server.
        arguments = {name: value for name, value in given.items() if name in named}
        result = await driver.call_tool(offered.name, arguments)
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            raise RuntimeError(text)
        return text

    return tool(call, name=offered.name, description=offered.description or "", schema=offered.input_schema)


# --8<-- [end:tools]
