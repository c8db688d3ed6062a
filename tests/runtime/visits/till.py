"""The application as a process: `python -m tests.runtime.visits.till FILE ID settle|fail` ends a visit, twice.

It shares the file with the server that asked and nothing else, as a webhook in another worker would.
"""

import json
import sys

import anyio
from mcp.server import MCPServer

from askback import Askback


async def end(file: str, id: str, verb: str) -> None:
    asked = Askback(MCPServer("the same shop"), store=f"sqlite:///{file}")
    first = asked.settle(id, {"amount": 20}) if verb == "settle" else asked.fail(id, "the card was refused")
    sys.stdout.write(json.dumps([await first, await asked.fail(id, "too late")]))
    await asked.store.close()


if __name__ == "__main__":
    _, file, id, verb = sys.argv
    anyio.run(end, file, id, verb)
