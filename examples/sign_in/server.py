"""A server that acts for you elsewhere: you sign in at an OpenID provider, and it asks there who you are."""

from collections.abc import Sequence
from typing import Any

import httpx2
from mcp.server import MCPServer
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import AnyHttpUrl

from askback import Askback, connect, disconnect
from askback.oauth import Provider
from askback.pages import Pages, SignIn
from askback.vault import Token
from examples.sign_in.tokens import Tokens

# --8<-- [start:whoami]
SCOPES = ["openid", "profile", "email"]


def add_tools(mcp: MCPServer[Any], userinfo: str) -> None:
    """`userinfo` is the address at which the provider tells who somebody is."""

    @mcp.tool()
    async def whoami() -> str:
        """Who you are to the provider; you sign in there, once."""
        while True:
            answer = await connect("account", SCOPES, message="To ask who you are there.")
            token = answer.or_stop("Not signed in.")
            found = await fetch(userinfo, token)
            if found.status_code != 401:
                return f"{found.json()['sub']}, with these scopes: {', '.join(sorted(token.scopes))}"
            await token.reject("The provider does not take this token any more.")

    @mcp.tool()
    async def sign_out() -> str:
        """Give the tokens back and forget them."""
        return "Signed out." if await disconnect("account") else "You were not signed in."


# --8<-- [end:whoami]


async def fetch(userinfo: str, token: Token) -> httpx2.Response:
    """Errors of a library may quote what it was given, so none of them goes out as it is."""
    try:
        async with httpx2.AsyncClient() as http:
            found = await http.get(userinfo, headers={"Authorization": f"Bearer {token.reveal()}"})
            return found if found.status_code == 401 else found.raise_for_status()
    except httpx2.HTTPError:
        raise ToolError("The provider could not be asked.") from None


# --8<-- [start:stdio]
def make_local_server(account: Provider, userinfo: str, *, port: int) -> MCPServer[Any]:
    """On stdio the pages are on this machine. The port is fixed, for the provider knows the callback to the letter:
    http://127.0.0.1:PORT/askback/callback/account"""
    mcp: MCPServer[Any] = MCPServer("profile")
    Askback(mcp, providers=[account], pages=Pages(port=port))
    add_tools(mcp, userinfo)
    return mcp


# --8<-- [end:stdio]


# --8<-- [start:http]
def make_server(
    url: str,
    account: Provider,
    userinfo: str,
    *,
    door: SignIn,
    tokens: Tokens,
    keys: Sequence[str] | None = None,
) -> MCPServer[Any]:
    """Over HTTP callers bring tokens of an authorization server, and visitors of the pages sign in at the same one: the
    same issuer and subject are the same person. The provider knows two addresses by heart: URL/askback/callback/account
    and URL/askback/sign-in/callback."""
    auth = AuthSettings(
        issuer_url=AnyHttpUrl(door.issuer),
        resource_server_url=AnyHttpUrl(tokens.resource),
        validate_token_resource=True,
    )
    mcp: MCPServer[Any] = MCPServer("profile", token_verifier=tokens, auth=auth)
    Askback(mcp, keys=keys, providers=[account], pages=Pages(url=url, door=door))
    add_tools(mcp, userinfo)
    return mcp


# --8<-- [end:http]
