"""The payment example, whole: a shop, a pretend bank, and the webhook by which it tells the shop.

askback call "python -m examples.payment" order thing=teapot
python -m examples.payment --http, and then: askback call http://127.0.0.1:8000/mcp order thing=teapot
"""

from argparse import ArgumentParser
from secrets import token_bytes
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from starlette.applications import Starlette
from starlette.routing import Route

from examples.listening import listening
from examples.payment.bank import Bank
from examples.payment.server import Shop, Webhook


# --8<-- [start:stdio]
async def over_stdio(key: bytes) -> None:
    """A server on stdio has no port of its own, so its webhook listens beside the pretend bank."""
    outside = Starlette()
    async with listening(outside) as url:
        shop = Shop(url)
        webhook = Route("/webhook", Webhook(shop.asked, key).receive, methods=["POST"])
        outside.router.routes += [*Bank(webhook=f"{url}/webhook", key=key).routes, webhook]
        await shop.mcp.run_stdio_async()


# --8<-- [end:stdio]


# --8<-- [start:http]
def one_person(_: ServerRequestContext[Any, Any]) -> str:
    """Paying takes no caller. One is named all the same, the same for all who reach this port of this machine, so that
    an order that is asked for again takes up the payment page that was left open."""
    return "the user of this computer"


async def over_http(key: bytes, *, port: int) -> None:
    """The webhook stands beside /mcp."""
    bank = Bank(webhook=f"http://127.0.0.1:{port}/webhook", key=key)
    async with listening(Starlette(routes=bank.routes)) as url:
        shop = Shop(url, caller=one_person)
        shop.mcp.custom_route("/webhook", methods=["POST"])(Webhook(shop.asked, key).receive)
        await shop.mcp.run_streamable_http_async(host="127.0.0.1", port=port)


# --8<-- [end:http]


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m examples.payment")
    parser.add_argument("--http", action="store_true", help="serve HTTP instead of stdio")
    parser.add_argument("--port", type=int, default=8000, help="for HTTP")
    chosen = parser.parse_args()
    key = token_bytes(32)  # the bank and the shop are one program here; else it is agreed upon
    anyio.run(lambda: over_http(key, port=chosen.port) if chosen.http else over_stdio(key))
