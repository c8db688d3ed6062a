"""One call, from its request to its end: opens the conversation, runs the body, answers for it where it left."""

import logging
from dataclasses import replace
from functools import cached_property, partial
from types import CoroutineType
from typing import Any, cast

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from askback.errors import (
    AskbackError,
    AuthorError,
    OperatorError,
    StoreUnavailable,
    VaultUnavailable,
    own_error,
)
from askback.model.journal_codec import decode, encode
from askback.protocol.elicitation import ROUND_PARAMS, without_round
from askback.protocol.revisions import CONVERSATION_METHODS, TOOLS_CALL, Era
from askback.protocol.server.nested_rounds import asks_by_itself, brings_unasked, nested_round, take_over
from askback.protocol.server.question_events import describe_demanded_visits, describe_round_questions
from askback.protocol.server.raised_visits import demands_visits, visits_required
from askback.protocol.server.replay import ReplayCarrier
from askback.protocol.server.results import (
    Unusable,
    error_end,
    polite_end,
    stamp_result,
    unusable_end,
    validate_result,
)
from askback.protocol.server.round_requests import may_answer_by_hand
from askback.protocol.server.rounds import RoundsCarrier, carries_journal, input_required, resume
from askback.protocol.server.state import STATE, redeemable_until, replace_state
from askback.protocol.server.url_required import UrlRequiredCarrier
from askback.runtime.conversation import Conversation
from askback.runtime.current import CURRENT, EFFECT
from askback.runtime.unawaited import close_unawaited, forgotten_await
from askback.runtime.visit_flow import park_visits
from askback.server.audit import CallAudit
from askback.server.call import Call, Context, ServerSettings
from askback.server.delivery import delivery_of, require_first_delivery
from askback.server.hosts.mcp import output_schema
from askback.server.offload import OFFLOAD_LENGTH, is_handle
from askback.server.returned_questions import prepare_next
from askback.server.round_claims import can_be_mended, is_store_gone, run_once
from askback.server.round_events import NOT_ASKED, describe_unread_replies, emit_all, refusal_in

logger = logging.getLogger("askback")


class Middleware:
    """Sits directly inside the boundary, so it sees the state in the clear and its results are sealed."""

    def __init__(self, lowlevel: Server[Any], settings: ServerSettings) -> None:
        self._lowlevel = lowlevel
        self._settings = settings
        self._named = settings.conversation_ids.assign
        self._converse = self._passes if settings.audit is None else self._recorded

    def __call__(self, ctx: Context, call_next: CallNext) -> "CoroutineType[Any, Any, HandlerResult]":
        """Awaits nothing by itself, and is no layer around a call."""
        if ctx.method not in CONVERSATION_METHODS or ctx.request_id is None:
            return _pass_on(ctx, call_next)
        call = Call(self._settings, ctx)
        if ctx.params is None or ROUND_PARAMS.isdisjoint(ctx.params):
            return self._begin(call, call_next)
        if call.revision.era is Era.ROUNDS and carries_journal(ctx.params):
            return self._next_round(call, call_next)
        if brings_unasked(ctx.params, call.revision):
            return self._without_round(call, call_next)
        return self._begin(call, call_next)

    def _begin(self, call: Call, call_next: CallNext) -> "CoroutineType[Any, Any, HandlerResult]":
        delivery = delivery_of(call)
        if delivery is None:
            return self._converse(call, call_next)
        return self._deliver_once(delivery, call, call_next)

    async def _deliver_once(self, delivery: str, call: Call, call_next: CallNext) -> HandlerResult:
        try:
            await require_first_delivery(delivery, call, self._settings.store)
        except StoreUnavailable as error:
            raise self._unavailable(error) from error
        except MCPError as error:
            await self._tell_refused(call, error)
            raise
        return await self._converse(call, call_next)

    async def _without_round(self, call: Call, call_next: CallNext) -> HandlerResult:
        call.ctx = replace(call.ctx, params=without_round(call.params))
        if call.witness is not None:
            await call.witness.refuse(NOT_ASKED)
        return await self._begin(call, call_next)

    async def _next_round(self, call: Call, call_next: CallNext) -> HandlerResult:
        # The boundary has just made this dictionary, to put the state in the clear into it.
        params = cast("dict[str, Any]", call.ctx.params)
        until = redeemable_until(call.now, self._settings.think_time)
        try:
            if is_handle(params[STATE]):
                await replace_state(params, self._settings.offload.restore)
            resumed = resume(params)
            call.journal = resumed.journal
            converse = partial(self._converse, call, call_next)
            return await run_once(call, self._settings.store, resumed, until, converse)
        except StoreUnavailable as error:
            raise self._unavailable(error) from error
        except MCPError as error:
            await self._tell_refused(call, error)
            raise

    async def _tell_refused(self, call: Call, error: MCPError) -> None:
        """A round that is not run; what a body raises that does run is another matter."""
        reason = refusal_in(error) if call.claim is None else None
        if reason is not None and call.witness is not None:
            await call.witness.refuse(reason)

    async def _recorded(self, call: Call, call_next: CallNext) -> HandlerResult:
        """With a record of it, which stands before anybody learns how it ended."""
        try:
            result = await self._passes(call, call_next)
        except Exception as error:
            if call.recording is not None and not is_store_gone(error):
                await self._write(call, call.recording, is_over=not can_be_mended(error))
            raise
        except BaseException:
            if call.recording is not None:
                await call.recording.flush_cancelled()
            raise
        if call.recording is not None:
            await self._write(call, call.recording, is_over=not asks_by_itself(result))
        return result

    async def _write(self, call: Call, recording: CallAudit, *, is_over: bool) -> None:
        if is_over:
            emit_all(recording, describe_unread_replies(call.journal))
        try:
            await recording.flush()
        except StoreUnavailable as error:
            raise self._unavailable(error) from error

    async def _passes(self, call: Call, call_next: CallNext) -> HandlerResult:
        """Pass after pass of the body, until one is the last of this request."""
        session: Any = call.ctx.session  # the kernel makes it for this request alone: see `Held`
        while True:
            conversation = session.askback_conversation = Conversation(call)
            token = CURRENT.set(conversation)
            effect = EFFECT.set(None) if EFFECT.get() is not None else None
            try:
                result = await call_next(call.ctx)
                _require_awaited(conversation, result)
                if asks_by_itself(result):
                    result = await self._nested(call, result)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001 - also what a body made of being left
                result = None if conversation.is_left else await self._answer_for(call, error)
            finally:
                if conversation.is_begun and not conversation.is_clear:
                    await conversation.clear()
                session.askback_conversation = None
                CURRENT.reset(token)
                if effect is not None:
                    EFFECT.reset(effect)
                conversation.is_over = True
                close_unawaited(conversation)
            if not conversation.is_left:
                return result
            # However the body took its leaving, it is answered for.
            if conversation.last_words is None and isinstance(carrier := call.carrier, RoundsCarrier):
                return await self._ask(call, carrier)
            end = await self._end_of(call, conversation)
            if end is not None:
                return end

    async def _end_of(self, call: Call, conversation: Conversation) -> dict[str, Any] | None:
        """The author's last words, or how a call of the push era ends; None where its body runs once more."""
        if conversation.last_words is not None:
            return await self._stop(call, conversation.last_words)
        try:
            if isinstance(call.carrier, UrlRequiredCarrier) and call.carrier.showings:
                await park_visits(call, call.journal, out=call.carrier.showings)
                demand = call.carrier.demand()
                emit_all(call.witness, describe_demanded_visits(demand, call.carrier.showings))
                raise demand
            if conversation.returned is not None:
                await prepare_next(call, conversation.returned)
            else:
                await self._rehearse(call)
        except AskbackError as error:
            return self._failure(call, error)
        return None

    async def _answer_for(self, call: Call, error: BaseException) -> dict[str, Any]:
        """What the body raised, where it is ours to say; else it goes on."""
        if isinstance(error, MCPError) and call.revision.era is Era.ROUNDS and demands_visits(error):
            return await self._ask_visits(call, error)
        ours = own_error(error)
        if ours is None and isinstance(error, Exception) and not isinstance(error, MCPError):
            ours = forgotten_await(error)
        if ours is None:
            if isinstance(error, MCPError) and demands_visits(error):
                emit_all(call.witness, describe_demanded_visits(error, {}))
            raise error
        return self._failure(call, ours)

    async def _ask(self, call: Call, carrier: RoundsCarrier) -> dict[str, Any]:
        journal = call.journal
        take_over(call.ctx.params, journal)
        try:
            if journal.visits:
                await park_visits(call, journal)
            asked = input_required(await self._named(journal), carrier)
            if (witness := call.witness) is not None:
                emit_all(witness, describe_round_questions(asked, carrier.showings))
            if len(asked[STATE]) > OFFLOAD_LENGTH:
                await self._shelve(call, asked)
        except AskbackError as error:
            return self._failure(call, error)
        return stamp_result(asked, revision=call.revision, server_info=dict(self._server_info))

    async def _shelve(self, call: Call, asked: dict[str, Any]) -> None:
        """A long state stays in the store."""
        await replace_state(asked, partial(self._settings.offload.offload, holder=call.holder))

    async def _nested(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        """A round that is not ours: it gets our state around its own, and so is run once like ours."""
        try:
            await park_visits(call, call.journal)
            journal = await self._named(call.journal)
            asked = nested_round(result, journal, call.client, question_id=call.question_id)
            call.is_by_hand = may_answer_by_hand(call.client)
            emit_all(call.witness, describe_round_questions(asked, {}))
            await self._shelve(call, asked)
            return asked
        except AskbackError as error:
            return self._failure(call, error)

    async def _ask_visits(self, call: Call, demand: MCPError) -> dict[str, Any]:
        take_over(call.ctx.params, call.journal)
        try:
            await park_visits(call, call.journal)
            emit_all(call.recording, describe_unread_replies(call.journal))
            asked = visits_required(
                demand,
                await self._named(call.journal),
                revision=call.revision,
                can_show=call.can_show,
                now=call.now,
                question_id=call.question_id,
            )
            emit_all(call.witness, describe_round_questions(asked, {}))
            await self._shelve(call, asked)
        except AskbackError as error:
            return self._failure(call, error)
        return self._enveloped(call, asked)

    async def _rehearse(self, call: Call) -> None:
        """For a rehearsal on the push era: the journal goes through the same narrows as between rounds."""
        shelf = self._settings.offload
        call.journal = decode(
            await shelf.restore(await shelf.offload(encode(await self._named(call.journal))))
        )
        cast("ReplayCarrier", call.carrier).move_into(call.journal)

    async def _stop(self, call: Call, text: str) -> dict[str, Any]:
        method, params = call.ctx.method, call.params
        schema = None
        if method == TOOLS_CALL:
            schema = await output_schema(self._lowlevel, call.ctx, str(params.get("name")))
        end = polite_end(text, method=method, params=params, output_schema=schema)
        return validate_result(self._enveloped(call, end), method=method, revision=call.revision)

    def _unavailable(self, error: Unusable) -> MCPError:
        what = "store" if isinstance(error, StoreUnavailable) else "vault"
        # Without a traceback, which says nothing more and takes its time where every call meets it.
        logger.error("the %s cannot be used: %s", what, error)
        if (telemetry := self._settings.telemetry) is not None:
            telemetry.count_failure(what)
        return unusable_end(error)

    def _failure(self, call: Call, error: AskbackError) -> dict[str, Any]:
        if isinstance(error, StoreUnavailable | VaultUnavailable):
            raise self._unavailable(error) from error
        if isinstance(error, AuthorError | OperatorError):  # whose move it is reads the log
            logger.error("%s left uncaught", type(error).__name__, exc_info=error)
        else:
            # Without its text, which may repeat what the person wrote.
            logger.info("%s left uncaught in %s", type(error).__name__, call.ctx.method)
        return self._enveloped(call, error_end(error, method=call.ctx.method, revision=call.revision))

    def _enveloped(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return stamp_result(result, revision=call.revision, server_info=dict(self._server_info))

    @cached_property
    def _server_info(self) -> dict[str, Any]:
        # A server's identity is fixed when it is made, and the stamp is a deep copy on every access.
        return self._lowlevel.server_info_stamp


async def _pass_on(ctx: Context, call_next: CallNext) -> HandlerResult:
    return await call_next(ctx)


def _require_awaited(conversation: Conversation, result: HandlerResult) -> None:
    """Refuse the good end of a body that has called a verb and not awaited it; one that failed keeps its own error."""
    if not conversation.unawaited:
        return
    is_failed = isinstance(result, dict) and result.get("isError") is True
    if not is_failed and (error := forgotten_await()) is not None:
        raise error
