"""The SDK's session where a body holds one: what its own calls ask goes through the conversation.

`ctx.elicit()`, `ctx.elicit_url()` and their relatives all end in `send_request`. There they get what `ask` has: every
revision, a reply that fits, and replay. The method is wrapped once, for all sessions; those of other servers pass.
"""

from copy import copy
from functools import lru_cache, wraps
from typing import Any

from mcp.server.session import ServerSession
from mcp_types import ElicitCompleteNotification, ElicitRequest, RequestId, ServerNotification, ServerRequest

from askback.errors import OutsideConversation
from askback.protocol.elicitation import question_of, reply_of
from askback.protocol.revisions import Era, revision_of
from askback.runtime.conversation import AFTER_THE_END, Conversation

VERB = "ctx.elicit(...)"


class ConversationSession(ServerSession):
    """A session with the conversation of its request; a type alone, for the kernel makes the sessions."""

    askback_conversation: Conversation | None
    """None after the end of a pass: it would keep the whole call, which keeps the session."""


def has_conversation(session: ServerSession) -> bool:
    """Whether this is the session of a call that Askback sees to."""
    return hasattr(session, "askback_conversation")


def without_conversation(session: ServerSession) -> ServerSession:
    """The same session without the conversation, for what is not ours to ask."""
    plain: Any = copy(session)
    del plain.askback_conversation
    return plain


@lru_cache(maxsize=1)
def patch_server_session() -> None:
    """Look at what sessions send, from now on."""
    ServerSession.send_request = _asking(ServerSession.send_request)
    ServerSession.send_notification = _telling(ServerSession.send_notification)


def _asking(send: Any) -> Any:
    @wraps(send)
    async def send_request(
        self: ConversationSession,
        request: ServerRequest,
        result_type: Any,
        request_read_timeout_seconds: float | None = None,
        *rest: Any,
        **named: Any,
    ) -> Any:
        if not isinstance(request, ElicitRequest) or not has_conversation(self):
            return await send(self, request, result_type, request_read_timeout_seconds, *rest, **named)
        conversation = self.askback_conversation
        if conversation is None:
            raise OutsideConversation(AFTER_THE_END.format(verb=VERB))
        conversation.require_open(VERB)
        put = conversation.place_elicited(question_of(request.params), seconds=request_read_timeout_seconds)
        return result_type.model_validate(reply_of(await conversation.ask(put)), by_name=False)

    return send_request


def _telling(send: Any) -> Any:
    @wraps(send)
    async def send_notification(
        self: ConversationSession,
        notification: ServerNotification,
        related_request_id: RequestId | None = None,
    ) -> None:
        """Word that a visit is settled goes to clients that know it; on the rounds era they come and ask."""
        is_word = isinstance(notification, ElicitCompleteNotification) and has_conversation(self)
        if is_word and revision_of(self.protocol_version).era is Era.ROUNDS:
            return
        await send(self, notification, related_request_id)

    return send_notification
