"""A notary whose clients sign on a page of its own, which is no page of Askback."""

from typing import Any

from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from askback import Accepted, Askback, Cancelled, Declined, once, visit
from askback.errors import VisitUnknown


async def file_document(title: str) -> str:
    """Stands for the notary's own register, which gives a number to each document."""
    return f"{len(title)}-{title[:1]}"


async def is_from_our_page(request: Request) -> bool:
    """Stands for the check that only your own page passes: a signature, or a session of somebody signed in."""
    return request.headers.get("x-from") == "notary"


async def is_ours(request: Request) -> bool:
    """Stands for the session of a client of the notary who is signed in, and owes this fee."""
    return request.cookies.get("session") == "a-client"


async def make_checkout(*, visit: str) -> str:
    """Stands for the payment service, which gives the visit back to the webhook when somebody has paid."""
    return f"https://checkout.example/c/pay/cs_test_{visit}"


# --8<-- [start:first]
async def sign(title: str) -> str:
    """Have a document signed."""
    number = await once("file", file_document, title)
    page = f"https://notary.example/documents/{number}?visit={{id}}"
    match await visit(f"Please read and sign {title!r}.", page):
        case Accepted({"signed_on": day}):
            return f"{title} was signed on {day}."
        case Accepted(other):
            return f"{title} is not signed; the notary says {other!r}."
        case Declined():
            return f"{title} is not signed, and is not going to be."
        case Cancelled():
            return f"{title} is not signed yet."


# --8<-- [end:first]


# --8<-- [start:later]
async def register(title: str) -> str:
    """Send somebody to a page and go on without waiting for what they do there."""
    answer = await visit(
        f"You can register {title!r} whenever you like.", "https://notary.example/register/{id}", wait=False
    )
    number = answer.or_stop("Not registered.")
    return f"Under way as {number[:4]}…; ask for its state later."


# --8<-- [end:later]


# --8<-- [start:hook]
def add_hook(server: MCPServer[Any], asked: Askback) -> None:
    """Where the notary's page says that somebody is done."""

    @server.custom_route("/signed/{id}", methods=["POST"])
    async def signed(request: Request) -> Response:
        if not await is_from_our_page(request):
            return Response(status_code=403)
        try:
            stands = await asked.settle(request.path_params["id"], await request.json())
        except VisitUnknown:
            return Response(status_code=410)
        return Response(status_code=204 if stands else 409)


# --8<-- [end:hook]


# --8<-- [start:checkout]
PAGE = "https://notary.example/fees/{id}"


def add_checkout(server: MCPServer[Any]) -> None:
    """The page that PAGE leads to: the link carries an id alone; the checkout's own address is for them alone."""

    @server.custom_route("/fees/{id}", methods=["GET"])
    async def checkout(request: Request) -> Response:
        if not await is_ours(request):
            return Response(status_code=403)
        return RedirectResponse(await make_checkout(visit=request.path_params["id"]), 303)


# --8<-- [end:checkout]


# --8<-- [start:elsewhere]
async def sign_off(id: str, day: str, *, store: str) -> bool:
    """Settle a visit from another process: a worker, a cron job, a console. It needs only the same store."""
    asked = Askback(MCPServer("notary"), store=store)
    try:
        return await asked.settle(id, {"signed_on": day})
    finally:
        await asked.store.close()


# --8<-- [end:elsewhere]


def make_server(**options: Any) -> tuple[MCPServer[Any], Askback]:
    """The notary; the options are those of Askback."""
    server: MCPServer[Any] = MCPServer("notary")
    for body in (sign, register):
        server.add_tool(body)
    asked = Askback(server, **options)
    add_hook(server, asked)
    add_checkout(server)
    return server, asked
