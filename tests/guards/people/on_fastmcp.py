"""The errands on FastMCP: python -m tests.guards.people.on_fastmcp FOLDER [http]"""

import sys
from typing import Any

from fastmcp import FastMCP

from askback import Askback
from tests.guards.people.errands import Errands, served


def make(errands: Errands, **options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("errands")
    for function in errands.functions():
        server.tool(function)
    Askback(server, **options)
    return server


def main(folder: str, *how: str) -> None:
    errands, options = served(folder)
    server = make(errands, **options)
    if how:
        server.run("http", port=0, show_banner=False)
    else:
        server.run("stdio", show_banner=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
