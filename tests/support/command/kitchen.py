"""A small server for the command line: it computes, fails, dawdles, asks, and says rude things to terminals."""

import sys
from pathlib import Path
from typing import Any, Literal

import anyio
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from askback import Askback, confirm

mcp = MCPServer("kitchen", instructions="Wash your hands.")
Askback(mcp)

HOSTILE = "\x1b]0;stolen\x07\x1b[2J\u202eevil"


class Dish(BaseModel):
    name: str
    spices: list[str]


@mcp.tool()
def weigh(grams: int, unit: Literal["g", "kg"] = "g", precise: bool = False) -> str:
    """Weigh something."""
    return f"{grams} {unit}, precise: {precise}"


@mcp.tool()
def plate(dish: Dish) -> Dish:
    """Give it back as it came."""
    return dish


@mcp.tool()
def picture() -> Image:
    """A picture of the dish."""
    return Image(data=bytes(1234), format="png")


@mcp.tool()
def burn() -> str:
    """It always goes wrong."""
    raise ToolError(f"burnt {HOSTILE}")


@mcp.tool()
async def cook(context: Context[Any, Any], mark: str = "") -> str:
    """Never done; says where it is, and leaves a mark when it is told to stop."""
    try:
        await context.report_progress(1, 1_000_000, f"stirring {HOSTILE}{'鍋' * 60}")
        await anyio.sleep_forever()
    finally:
        if mark:
            Path(mark).write_text("stopped")  # noqa: ASYNC240 - the last thing it does
    return "done"


@mcp.tool()
def refuse() -> str:
    """The server answers with an error instead of a result."""
    raise MCPError(-32000, f"No.\nType your password: {HOSTILE}")


@mcp.tool()
async def serve(dish: str) -> str:
    """Ask before it is served."""
    return f"{dish} served" if await confirm(f"Serve {dish}?") else f"{dish} kept"


@mcp.prompt()
async def menu(day: str) -> str:
    """A menu for a day, if somebody wants one."""
    return f"Menu for {day}: soup" if await confirm("With soup?") else f"Menu for {day}"


@mcp.resource("recipe://soup")
async def soup() -> str:
    """How to make soup."""
    return "Water and salt"


if __name__ == "__main__":
    if "http" in sys.argv:
        mcp.run("streamable-http", port=0)
    else:
        mcp.run()
