"""The office as a program on stdio: a client of a desktop starts one each, and they share what is in ASKBACK_HOME.

Run as `python -m tests.verbs.connect.desktop ISSUER CLIENT_ID PORT AHEAD`.
"""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp.server import MCPServer

from askback import Askback
from askback.oauth import Provider
from askback.pages import Pages
from askback.stores import SQLiteStore
from tests.support.openid.provider import ANSWERING, OpenID
from tests.support.openid.revisions import mode_of
from tests.support.paths import ROOT
from tests.verbs.connect.office import NAME, Clock, tools_of

LEASE = 1.0
"""Seconds after which somebody who was killed is taken for dead: tests do not wait a quarter of a minute."""


def main(issuer: str, client_id: str, port: str, ahead: str) -> None:
    clock = Clock(float(ahead))
    server: MCPServer[Any] = MCPServer("office")
    openid = OpenID(issuer=issuer, client=httpx2.AsyncClient(base_url=issuer, timeout=ANSWERING))
    for tool in (*tools_of(openid), process_id):
        server.add_tool(tool)
    Askback(
        server,
        store=SQLiteStore(Path(os.environ["ASKBACK_HOME"], "office.db"), clock=clock, lease=LEASE),
        pages=Pages(port=int(port)),
        providers=[Provider(name=NAME, client_id=client_id, issuer=issuer)],
        clock=clock,
    )
    server.run()


def process_id() -> int:
    return os.getpid()


@asynccontextmanager
async def desktop(
    provider: Provider, revision: str, callback: ElicitationFnT, *, port: int = 0, ahead: float = 0.0
) -> AsyncGenerator[Client]:
    """A client, and the program that it starts."""
    words = [provider.issuer or "", provider.client_id, str(port), str(ahead)]
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.verbs.connect.desktop", *words],
        cwd=ROOT,
        env=dict(os.environ),
    )
    async with Client(command, mode=mode_of(revision), elicitation_callback=callback) as client:
        yield client


if __name__ == "__main__":
    main(*sys.argv[1:])
