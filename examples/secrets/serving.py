"""One server, its pages served in each of the ways there are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider
from mcp.server import MCPServer
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.requests import Request

from askback import Askback
from askback.pages import Brand, Pages, SignIn

# --8<-- [start:sign_in]
ISSUER, HERE = "https://id.example", "https://tools.example"

PAGES = Pages(url=HERE, door=SignIn(issuer=ISSUER, client_id="reading-room-pages"))


def make_server(auth: AuthSettings, verifier: TokenVerifier, keys: Sequence[str]) -> MCPServer[Any]:
    """Callers bring tokens of the issuer; visitors of the pages sign in at the same one."""
    server: MCPServer[Any] = MCPServer("reading room", token_verifier=verifier, auth=auth)
    Askback(server, pages=PAGES, keys=keys)
    return server


# --8<-- [end:sign_in]


# --8<-- [start:fastmcp]
def make_fastmcp(auth: AuthProvider, keys: Sequence[str]) -> FastMCP[Any]:
    """Pages of a FastMCP server."""
    server: FastMCP[Any] = FastMCP("reading room", auth=auth)
    Askback(server, pages=PAGES, keys=keys)
    return server


# --8<-- [end:fastmcp]


# --8<-- [start:any]
def mount(server: Server[Any], app: Starlette, keys: Sequence[str]) -> None:
    """A low-level server has no application of its own; any ASGI application takes the pages in one line, and so does
    FastAPI: its FastAPI() is a Starlette."""
    asked = Askback(server, pages=PAGES, keys=keys)
    app.mount("/askback", asked.pages)


# --8<-- [end:any]


# --8<-- [start:claims]
BY_TENANT = Pages(
    url=HERE,
    door=SignIn(issuer=ISSUER, client_id="reading-room-pages", scopes=("openid", "profile")),
    claims=("iss", "tid", "oid"),
)
# --8<-- [end:claims]


# --8<-- [start:function]
async def who_is_there(request: Request) -> Mapping[str, Any] | None:
    """Whoever our own sign-in knows, by the claims of the tokens that callers present; None for a stranger."""
    session = SESSIONS.get(request.cookies.get("session", ""))
    return None if session is None else {"iss": ISSUER, "sub": session}


OWN_SIGN_IN = Pages(url=HERE, door=who_is_there)
# --8<-- [end:function]

SESSIONS: dict[str, str] = {"an-opaque-cookie": "ada"}
"""Stands for the application's own sessions."""


# --8<-- [start:brand]
def in_our_colours(folder: Path) -> Pages:
    """The author's own touch: a name, a picture, a style sheet, a last line."""
    brand = Brand(
        name="Reading room",
        logo=folder / "owl.svg",
        style=folder / "room.css",
        foot="Open on weekdays from nine to five.",
    )
    return Pages(url=HERE, door=who_is_there, brand=brand)


# --8<-- [end:brand]
