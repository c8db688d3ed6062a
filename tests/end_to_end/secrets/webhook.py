"""A payment provider's webhook as a process: `python -m tests.end_to_end.secrets.webhook settle STORE ID`."""

import sys

import anyio
from mcp.server import MCPServer

from askback import Askback
from askback.stores import SQLiteStore


async def main(how: str, store: str, id: str) -> None:
    asked = Askback(MCPServer("webhook"), store=SQLiteStore(store))
    is_first = await asked.settle(id, 20) if how == "settle" else await asked.fail(id, "the card was refused")
    await asked.store.close()
    sys.exit(0 if is_first else 1)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3])
