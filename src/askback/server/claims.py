"""A later round is run once, however often it is delivered: claimed before it runs, and its end kept for its copies."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import anyio
from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import INTERNAL_ERROR, ErrorData
from pydantic_core import PydanticSerializationError, from_json, to_json

from askback.errors import RoundRefused
from askback.server.call import Call
from askback.server.keeping import effects_from_bytes
from askback.stores.protocol import Done, Lost, Mine, Refused, Store

logger = logging.getLogger("askback")

UNTOLD = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
"""What the copies of a round learn whose body crashed; the crash itself is in the log of the one that ran."""


async def run_once(
    call: Call, store: Store, digest: str, until: float, run: Callable[[], Awaitable[HandlerResult]]
) -> HandlerResult:
    """Run this round, or give what it gave when another copy of it ran."""
    journal = call.journal
    match await store.claim(journal.conversation, turn=journal.round, digest=digest, until=until):
        case Mine() as claim:
            call.claim = claim
            if claim.noted:
                journal.effects |= effects_from_bytes(claim.noted)
            return await _run(store, claim, run)
        case Done(end):
            return _given_again(end)
        case Refused() | Lost():
            logger.warning("a round that was already used came again in %s", call.ctx.method)
            raise RoundRefused


async def _run(store: Store, claim: Mine, run: Callable[[], Awaitable[HandlerResult]]) -> HandlerResult:
    try:
        result = await run()
    except Exception as error:
        await _record(store, claim, _error_as_bytes(error))
        raise
    except BaseException:
        # Cancelled: the next copy may take over.
        with anyio.CancelScope(shield=True):
            await store.release(claim)
        raise
    await _record(store, claim, _as_bytes({"result": result}))
    return result


async def _record(store: Store, claim: Mine, end: bytes) -> None:
    """Also where we are cancelled meanwhile: the round has run, and its copies must learn how it ended."""
    try:
        is_kept = await store.record(claim, end)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await store.record(claim, end)
        raise
    if not is_kept:
        logger.warning("a round took so long that another worker ran it again; its own end was not kept")


def _error_as_bytes(error: Exception) -> bytes:
    told = handler_exception_to_error_data(error) or UNTOLD
    return _as_bytes({"error": [told.code, told.message, told.data]})


def _as_bytes(end: dict[str, Any]) -> bytes:
    try:
        return to_json(end)
    except PydanticSerializationError:  # half of a surrogate pair, which the standard library can spell
        return json.dumps(end).encode()


def _given_again(end: bytes) -> dict[str, Any]:
    kept = from_json(end) if b"\\ud" not in end else json.loads(end)
    if "error" in kept:
        _raise(*kept["error"])
    return kept["result"]


def _raise(code: int, message: str, data: Any) -> NoReturn:
    raise MCPError(code, message, data)
