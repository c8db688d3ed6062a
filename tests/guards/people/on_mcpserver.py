"""The errands on the SDK's host: python -m tests.guards.people.on_mcpserver FOLDER [http]"""

import sys
from typing import Any

from mcp.server import MCPServer

from askback import Askback
from tests.guards.people.errands import Errands, served


def make(errands: Errands, **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("errands")
    for function in errands.functions():
        server.add_tool(function)
    Askback(server, **options)
    return server


def main(folder: str, *how: str) -> None:
    errands, options = served(folder)
    server = make(errands, **options)
    if how:
        server.run("streamable-http", port=0)
    else:
        server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
