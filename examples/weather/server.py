"""A server that needs a key of yours: typed on a page, kept in the vault, and asked for again when it was wrong."""

from typing import Any

import httpx2
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.exceptions import ToolError
from starlette.requests import Request

from askback import Askback, secret
from askback.pages import Pages
from askback.vault import SecretField


# --8<-- [start:forecast]
def make_server(service: str, *, hint: str = "", **options: Any) -> MCPServer[Any]:
    """`service` is the address of the weather service, `hint` says where people find their key."""
    mcp: MCPServer[Any] = MCPServer("weather")
    Askback(mcp, **options)
    fields = {"key": SecretField(label="API key", hint=hint)}

    @mcp.tool()
    async def forecast(city: str) -> str:
        """Tomorrow's weather; you are asked for your key to the weather service, once."""
        while True:
            answer = await secret("The weather service asks for your key.", "weather key", fields=fields)
            key = answer.or_stop("No forecast without a key.")
            found = await fetch(service, city, key.reveal())
            if found.status_code != 401:
                return found.text
            await key.reject("The weather service does not know it.")

    return mcp


# --8<-- [end:forecast]


# --8<-- [start:fetch]
async def fetch(service: str, city: str, key: str) -> httpx2.Response:
    """Ask the service. Errors of a library may quote what it was given, so none of them goes out as it is."""
    try:
        async with httpx2.AsyncClient(base_url=service) as http:
            found = await http.get("/forecast", params={"city": city}, headers={"X-Api-Key": key.strip()})
            return found if found.status_code == 401 else found.raise_for_status()
    except (httpx2.HTTPError, UnicodeError):
        raise ToolError("The weather service could not be asked.") from None


# --8<-- [end:fetch]


# Over HTTP somebody has to tell callers apart, and visitors too: two ways, for two situations.


# --8<-- [start:one_person]
def for_one_person(url: str) -> dict[str, Any]:
    """For trying it out: whoever reaches this server is taken for the same person, and whoever has the link is let in.

    Said in so many words, because it is right only on loopback, on a machine that is not shared.
    """

    def caller(_: ServerRequestContext[Any, Any]) -> str:
        return "whoever uses this computer"

    return {"caller": caller, "pages": Pages(url=url, accept_anyone=True)}


# --8<-- [end:one_person]


# --8<-- [start:proxy]
def behind_proxy(url: str, header: str) -> dict[str, Any]:
    """Behind a proxy that signs people in, and names them in a header to everything behind it, /mcp and pages alike.

    It must be the only way in, and take that header out of what comes from outside.
    """

    def caller(ctx: ServerRequestContext[Any, Any]) -> str | None:
        return ctx.request.headers.get(header) if ctx.request is not None else None

    async def door(request: Request) -> str | None:
        return request.headers.get(header)

    return {"caller": caller, "pages": Pages(url=url, door=door)}


# --8<-- [end:proxy]
