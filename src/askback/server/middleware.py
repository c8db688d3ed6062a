"""One call, from its request to its end: opens the conversation, runs the body, answers for it where it left."""

import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from askback.carrier import Carrier
from askback.conversation import Conversation, Policy
from askback.current import CURRENT
from askback.errors import AskbackError, AuthorError
from askback.host import Host
from askback.journal.codec import decode, encode
from askback.journal.entries import Journal
from askback.server.adapters.mcp import back_channel, hides_error, output_schema
from askback.wire.era import CONVERSATION_METHODS, TOOLS_CALL, Era, Mode, Revision, modes_of, revision_of
from askback.wire.notices import demands_visits, visits_required
from askback.wire.push import Push
from askback.wire.replay import Replaying
from askback.wire.results import enveloped, error_end, polite_end
from askback.wire.rounds import Rounds, input_required, resume, without_round

logger = logging.getLogger("askback")

Context = ServerRequestContext[Any, Any]


@dataclass(slots=True, kw_only=True)
class Settings:
    """What `Askback(...)` was given, as the middleware needs it."""

    policy: Policy
    clients_can: frozenset[Mode] | None
    clock: Callable[[], float]
    always_replay: bool = False


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
        self.settings = settings

    @cached_property
    def _server_info(self) -> dict[str, Any]:
        # A server's identity is fixed when it is made; the stamp is a deep copy on every access.
        return self._lowlevel.server_info_stamp

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method not in CONVERSATION_METHODS or ctx.request_id is None:
            return await call_next(ctx)
        revision = revision_of(ctx.protocol_version)
        call = Call(ctx, call_next, revision, self.settings.clock())
        return await (self._serve_round(call) if revision.era is Era.ROUNDS else self._serve_push(call))

    async def _serve_round(self, call: Call) -> HandlerResult:
        journal = resume(call.params, call.now)
        if journal is not None:
            call = call._replace(ctx=replace(call.ctx, params=without_round(call.params)))
        carrier = Rounds(revision=call.revision, modes=partial(self._modes, call))
        conversation, result = await self._run(call, carrier, journal or _new_journal())
        if conversation.is_suspended:
            try:
                result = input_required(conversation.journal, carrier.showings, carrier.dialect)
            except AskbackError as error:
                result = self._failure(call, error)
            return self._enveloped(call, result)
        return await self._end(call, conversation, result)

    async def _serve_push(self, call: Call) -> HandlerResult:
        push = Push(revision=call.revision, modes=partial(self._modes, call), channel=back_channel(call.ctx))
        if not self.settings.always_replay:
            conversation, result = await self._run(call, push, _new_journal())
            return await self._end(call, conversation, result)
        replaying, journal = Replaying(push), _new_journal()
        while True:
            conversation, result = await self._run(call, replaying, journal)
            if not conversation.is_suspended:
                return await self._end(call, conversation, result)
            try:
                journal = decode(encode(journal))
            except AskbackError as error:
                return self._enveloped(call, self._failure(call, error))
            replaying.move_into(journal)

    async def _run(
        self, call: Call, carrier: Carrier, journal: Journal
    ) -> tuple[Conversation, HandlerResult]:
        """One pass of the body. A body that left is answered for, however it took its leaving."""
        host = Host()
        policy = self.settings.policy
        conversation = Conversation(journal=journal, carrier=carrier, host=host, policy=policy, now=call.now)
        token = CURRENT.set(conversation)
        try:
            result = await host.run(call.call_next, call.ctx)
            if conversation.told is not None and hides_error(result, str(call.params.get("name"))):
                result = self._enveloped(call, self._failure(call, conversation.told))
            return conversation, result
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if conversation.is_left:
                return conversation, None
            if isinstance(error, MCPError) and call.revision.era is Era.ROUNDS and demands_visits(error):
                return conversation, self._ask_visits(call, error, journal)
            ours = _own_error(error)
            if ours is None:
                raise
            return conversation, self._enveloped(call, self._failure(call, ours))
        finally:
            CURRENT.reset(token)
            conversation.close()

    async def _end(self, call: Call, conversation: Conversation, result: HandlerResult) -> HandlerResult:
        text = conversation.last_words
        if text is None:
            return result
        method, params = call.ctx.method, call.params
        schema = None
        if method == TOOLS_CALL:
            schema = await output_schema(self._lowlevel, call.ctx, str(params.get("name")))
        return self._enveloped(call, polite_end(text, method=method, params=params, output_schema=schema))

    def _ask_visits(self, call: Call, demand: MCPError, journal: Journal) -> dict[str, Any]:
        try:
            modes = self._modes(call)
            result = visits_required(demand, journal, revision=call.revision, modes=modes, now=call.now)
        except AskbackError as error:
            result = self._failure(call, error)
        return self._enveloped(call, result)

    def _failure(self, call: Call, error: AskbackError) -> dict[str, Any]:
        is_authors = isinstance(error, AuthorError)
        level, trace = (logging.ERROR, error) if is_authors else (logging.INFO, None)
        logger.log(level, "%s left uncaught: %s", type(error).__name__, error, exc_info=trace)
        return error_end(error, method=call.ctx.method, revision=call.revision)

    def _enveloped(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return enveloped(result, revision=call.revision, server_info=dict(self._server_info))

    def _modes(self, call: Call) -> frozenset[Mode]:
        declared = call.ctx.session.client_capabilities
        if declared is None and self.settings.clients_can is not None:
            return self.settings.clients_can
        return modes_of(declared)


def _new_journal() -> Journal:
    return Journal(conversation=secrets.token_hex(16))


def _own_error(error: BaseException) -> AskbackError | None:
    """Ours, also out of a task group, which wraps what its tasks raise."""
    if isinstance(error, AskbackError):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    group = cast("BaseExceptionGroup[BaseException]", error)
    return next((ours for inner in group.exceptions if (ours := _own_error(inner)) is not None), None)
