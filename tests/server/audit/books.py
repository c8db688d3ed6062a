"""Servers that keep a ledger in a file, and how a test reads it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fastmcp import FastMCP
from mcp.server import MCPServer

from askback import Askback
from askback.ledger import Ledger, LedgerEntry

KEY = b"a key of the bakery's, for tests"
"""Of 32 bytes."""


class Books(NamedTuple):
    """A server with a ledger."""

    server: Any
    askback: Askback

    @property
    def ledger(self) -> Ledger:
        assert self.askback.ledger is not None
        return self.askback.ledger

    async def entries(self) -> list[LedgerEntry]:
        """All of them, in a ledger that verifies."""
        report = await self.ledger.verify()
        assert report.is_sound, report.problems
        found = [line.entry() async for line in self.ledger.entries()]
        return [entry for entry in found if entry is not None]

    async def told(self, *columns: str) -> list[tuple[Any, ...]]:
        """Some columns of each entry, the event first."""
        return [tuple(getattr(entry, name) for name in ("event", *columns)) for entry in await self.entries()]


def mcpserver(body: Callable[..., Any], path: Path, **options: Any) -> Books:
    """Its tool "t" is `body`."""
    server: MCPServer[Any] = MCPServer("bakery")
    server.add_tool(body, name="t")
    return Books(server, _askback(server, path, options))


def fastmcp(body: Callable[..., Any], path: Path, **options: Any) -> Books:
    server: FastMCP[Any] = FastMCP("bakery")
    server.tool(body, name="t")
    return Books(server, _askback(server, path, options))


def _askback(server: Any, path: Path, options: Mapping[str, Any]) -> Askback:
    given: dict[str, Any] = {"keys": [KEY], "store": f"sqlite:///{path}/askback.db", **options}
    return Askback(server, **given)


Host = Callable[..., Books]

HOSTS: dict[str, Host] = {"MCPServer": mcpserver, "FastMCP": fastmcp}
