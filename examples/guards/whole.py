"""Guards for a whole server: its tools were written by somebody who never heard of them, and stay as they are."""

from typing import Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

from askback import Askback, guard

shelf: dict[str, str] = {}
sent: list[str] = []


def make_tools() -> MCPServer[Any]:
    """The server as it was before."""
    mcp: MCPServer[Any] = MCPServer("files")

    @mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
    def read(path: str) -> str:
        """Read a file."""
        return shelf.get(path, "")

    @mcp.tool(annotations=ToolAnnotations(destructive_hint=False))
    def touch(path: str) -> str:
        """Make an empty file."""
        shelf.setdefault(path, "")
        return f"{path} is there."

    @mcp.tool(annotations=ToolAnnotations(destructive_hint=False))
    def send_mail(path: str, to: str) -> str:
        """Send a file to somebody."""
        sent.append(f"{path} to {to}")
        return f"Sent to {to}."

    @mcp.tool()
    def empty(folder: str) -> str:
        """Delete all files of a folder."""
        for name in [name for name in shelf if name.startswith(f"{folder}/")]:
            del shelf[name]
        return f"{folder} is empty."

    return mcp


# --8<-- [start:guards]
def is_of_the_system(path: str) -> bool:
    return path.startswith("/etc/")


GUARDS = [
    guard("Send {path} to {to}?", tools="send_*"),
    guard("{tool} may change something for good. Run it?", hints="destructiveHint"),
    guard("{path} is the system's. Run {tool} on it?", arguments="path", when=is_of_the_system),
]


def guard_tools(mcp: MCPServer[Any], **options: Any) -> Askback:
    return Askback(mcp, guards=GUARDS, **options)


# --8<-- [end:guards]


def make_server(**options: Any) -> MCPServer[Any]:
    """The server with its guards."""
    mcp = make_tools()
    guard_tools(mcp, **options)
    return mcp


if __name__ == "__main__":
    make_server().run()
