"""A server inside an application with a sign-in of its own, in several processes."""

from collections.abc import Sequence
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from starlette.types import ASGIApp

from askback import Askback, wrap

STAFF = {"Bearer token-of-ada": "ada"}


class Employee(SimpleUser):
    """Whom the application around the server lets in."""


class Staff(AuthenticationBackend):
    """Lets in employees, and nobody else."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, Employee]:
        name = STAFF.get(conn.headers.get("authorization", ""))
        if name is None:
            raise AuthenticationError("employees only")
        return AuthCredentials(["staff"]), Employee(name)


async def whoami(ctx: Context[Any, Any]) -> str:
    """Say who is signed in."""
    request: Any = ctx.request_context.request
    return request.user.username


# --8<-- [start:wrap]
def make_app(keys: Sequence[str], store: str) -> ASGIApp:
    """Requests of the 2025 revisions that another worker passes on go through the sign-in here again."""
    server: MCPServer[Any] = MCPServer("bank")
    server.add_tool(whoami)
    Askback(server, keys=keys, store=store)
    tools = server.streamable_http_app()
    app = Starlette(
        routes=[Mount("/tools", tools)],
        middleware=[Middleware(AuthenticationMiddleware, backend=Staff())],
        lifespan=tools.router.lifespan_context,
    )
    return wrap(app)


# --8<-- [end:wrap]
