"""A client's raw reply to one question, read as far as its shape: action and content."""

from typing import Any, cast

from askback.journal.entries import Action, Broken, Reply

ACTIONS: dict[str, Action] = {"accept": "accept", "decline": "decline", "cancel": "cancel"}


def read_reply(raw: Any) -> Reply | Broken:
    """Decline and cancel are told by their action alone; whatever else they carry is not looked at."""
    if not isinstance(raw, dict):
        return Broken(code="not_a_reply")
    reply = cast("dict[str, Any]", raw)
    action = reply.get("action")
    known = ACTIONS.get(action) if isinstance(action, str) else None
    if known is None:
        return Broken(code="unknown_action")
    if known != "accept":
        return Reply(action=known)
    content = reply.get("content")
    return Broken(code="no_content") if content is None else Reply(action="accept", content=content)
