"""A first request that a proxy delivers twice is run once. Later rounds are claimed, and need nothing of this."""

import logging
from hashlib import sha256
from typing import TYPE_CHECKING

from askback.errors import RoundRefused
from askback.stores.protocol import Store
from askback.wire.era import Era

if TYPE_CHECKING:
    from askback.server.call import Call

logger = logging.getLogger("askback")

HEADER = "askback-delivery"
"""A proxy gives each request an id here, and sends the same id when it sends the request again to another worker."""

DELIVERY_LIFE = 7200.0
"""Seconds that an id is known: longer than a proxy waits for a worker before it sends a request again."""

DELIVERED_TWICE = (
    "This call was delivered twice, and the worker that got it first may have begun it. Find out what it did before "
    "you call again."
)


def delivery_of(call: "Call") -> str | None:
    """The id of this delivery, where a proxy gives one and nothing else tells copies of a request apart."""
    request = call.ctx.request
    if request is None or call.revision.era is not Era.ROUNDS:
        return None
    return request.headers.get(HEADER)


async def require_first_delivery(id: str, call: "Call", store: Store) -> None:
    """Raises `RoundRefused` for a request that another worker has got before."""
    # With the server's name: one that stands behind another gets the same headers, and may have the same store.
    name = f"{call.server_name}\0{id}".encode("utf-8", "surrogatepass")
    key = f"delivery:{sha256(name).hexdigest()}"
    if not await store.spend(key, until=call.now + DELIVERY_LIFE):
        logger.warning("a request of %s was delivered twice, and is not run again", call.ctx.method)
        raise RoundRefused(DELIVERED_TWICE, "delivered_twice")
