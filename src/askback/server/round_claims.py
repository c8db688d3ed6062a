"""A later round is run once, however often it is delivered: claimed before it runs, and its end kept for its copies."""

import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NoReturn

import anyio
from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import INTERNAL_ERROR, MISSING_REQUIRED_CLIENT_CAPABILITY, ErrorData
from pydantic_core import PydanticSerializationError, from_json, to_json

from askback.errors import CallerUnknown, CannotAsk, RoundForgotten, RoundRefused, StoreUnavailable
from askback.model.journal import Effect
from askback.model.once import is_interrupted
from askback.model.store import EpochChanged, Finished, Granted, Rejected, RunnerDied, Store, Verdict
from askback.protocol.server.events import describe_round
from askback.protocol.server.results import STORE_UNAVAILABLE, VAULT_UNAVAILABLE, error_end
from askback.protocol.server.round_requests import may_answer_by_hand, read_round, require_served
from askback.protocol.server.rounds import ResumedRound, asks_by_itself, judge_lateness, redeemable_until
from askback.runtime.effect_claims import ClaimedRound, EffectClaims, RoundProgress
from askback.runtime.event_log import emit_all
from askback.server.call import Call
from askback.server.telemetry import RoundFate

logger = logging.getLogger("askback")

UNTOLD = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
"""What the copies of a round learn whose body crashed; the crash itself is in the log of the one that ran."""

BY_HAND = "by_hand"
"""Set in the end of a round that went to a client that declares nothing: so may its copies."""


async def run_once(
    call: Call, resumed: ResumedRound, run: Callable[[], Awaitable[HandlerResult]]
) -> HandlerResult:
    """Run this round, or give what it gave when another copy of it ran."""
    journal, server = resumed.journal, call.context.server
    store, epoch = server.store, journal.epoch
    verdict = await store.claim(
        journal.conversation,
        turn=journal.round,
        digest=resumed.digest,
        until=redeemable_until(call.context.now, server.policy.think_time),
        epoch=epoch,
    )
    if (telemetry := call.settings.telemetry) is not None:
        telemetry.count_round(_became(verdict))
    if isinstance(verdict, EpochChanged):
        await _report_loss(call)
    if not isinstance(verdict, Granted):
        return _not_run(verdict, call)
    # Whatever happens, the claim is recorded or released: its copies wait as long as it is neither.
    try:
        await server.conversation_ids.note_epoch(epoch)
        _take_over(verdict, call, resumed)
        result = await run()
    except Exception as error:
        if can_be_mended(error):
            await _release(store, verdict)
        else:
            await _record(store, verdict, _error_as_bytes(error))
        raise
    except BaseException:
        # Cancelled: the next copy may take over.
        await _release(store, verdict)
        raise
    await _record(
        store, verdict, _as_bytes({"result": result, **({BY_HAND: True} if call.is_by_hand else {})})
    )
    return result


def _not_run(verdict: Finished | EpochChanged | Rejected | RunnerDied, call: Call) -> dict[str, Any]:
    match verdict:
        case Finished(end):
            return _given_again(end, call)
        case EpochChanged():
            logger.warning("a round of %s began before the store lost its memory", call.ctx.method)
            raise RoundForgotten
        case Rejected() | RunnerDied():
            logger.warning("a round that was already used came again in %s", call.ctx.method)
            raise RoundRefused


async def _report_loss(call: Call) -> None:
    """Note that this caller was told to find out what happened, if the caller is known."""
    with suppress(CallerUnknown):
        await EffectClaims(call.context).report_loss()
    await call.context.server.conversation_ids.note_loss()


def _became(verdict: Verdict) -> RoundFate:
    match verdict:
        case Granted():
            return "taken_over" if verdict.noted else "run"
        case Finished():
            return "copy"
        case EpochChanged() | Rejected() | RunnerDied():
            return "refused"


def _take_over(claim: Granted, call: Call, resumed: ResumedRound) -> None:
    """Go on from what the worker noted that ran this round before and died: its effects, and when it began."""
    context, begun = call.context, dict[str, Effect]()
    claimed_at, interrupted = context.now, list[str]()
    if claim.noted:
        progress, known = RoundProgress.from_bytes(claim.noted), resumed.journal.effects
        claimed_at = progress.claimed_at
        begun = {key: effect for key, effect in progress.effects.items() if key not in known}
        interrupted = [key for key, effect in begun.items() if is_interrupted(effect)]
        known |= progress.effects
    context.round = ClaimedRound(claim=claim, claimed_at=claimed_at, interrupted=interrupted)
    if context.events is not None:
        emit_all(context.events, describe_round(resumed, begun.values()))
    judge_lateness(resumed, now=claimed_at)


def can_be_mended(error: Exception) -> bool:
    """Whether the same round may go on: the client says what it can do, or the store or the vault is back."""
    if not isinstance(error, MCPError):
        return False
    return (
        is_store_gone(error)
        or error.code == MISSING_REQUIRED_CLIENT_CAPABILITY
        or error.data == VAULT_UNAVAILABLE
    )


def is_store_gone(error: Exception) -> bool:
    return isinstance(error, MCPError) and error.data == STORE_UNAVAILABLE


async def _release(store: Store, claim: Granted) -> None:
    with anyio.CancelScope(shield=True):
        try:
            await store.release(claim)
        except StoreUnavailable:
            logger.exception("a round could not be released; it can be taken over when its lease has passed")


async def _record(store: Store, claim: Granted, end: bytes) -> None:
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
    except PydanticSerializationError:
        return _spelled_out(end)


def _spelled_out(end: dict[str, Any]) -> bytes:
    """Half of a surrogate pair can be spelled by the standard library; what else there is cannot be kept."""
    try:
        return json.dumps(end).encode()
    except (TypeError, ValueError, RecursionError):
        logger.exception("the end of a round cannot be written down; its copies are told no more than that")
        return to_json({"error": [UNTOLD.code, UNTOLD.message, None]})


def _given_again(end: bytes, call: Call) -> dict[str, Any]:
    kept = from_json(end) if b"\\ud" not in end else json.loads(end)
    if "error" in kept:
        _raise(*kept["error"])
    result = kept["result"]
    if asks_by_itself(result) and not (kept.get(BY_HAND) and may_answer_by_hand(call.client)):
        _require_that_it_can_be_shown(result, call)
    return result


def _require_that_it_can_be_shown(result: dict[str, Any], call: Call) -> None:
    """Every request, and so every copy, says for itself what its client can do (R02, R04)."""
    try:
        require_served(read_round(result).input_requests, call.client)
    except CannotAsk as error:
        error_end(error, method=call.ctx.method, revision=call.revision)


def _raise(code: int, message: str, data: Any) -> NoReturn:
    raise MCPError(code, message, data)
