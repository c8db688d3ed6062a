"""One order, asked in every style, on every host: what the table in docs/reference/styles.md is made from."""

from tests.support.cafe import fastmcp, lowlevel, mcpserver
from tests.support.cafe.order import STYLES, Absent, Cafe

__all__ = ["HOSTS", "STYLES", "Absent"]

HOSTS: dict[str, Cafe] = {
    "MCPServer": mcpserver.cafe,
    "low-level Server": lowlevel.cafe,
    "FastMCP": fastmcp.cafe,
    "FastMCP, mounted": fastmcp.mounted_cafe,
}
"""By the name that the page has for a host: the server whose tool "order" is written in a style."""
