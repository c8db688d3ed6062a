"""A server to be killed while something runs that was approved: `python -m tests.server.audit.killed ERA FOLDER`."""

import sys
from pathlib import Path

import anyio

from askback import guard
from askback.testing import accept, run_tool
from tests.server.audit.books import mcpserver

REVISIONS = {"push": "2025-11-25", "rounds": "2026-07-28"}


@guard("Remove {path}?")
async def remove(path: str) -> str:
    """Says that it has begun, and never comes back."""
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    await anyio.sleep_forever()
    return path


async def main() -> None:
    _program, era, folder = sys.argv
    books = mcpserver(remove, Path(folder))
    await run_tool(books.server, "t", {"path": "a"}, [accept(yes=True)], revision=REVISIONS[era])


if __name__ == "__main__":
    anyio.run(main)
