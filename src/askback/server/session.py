"""The session as a body sees it: what the SDK's own calls ask goes through the conversation.

`ctx.elicit()`, `ctx.elicit_url()` and their relatives all end in `send_request`. There they get what `ask` has: every
revision, a reply that fits, and replay.
"""

from copy import copy
from functools import lru_cache
from typing import TypeVar, cast

from mcp.server.session import ServerSession
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ElicitCompleteNotification, ElicitRequest, RequestId, ServerNotification, ServerRequest
from pydantic import BaseModel

from askback.conversation import AFTER_THE_END, Conversation
from askback.errors import OutsideConversation
from askback.wire.elicited import question_of, reply_of
from askback.wire.era import Era, revision_of

ResultT = TypeVar("ResultT", bound=BaseModel)

VERB = "ctx.elicit(...)"


class AskingSession(ServerSession):
    """A session whose questions are asked in the conversation of its request; everything else is as it was."""

    conversation: Conversation | None = None
    """None after the end of a pass: it would keep the whole call, which keeps the session."""
    plain: type[ServerSession] = ServerSession
    """What it was before."""

    async def send_request(
        self,
        request: ServerRequest,
        result_type: type[ResultT],
        request_read_timeout_seconds: float | None = None,
        metadata: ServerMessageMetadata | None = None,
        progress_callback: ProgressFnT | None = None,
    ) -> ResultT:
        if not isinstance(request, ElicitRequest):
            return await super().send_request(
                request, result_type, request_read_timeout_seconds, metadata, progress_callback
            )
        conversation = self.conversation
        if conversation is None:
            raise OutsideConversation(AFTER_THE_END.format(verb=VERB))
        conversation.require_open(VERB)
        put = conversation.put_elicited(question_of(request.params), seconds=request_read_timeout_seconds)
        return result_type.model_validate(reply_of(await conversation.ask(put)), by_name=False)

    async def send_notification(
        self, notification: ServerNotification, related_request_id: RequestId | None = None
    ) -> None:
        """Word that a visit is settled goes to clients that know it; on the rounds era they come and ask."""
        if (
            isinstance(notification, ElicitCompleteNotification)
            and revision_of(self.protocol_version).era is Era.ROUNDS
        ):
            return
        await super().send_notification(notification, related_request_id)


def as_it_was(session: AskingSession) -> ServerSession:
    """The same session without the conversation, for what is not ours to ask."""
    plain = cast("ServerSession", copy(session))
    plain.__class__ = session.plain
    return plain


def asking(session: ServerSession) -> AskingSession:
    """Turn a request's own session into one that asks. The kernel makes it for this request and nobody else."""
    session.__class__ = _asking(type(session))
    return cast("AskingSession", session)


@lru_cache(maxsize=32)
def _asking(kind: type[ServerSession]) -> type[ServerSession]:
    """`AskingSession`, or one that keeps what somebody's own kind of session adds."""
    if kind is ServerSession or issubclass(kind, AskingSession):
        return AskingSession if kind is ServerSession else kind
    return type("AskingSession", (AskingSession, kind), {"plain": kind})
