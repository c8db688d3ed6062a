"""A pretend bank, elsewhere as far as the shop knows: a page to pay on, and a call to the shop's webhook."""

import hmac
import json
from html import escape
from typing import Any

import httpx2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A pretend bank</title>
<body style="font: 1.1rem/1.5 system-ui; max-width: 28rem; margin: 4rem auto; padding: 0 1rem">
<h1>A pretend bank</h1>
{text}
"""

ASKING = """<p>Pay {euro} euro for a {thing}?</p>
<form method="post">
<button name="answer" value="pay">Pay</button>
<button name="answer" value="refuse">Have the card refused</button>
</form>"""

ENDED = {
    204: "<p>{said} The shop knows; you can close this page.</p>",
    409: "<p>This order was ended before. No money was taken.</p>",
    410: "<p>The time to pay is over. No money was taken.</p>",
}
"""What the shop's answer means for the person who paid."""


class Bank:
    """Knows of a payment what its link says, and where to report it."""

    def __init__(self, *, webhook: str, key: bytes) -> None:
        self._webhook, self._key = webhook, key

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/pay/{id}", self._show, methods=["GET"]),
            Route("/pay/{id}", self._take, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        asked = {name: escape(value) for name, value in request.query_params.items()}
        return _page(ASKING.format(euro=asked.get("euro", "0"), thing=asked.get("thing", "nothing")))

    async def _take(self, request: Request) -> Response:
        is_paid = (await request.form()).get("answer") == "pay"
        status = await self._tell(
            {
                "id": request.path_params["id"],
                "paid": is_paid,
                "euro": int(request.query_params["euro"]),
                "thing": request.query_params["thing"],
                "reason": "the bank refused the card.",
            }
        )
        said = "Paid." if is_paid else "The card was refused."
        return _page(
            ENDED.get(status, "<p>The shop did not answer. No money was taken.</p>").format(said=said)
        )

    async def _tell(self, what: dict[str, Any]) -> int:
        body = json.dumps(what).encode()
        signature = hmac.new(self._key, body, "sha256").hexdigest()
        async with httpx2.AsyncClient() as http:
            told = await http.post(self._webhook, content=body, headers={"X-Signature": signature})
        return told.status_code


def _page(text: str) -> Response:
    return HTMLResponse(PAGE.format(text=text))
