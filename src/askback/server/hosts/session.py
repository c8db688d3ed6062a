"""The SDK's session in a body: questions of `ctx.elicit()` and `ctx.elicit_url()` go through the conversation.

Both end in `send_request`. There they get what `ask` has: every revision, a reply that fits, and replay. Sessions of
servers without Askback are not changed.
"""

from copy import copy
from typing import Any

from mcp.server.session import ServerSession
from mcp_types import ElicitCompleteNotification, ElicitRequest, RequestId, ServerNotification, ServerRequest

from askback.errors import OutsideConversation
from askback.protocol.elicitation import question_of, reply_of
from askback.protocol.revisions import Era, revision_of
from askback.runtime.conversation import AFTER_THE_END, Conversation
from askback.server.hosts.patches import patch_send_notification, patch_send_request

VERB = "ctx.elicit(...)"


class ConversationSession(ServerSession):
    """A session with the conversation of its request. Only a type: the SDK makes the sessions."""

    askback_conversation: Conversation | None
    """None after the end of a pass, or session and call would keep each other in memory."""


def has_conversation(session: ServerSession) -> bool:
    """Whether this is the session of a call that Askback serves."""
    return hasattr(session, "askback_conversation")


def without_conversation(session: ServerSession) -> ServerSession:
    """A copy of the session without the conversation, for questions that another server asks."""
    plain: Any = copy(session)
    del plain.askback_conversation
    return plain


def intercept_elicitations() -> None:
    """Let the conversation ask the questions that a body sends through its session."""
    patch_send_request(_asking_send)
    patch_send_notification(_announcing_send)


def _asking_send(send: Any) -> Any:
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
        question = conversation.place_elicited(
            question_of(request.params), seconds=request_read_timeout_seconds
        )
        return result_type.model_validate(reply_of(await conversation.ask_placed(question)), by_name=False)

    return send_request


def _announcing_send(send: Any) -> Any:
    async def send_notification(
        self: ConversationSession,
        notification: ServerNotification,
        related_request_id: RequestId | None = None,
    ) -> None:
        """Announce a settled visit only to clients that know the message; on the rounds era they come and ask."""
        is_news = isinstance(notification, ElicitCompleteNotification) and has_conversation(self)
        if is_news and revision_of(self.protocol_version).era is Era.ROUNDS:
            return
        await send(self, notification, related_request_id)

    return send_notification
