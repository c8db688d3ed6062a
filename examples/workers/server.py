"""One server in several processes: whichever worker gets the next round can serve it."""

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext

from askback import Askback, confirm


async def close_account(name: str) -> str:
    """Close an account; its owner is asked."""
    return f"{name} is closed." if await confirm(f"Close the account {name}?") else f"{name} stays."


# --8<-- [start:keys]
def make_server(keys: Sequence[str]) -> MCPServer[Any]:
    """The same on every worker: the same name, the same keys."""
    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(close_account)
    Askback(server, keys=keys, think_time=timedelta(hours=8))
    return server


# --8<-- [end:keys]


# --8<-- [start:caller]
def tenant_and_user(_ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The principal of a call, from the token that the SDK has verified."""
    token = get_access_token()
    return f"{(token.claims or {})['tenant']}/{token.subject}" if token is not None else None


def make_server_for_tenants(keys: Sequence[str]) -> MCPServer[Any]:
    """State that was made for one principal is refused from every other."""
    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(close_account)
    Askback(server, keys=keys, caller=tenant_and_user)
    return server


# --8<-- [end:caller]


# --8<-- [start:main]
if __name__ == "__main__":
    make_server(os.environ["BANK_KEYS"].split()).run("streamable-http", stateless_http=True)
# --8<-- [end:main]
