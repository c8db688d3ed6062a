"""A client's raw reply to one question, read as far as its shape: action and content."""

from typing import Any, cast

from pydantic_core import from_json, to_json

from askback.journal.entries import Action, Arrival, Broken, Reply
from askback.schema.weight import outweighs

REFUSED_RESPONSES = "Invalid inputResponses"
"""One sentence for every reply that is none."""

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
    return Reply(action=known, content=reply.get("content")) if known == "accept" else Reply(action=known)


def can_travel(arrival: Arrival, *, most_bytes: int) -> bool:
    """Whether a reply that nobody has read yet can be kept in the state: small, flat, and the same when read back."""
    if not isinstance(arrival, Reply) or arrival.content is None:
        return True
    content: object = arrival.content
    if not isinstance(content, dict) or outweighs(content, most_bytes):
        return False
    if not all(_is_flat(value) for value in cast("dict[str, object]", content).values()):
        return False
    try:
        return from_json(to_json(content)) == content
    except (ValueError, TypeError):
        return False


def _is_flat(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in cast("list[object]", value))
    return not isinstance(value, dict)
