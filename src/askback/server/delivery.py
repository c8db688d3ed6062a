"""The first request of a call is run once, even if a proxy delivers it twice. Later rounds are claimed instead."""

import json
import logging
from hashlib import sha256
from typing import TYPE_CHECKING

from askback.errors import RoundRefused
from askback.model.store import Store
from askback.protocol.revisions import Era

if TYPE_CHECKING:
    from askback.server.call import Call

logger = logging.getLogger("askback")

HEADER = "askback-delivery"
"""The header in which a proxy gives each request an id, which stays the same when it sends the request again."""

DELIVERY_LIFE = 180.0
"""Seconds that an id is remembered: 60 in which the proxy may send a request again (`proxy_next_upstream_timeout` in
`examples/cluster/nginx.conf`), 60 until a paused worker reads the copy, and 60 for clocks that differ."""

DELIVERED_TWICE = (
    "This call was delivered twice, and the worker that got it first may have begun it. Find out what it did before "
    "you call again."
)


def delivery_of(call: "Call") -> str | None:
    """The id that a proxy gave to this delivery. None if copies of the request are noticed in another way.

    None also if the store reaches only this process: there is no second worker that could get a copy.
    """
    request = call.ctx.request
    if request is None or call.revision.era is not Era.ROUNDS:
        return None
    if getattr(call.context.server.store, "reach", "process") == "process":
        return None
    return request.headers.get(HEADER) or None


async def require_first_delivery(id: str, call: "Call", store: Store) -> None:
    """Raises `RoundRefused` for a request that a worker got before."""
    if not await store.spend(_key(id, call), until=call.context.now + DELIVERY_LIFE):
        logger.warning("a request of %s was delivered twice, and is not run again", call.ctx.method)
        raise RoundRefused(DELIVERED_TWICE, "delivered_twice")


def _key(id: str, call: "Call") -> str:
    """Digest of the whole request, the server and the caller.

    The id alone is not enough: a server that calls another may forward its headers with every call, and both may have
    the same store.
    """
    ctx, server = call.ctx, call.settings.pages.lasting_name
    facts = [server, call.context.caller.name, id, ctx.request_id, ctx.method, dict(ctx.params or {})]
    return f"delivery:{sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()}"
