"""A shop that is paid on a page of the bank: the order is booked when the bank says so, and not before.

Here the call books it. A shop that must also book for people whose client has gone away meanwhile books in the webhook.
"""

import hmac
import json
from datetime import timedelta
from typing import Any, Literal

from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import Response

from askback import Accepted, Askback, Cancelled, Declined, TimedOut, once, visit
from askback.errors import StillOpen, VisitFailed, VisitUnknown

Thing = Literal["teapot", "cup"]

PRICES: dict[Thing, int] = {"teapot": 24, "cup": 6}
"""In euro."""

PATIENCE = timedelta(minutes=15)
"""Who has not paid by then is not going to, and the page counts no more."""


class Shop:
    """The server, and its order book."""

    def __init__(self, bank: str, *, patience: timedelta | float = PATIENCE, **options: Any) -> None:
        """`bank` is the address of the payment pages; the options are those of Askback."""
        self.mcp: MCPServer[Any] = MCPServer("shop")
        self.asked = Askback(self.mcp, **options)
        self.orders: list[str] = []
        self._bank, self._patience = bank, patience
        self.mcp.add_tool(self.order)

    # --8<-- [start:order]
    async def order(self, thing: Thing) -> str:
        """Order something; you pay on a page of the bank."""
        euro = PRICES[thing]
        page = f"{self._bank}/pay/{{id}}?euro={euro}&thing={thing}"
        try:
            answer = await visit(f"Pay {euro} euro for a {thing}.", page, timeout=self._patience)
        except StillOpen:
            return "The payment page is still open. Pay there, then ask for the same order again."
        except TimedOut:
            return "Nothing ordered: the time to pay is over, and that page counts no more."
        except VisitFailed as failed:
            return f"Nothing ordered, and nothing paid: {failed.reason}"
        match answer:
            case Accepted({"thing": paid_for, "euro": paid}) if (paid_for, paid) == (thing, euro):
                number = await once("book", self.book, thing)
                return f"Order {number}: a {thing}, paid with {euro} euro."
            case Accepted(other):  # a person who opens a link can change it
                return f"Nothing ordered: something else was paid, {other}. The shop will look into it."
            case Declined():
                return "Nothing ordered, since you do not want to pay."
            case Cancelled():
                return "Nothing ordered yet. Ask again when you like."

    # --8<-- [end:order]

    def book(self, thing: Thing) -> int:
        """Only ever after a payment, and once for each."""
        self.orders.append(thing)
        return len(self.orders)


# --8<-- [start:webhook]
class Webhook:
    """Where the bank says how a payment ended. Who knows the shared key is the bank; the id alone proves nothing."""

    def __init__(self, asked: Askback, key: bytes) -> None:
        self._asked, self._key = asked, key

    async def receive(self, request: Request) -> Response:
        """What is not answered with a 2xx counts for nothing, and the bank does not take the money."""
        body = await request.body()
        signature = hmac.new(self._key, body, "sha256").hexdigest()
        if not hmac.compare_digest(signature, request.headers.get("x-signature", "")):
            return Response(status_code=403)
        try:
            stands = await self._end(json.loads(body))
        except VisitUnknown:
            return Response(status_code=410)
        return Response(status_code=204 if stands else 409)

    async def _end(self, said: dict[str, Any]) -> bool:
        """Banks say things more than once; the first end stands."""
        if said["paid"]:
            return await self._asked.settle(said["id"], {"thing": said["thing"], "euro": said["euro"]})
        return await self._asked.fail(said["id"], said["reason"])


# --8<-- [end:webhook]
