"""A library on FastMCP that asks, beside what FastMCP brings: dependencies, transforms, a cache."""

from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.caching import CallToolSettings, ResponseCachingMiddleware
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import forward
from mcp_types import CallToolRequestParams

from askback import Askback, ask, confirm, once

loans: list[str] = []


def note_loan(title: str) -> int:
    loans.append(title)
    return len(loans)


mcp = FastMCP("library")
Askback(mcp)


@mcp.tool
async def lend(title: str) -> str:
    """Lend a book."""
    if not await confirm(f"Lend {title} for three weeks?"):
        return f"{title} stays on its shelf."
    return f"Loan {await once('lend', note_loan, title)}: {title}"


# --8<-- [start:dependency]
async def reader() -> str:
    """Asked before the body runs; several tools can share it."""
    return (await ask("For which reader?", str, key="reader")).or_stop("Nothing reserved.")


@mcp.tool
async def reserve(title: str, name: str = Depends(reader)) -> str:
    """Reserve a book."""
    return f"{title} is kept for {name}."


# --8<-- [end:dependency]


# --8<-- [start:transform]
async def ask_for_care(title: str) -> ToolResult:
    """One more question in front of a tool that asks."""
    careful = (await ask("This one is rare. Gloves on?", bool, key="gloves")).or_stop("Not lent.")
    return await forward(title=title) if careful else ToolResult("Not without gloves.")


mcp.add_tool(Tool.from_tool(lend, name="lend_rare", transform_fn=ask_for_care))
# --8<-- [end:transform]


# --8<-- [start:middleware]
class AskBeforeRareBooks(Middleware):
    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        title = (context.message.arguments or {}).get("title")
        if title == "First Folio" and not await confirm("This is the First Folio. Go on?", key="folio"):
            raise ToolError("Nothing was done with the First Folio.")
        return await call_next(context)


mcp.add_middleware(AskBeforeRareBooks())
# --8<-- [end:middleware]


# --8<-- [start:cache]
@mcp.tool
def opening_hours(day: str) -> str:
    """When the library is open."""
    return "10 to 18" if day != "Sunday" else "closed"


settings = CallToolSettings(included_tools=["opening_hours"])
mcp.add_middleware(ResponseCachingMiddleware(call_tool_settings=settings))
# --8<-- [end:cache]


if __name__ == "__main__":
    mcp.run()
