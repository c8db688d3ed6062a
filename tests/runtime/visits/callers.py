"""Who calls, told by a header; and a caller whose client shows links and sends each round of 2026-07-28 by hand."""

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from tests.support.raw_http import META, Posting
from tests.support.visit_shops import LINKS, id_in

WHO = "x-who"


def caller(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Who calls, by a header; nobody in memory."""
    return None if ctx.request is None else ctx.request.headers.get(WHO) or None


class Sender(Posting):
    """Somebody of that name; what is to be sent again is for the test to say."""

    def __init__(self, url: str, who: str) -> None:
        super().__init__(url, {WHO: who})

    async def call(self, arguments: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        meta = {**META, "io.modelcontextprotocol/clientCapabilities": LINKS}
        return await super().call(arguments, _meta=meta, **fields)


def agreed(first: Mapping[str, Any]) -> dict[str, Any]:
    """The round after that one: the person has agreed to go."""
    return {"requestState": first["requestState"], "inputResponses": {"link-1": {"action": "accept"}}}


def linked_id(result: Mapping[str, Any]) -> str:
    """Of the visit that a round asks for."""
    return id_in(result["inputRequests"]["link-1"]["params"]["url"])
