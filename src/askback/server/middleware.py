"""One call, from its request to its end: opens the conversation, runs the body, answers for it where it left."""

import logging
from dataclasses import replace
from functools import cached_property, partial
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
from askback.model.journal_codec import decode, encode, is_ours
from askback.protocol.elicitation import ROUND_PARAMS, without_round
from askback.protocol.revisions import CONVERSATION_METHODS, TOOLS_CALL, Era
from askback.protocol.server.events import (
    NOT_ASKED,
    describe_demanded_visits,
    describe_round_questions,
    describe_unread_replies,
    refusal_in,
)
from askback.protocol.server.nested_rounds import brings_unasked, nested_round, take_over
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
from askback.protocol.server.rounds import (
    STATE,
    RoundsCarrier,
    asks_by_itself,
    input_required,
    replace_state,
    resume,
)
from askback.protocol.server.url_required import UrlRequiredCarrier
from askback.runtime.context import ServerContext
from askback.runtime.conversation import Conversation
from askback.runtime.current import CURRENT, EFFECT, close_unawaited, forgotten_await
from askback.runtime.event_log import EventLog, emit_all
from askback.runtime.visit_flow import park_visits
from askback.server.call import Call, Context, ServerSettings
from askback.server.delivery import delivery_of, require_first_delivery
from askback.server.hosts.mcp import output_schema
from askback.server.offload import HANDLE, OFFLOAD_LENGTH
from askback.server.returned_questions import prepare_next
from askback.server.round_claims import can_be_mended, is_store_gone, run_once

logger = logging.getLogger("askback")


class Middleware:
    """Sits directly inside the boundary, so it sees the state in the clear and its results are sealed."""

    def __init__(self, lowlevel: Server[Any], settings: ServerSettings, server: ServerContext) -> None:
        self._lowlevel = lowlevel
        self._settings, self._server = settings, server
        self._assign_id = server.conversation_ids.assign
        self._serve = self._run_passes if settings.audit is None else self._run_recorded

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method not in CONVERSATION_METHODS or ctx.request_id is None:
            return await call_next(ctx)
        call, params = Call(self._settings, self._server, ctx), ctx.params
        if params is not None and not ROUND_PARAMS.isdisjoint(params):
            if call.revision.era is Era.ROUNDS and is_ours(params.get(STATE)):
                return await self._run_round(call, call_next)
            if brings_unasked(params, call.revision):
                call.ctx = replace(ctx, params=without_round(params))
                await self._record_refusal(call, NOT_ASKED)
        if ctx.request is not None and (delivery := delivery_of(call)) is not None:
            await self._require_first_delivery(delivery, call)
        return await self._serve(call, call_next)

    async def _require_first_delivery(self, delivery: str, call: Call) -> None:
        try:
            await require_first_delivery(delivery, call, self._server.store)
        except StoreUnavailable as error:
            raise self._unavailable(error) from error
        except MCPError as error:
            await self._record_refused_round(call, error)
            raise

    async def _run_round(self, call: Call, call_next: CallNext) -> HandlerResult:
        # The boundary has just made this dictionary, to put the state in the clear into it.
        params = cast("dict[str, Any]", call.ctx.params)
        context = call.context
        try:
            if params[STATE].startswith(HANDLE):
                await replace_state(params, self._settings.offload.restore)
            resumed = resume(params)
            context.begin_round(resumed.journal)
            return await run_once(call, resumed, partial(self._serve, call, call_next))
        except StoreUnavailable as error:
            raise self._unavailable(error) from error
        except MCPError as error:
            await self._record_refused_round(call, error)
            raise

    async def _record_refused_round(self, call: Call, error: MCPError) -> None:
        """Put on record why a round is not run. What the body of a round raises that is run is another matter."""
        reason = refusal_in(error) if call.context.round is None else None
        if reason is not None:
            await self._record_refusal(call, reason)

    async def _record_refusal(self, call: Call, reason: str) -> None:
        if (audit := self._settings.audit) is not None:
            await audit.record_refused_request(call.ctx, reason, call.context.journal.conversation)

    async def _run_recorded(self, call: Call, call_next: CallNext) -> HandlerResult:
        """Serve the call, and write its events before the client learns how it ended."""
        events = call.context.events
        assert events is not None
        try:
            result = await self._run_passes(call, call_next)
        except Exception as error:
            if not is_store_gone(error):
                await self._write(call, events, is_over=not can_be_mended(error))
            raise
        except BaseException:
            await events.flush_cancelled()
            raise
        await self._write(call, events, is_over=not asks_by_itself(result))
        return result

    async def _write(self, call: Call, events: EventLog, *, is_over: bool) -> None:
        if is_over:
            emit_all(events, describe_unread_replies(call.context.journal))
        try:
            await events.flush()
        except StoreUnavailable as error:
            raise self._unavailable(error) from error

    async def _run_passes(self, call: Call, call_next: CallNext) -> HandlerResult:
        """Run the body, and again where this request answers its questions itself, until the request has its result."""
        while True:
            conversation, result = await self._run_pass(call, call_next)
            if not conversation.is_left:
                return result
            # However the body took its leaving, it is answered for.
            carrier = call.context.carrier if conversation.last_words is None else None
            if isinstance(carrier, RoundsCarrier):
                return await self._ask(call, carrier)
            end = await self._end_of(call, conversation)
            if end is not None:
                return end

    async def _run_pass(self, call: Call, call_next: CallNext) -> tuple[Conversation, HandlerResult]:
        """Run the body once, in a conversation of its own. The result counts only where the body was not left."""
        session: Any = call.ctx.session  # the SDK makes it for this request alone
        takes_returns = call.revision.era is not Era.ROUNDS
        conversation = session.askback_conversation = Conversation(call.context, takes_returns=takes_returns)
        token = CURRENT.set(conversation)
        effect = EFFECT.set(None) if EFFECT.get() is not None else None
        result: HandlerResult = None
        try:
            result = await call_next(call.ctx)
            if conversation.unawaited:
                _require_awaited(result)
            if asks_by_itself(result):
                result = await self._nest(call, result)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - also what a body made of being left
            if not conversation.is_left:
                result = await self._answer_for(call, error)
        finally:
            if conversation.has_leftovers:
                await conversation.clear()
            session.askback_conversation = None
            CURRENT.reset(token)
            if effect is not None:
                EFFECT.reset(effect)
            conversation.is_over = True
            if conversation.unawaited:
                close_unawaited(conversation)
        return conversation, result

    async def _end_of(self, call: Call, conversation: Conversation) -> dict[str, Any] | None:
        """The author's last words, or how a call of the push era ends; None where its body runs once more."""
        if conversation.last_words is not None:
            return await self._stop(call, conversation.last_words)
        try:
            if isinstance(carrier := call.context.carrier, UrlRequiredCarrier) and carrier.questions:
                await park_visits(call.context, out=carrier.questions)
                demand = carrier.demand()
                emit_all(call.context.events, describe_demanded_visits(demand, carrier.questions))
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
                emit_all(call.context.events, describe_demanded_visits(error, {}))
            raise error
        return self._failure(call, ours)

    async def _ask(self, call: Call, carrier: RoundsCarrier) -> dict[str, Any]:
        """End this round with the questions that the carrier has collected."""
        context, params = call.context, call.ctx.params
        if params is not None and STATE in params:
            take_over(params, context.journal)
        try:
            if context.journal.visits:
                await park_visits(context)
            asked = input_required(await self._assign_id(context.journal), carrier, self._server_info)
            if context.events is not None:
                emit_all(context.events, describe_round_questions(asked, carrier.questions))
            if len(asked[STATE]) > OFFLOAD_LENGTH:
                await self._offload(call, asked)
        except AskbackError as error:
            return self._failure(call, error)
        return asked

    async def _offload(self, call: Call, asked: dict[str, Any]) -> None:
        """A long state stays in the store."""
        await replace_state(asked, partial(self._settings.offload.offload, holder=call.context.caller.holder))

    async def _nest(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        """A round that is not ours: it gets our state around its own, and so is run once like ours."""
        try:
            await park_visits(call.context)
            journal = await self._assign_id(call.context.journal)
            asked = nested_round(result, journal, call.client, question_id=call.context.carrier.question_id)
            call.is_by_hand = may_answer_by_hand(call.client)
            emit_all(call.context.events, describe_round_questions(asked, {}))
            await self._offload(call, asked)
            return asked
        except AskbackError as error:
            return self._failure(call, error)

    async def _ask_visits(self, call: Call, demand: MCPError) -> dict[str, Any]:
        take_over(call.ctx.params, call.context.journal)
        try:
            await park_visits(call.context)
            emit_all(call.context.events, describe_unread_replies(call.context.journal))
            asked = visits_required(
                demand,
                await self._assign_id(call.context.journal),
                revision=call.revision,
                modes=call.client.modes,
                now=call.context.now,
                question_id=call.context.carrier.question_id,
            )
            emit_all(call.context.events, describe_round_questions(asked, {}))
            await self._offload(call, asked)
        except AskbackError as error:
            return self._failure(call, error)
        return self._stamp(call, asked)

    async def _rehearse(self, call: Call) -> None:
        """In a rehearsal on the push era, the journal is written down and read back as it is between rounds."""
        offload = self._settings.offload
        state = encode(await self._assign_id(call.context.journal))
        call.context.begin_round(decode(await offload.restore(await offload.offload(state))))
        cast("ReplayCarrier", call.context.carrier).move_into(call.context.journal)

    async def _stop(self, call: Call, text: str) -> dict[str, Any]:
        method, params = call.ctx.method, call.ctx.params or {}
        schema = None
        if method == TOOLS_CALL:
            schema = await output_schema(self._lowlevel, call.ctx, str(params.get("name")))
        end = polite_end(text, method=method, params=params, output_schema=schema)
        return validate_result(self._stamp(call, end), method=method, revision=call.revision)

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
        return self._stamp(call, error_end(error, method=call.ctx.method, revision=call.revision))

    def _stamp(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return stamp_result(result, revision=call.revision, server_info=dict(self._server_info))

    @cached_property
    def _server_info(self) -> dict[str, Any]:
        # A server's identity is fixed when it is made, and the stamp is a deep copy on every access.
        return self._lowlevel.server_info_stamp


def _require_awaited(result: HandlerResult) -> None:
    """Refuse the good end of a body that has called a verb and not awaited it; one that failed keeps its own error."""
    is_failed = isinstance(result, dict) and result.get("isError") is True
    if not is_failed and (error := forgotten_await()) is not None:
        raise error
