"""One call, from its request to its end: opens the conversation, runs the body, answers for it where it left."""

import logging
import secrets
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from askback.carrier import Carrier
from askback.conversation import Conversation, Policy
from askback.current import CURRENT, EFFECT
from askback.errors import AskbackError, AuthorError, own_error
from askback.host import Host
from askback.journal.codec import decode, encode
from askback.journal.entries import Journal
from askback.server.adapters.mcp import back_channel, output_schema
from askback.wire.era import CONVERSATION_METHODS, TOOLS_CALL, Era, Mode, Revision, declares, revision_of
from askback.wire.notices import demands_visits, visits_required
from askback.wire.push import Push
from askback.wire.replay import Replaying
from askback.wire.results import enveloped, error_end, polite_end, sieved
from askback.wire.rounds import Rounds, input_required, resume, take_round_from

logger = logging.getLogger("askback")

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `Askback(...)` was given, as the middleware needs it."""

    policy: Policy
    clients_can: frozenset[Mode] | None
    clock: Callable[[], float]


@dataclass(slots=True, kw_only=True)
class Rehearsal:
    """What a test changes for its own calls: see `askback.testing`."""

    always_replay: bool
    seconds_ahead: float = 0.0


REHEARSAL: ContextVar[Rehearsal | None] = ContextVar("askback_rehearsal", default=None)


class Call(NamedTuple):
    """One request as it goes through."""

    ctx: Context
    call_next: CallNext
    revision: Revision
    now: float

    @property
    def params(self) -> Mapping[str, Any]:
        return self.ctx.params or {}


class Middleware:
    """Sits directly inside the boundary, so it sees the state in the clear and its results are sealed."""

    def __init__(self, lowlevel: Server[Any], settings: Settings) -> None:
        self._lowlevel = lowlevel
        self._settings = settings

    @cached_property
    def _server_info(self) -> dict[str, Any]:
        # A server's identity is fixed when it is made; the stamp is a deep copy on every access.
        return self._lowlevel.server_info_stamp

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method not in CONVERSATION_METHODS or ctx.request_id is None:
            return await call_next(ctx)
        revision = revision_of(ctx.protocol_version)
        rehearsal = REHEARSAL.get()
        now = self._settings.clock() + (rehearsal.seconds_ahead if rehearsal is not None else 0.0)
        call = Call(ctx, call_next, revision, now)
        return await (self._serve_round(call) if revision.era is Era.ROUNDS else self._serve_push(call))

    async def _serve_round(self, call: Call) -> HandlerResult:
        journal = resume(call.params, call.now)
        if journal is not None:
            # The boundary has just made this dictionary, to put the state in the clear into it.
            take_round_from(cast("dict[str, Any]", call.params))
        carrier = Rounds(revision=call.revision, can_show=partial(self._can_show, call))
        conversation, result = await self._run(call, carrier, journal or Journal())
        if conversation.is_suspended:
            try:
                result = input_required(_named(conversation.journal), carrier.showings, carrier.dialect)
            except AskbackError as error:
                result = self._failure(call, error)
            return self._enveloped(call, result)
        return await self._end(call, conversation, result)

    async def _serve_push(self, call: Call) -> HandlerResult:
        push = Push(
            revision=call.revision, can_show=partial(self._can_show, call), channel=back_channel(call.ctx)
        )
        rehearsal = REHEARSAL.get()
        if rehearsal is None or not rehearsal.always_replay:
            conversation, result = await self._run(call, push, Journal())
            return await self._end(call, conversation, result)
        replaying, journal = Replaying(push), Journal()
        while True:
            conversation, result = await self._run(call, replaying, journal)
            if not conversation.is_suspended:
                return await self._end(call, conversation, result)
            try:
                journal = decode(encode(_named(journal)))
            except AskbackError as error:
                return self._enveloped(call, self._failure(call, error))
            replaying.move_into(journal)

    async def _run(
        self, call: Call, carrier: Carrier, journal: Journal
    ) -> tuple[Conversation, HandlerResult]:
        """One pass of the body. A body that left is answered for, however it took its leaving."""
        host = Host()
        policy = self._settings.policy
        conversation = Conversation(journal=journal, carrier=carrier, host=host, policy=policy, now=call.now)
        token, effect = CURRENT.set(conversation), EFFECT.set(None)
        try:
            return conversation, await call.call_next(call.ctx)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if conversation.is_left:
                return conversation, None
            if isinstance(error, MCPError) and call.revision.era is Era.ROUNDS and demands_visits(error):
                return conversation, self._ask_visits(call, error, journal)
            ours = own_error(error)
            if ours is None:
                raise
            return conversation, self._enveloped(call, self._failure(call, ours))
        finally:
            if not host.is_clear:
                await host.clear()
            CURRENT.reset(token)
            EFFECT.reset(effect)
            conversation.close()

    async def _end(self, call: Call, conversation: Conversation, result: HandlerResult) -> HandlerResult:
        text = conversation.last_words
        if text is None:
            return result
        method, params = call.ctx.method, call.params
        schema = None
        if method == TOOLS_CALL:
            schema = await output_schema(self._lowlevel, call.ctx, str(params.get("name")))
        end = polite_end(text, method=method, params=params, output_schema=schema)
        return sieved(self._enveloped(call, end), method=method, revision=call.revision)

    def _ask_visits(self, call: Call, demand: MCPError, journal: Journal) -> dict[str, Any]:
        try:
            can_show = partial(self._can_show, call)
            result = visits_required(
                demand, _named(journal), revision=call.revision, can_show=can_show, now=call.now
            )
        except AskbackError as error:
            result = self._failure(call, error)
        return self._enveloped(call, result)

    def _failure(self, call: Call, error: AskbackError) -> dict[str, Any]:
        if isinstance(error, AuthorError):
            logger.error("%s left uncaught", type(error).__name__, exc_info=error)
        else:
            # Without its text, which may repeat what the person wrote.
            logger.info("%s left uncaught in %s", type(error).__name__, call.ctx.method)
        return error_end(error, method=call.ctx.method, revision=call.revision)

    def _enveloped(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return enveloped(result, revision=call.revision, server_info=dict(self._server_info))

    def _can_show(self, call: Call, mode: Mode) -> bool:
        declared = call.ctx.session.client_capabilities
        if declared is None and self._settings.clients_can is not None:
            return mode in self._settings.clients_can
        return declares(declared, mode)


def _named(journal: Journal) -> Journal:
    """The same journal with an id; a call that never leaves the process needs none."""
    journal.conversation = journal.conversation or secrets.token_hex(16)
    return journal
