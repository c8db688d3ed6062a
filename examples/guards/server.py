"""A small file server that asks before it hurts: one guard for each way to write one."""

from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from mcp.server import MCPServer

from askback import Askback, guard

SAFE = PurePosixPath("/scratch")

shelf: dict[str, str] = {}
"""The files: path and text."""

sent: list[str] = []


def make_server(**options: Any) -> MCPServer[Any]:
    """Files in memory: no file on the disk is touched."""
    mcp: MCPServer[Any] = MCPServer("files")
    Askback(mcp, **options)

    # --8<-- [start:delete]
    @mcp.tool()
    @guard("Delete {path}?")
    async def delete(path: str, recursive: bool = False) -> str:
        """Delete a file, or with `recursive` a folder."""
        gone = [name for name in shelf if name == path or (recursive and name.startswith(f"{path}/"))]
        for name in gone:
            del shelf[name]
        return f"{len(gone)} deleted."

    # --8<-- [end:delete]

    # --8<-- [start:when]
    def is_precious(path: str) -> bool:
        return path in shelf and not PurePosixPath(path).is_relative_to(SAFE)

    def in_words(path: str, text: str) -> str:
        return f"Write {len(text)} characters over the {len(shelf[path])} that {path} has now?"

    @mcp.tool()
    @guard(when=is_precious, say=in_words)
    async def write(path: str, text: str) -> str:
        """Write a file; a new one, or one below /scratch, without a question."""
        shelf[path] = text
        return f"{path} has {len(text)} characters."

    # --8<-- [end:when]

    # --8<-- [start:offers]
    @mcp.tool()
    @guard("Send {path} to {to}?", offers=["conversation", timedelta(hours=1)], key="{to}")
    async def send(path: str, to: str) -> str:
        """Send a file to somebody."""
        sent.append(f"{path} to {to}")
        return f"Sent to {to}."

    # --8<-- [end:offers]

    # --8<-- [start:helper]
    @guard("Send {count} files to {to}?", offers=["conversation"])
    async def send_all(count: int, to: str) -> None:
        sent.append(f"{count} files to {to}")

    @mcp.tool()
    async def share(to: str) -> str:
        """Send everything to somebody; what is asked is asked when it is known how much that is."""
        await send_all(len(shelf), to)
        return f"Shared with {to}."

    # --8<-- [end:helper]

    # --8<-- [start:even_if]
    @mcp.tool()
    @guard("Tidy {folder} up?", timeout=timedelta(minutes=5), even_if=["timed out", "cannot ask"])
    async def tidy(folder: str) -> str:
        """Sort a folder. That does little harm, so it also runs without an answer."""
        return f"{folder} is tidy."

    # --8<-- [end:even_if]

    return mcp


if __name__ == "__main__":
    make_server().run()
