"""A client's raw reply to one question, read as far as its shape: action and content."""

import re
from typing import Any, cast

from pydantic_core import from_json, to_json

from askback.model.journal import Action, Arrival, MalformedReply, Reply, ReplyOrigin
from askback.protocol.elicitation import ANSWERED_META_KEY
from askback.schema.size import exceeds_bytes

REFUSED_RESPONSES = "Invalid inputResponses"
"""One sentence for every reply that is none."""

ACTIONS: dict[str, Action] = {"accept": "accept", "decline": "decline", "cancel": "cancel"}

OURS = frozenset({"form", "page", "link"})
"""Channels that are not a client's to name."""

CHANNEL = re.compile(r"[a-z][a-z0-9_-]{0,39}")
"""One word, so that none looks like one of ours and is another."""

MAX_RULE_LENGTH = 200
"""Characters of what a client says of its own side."""

MAX_TIMESTAMP = 1e11
"""Seconds since 1970 that are a time: a few thousand years."""


def read_reply(raw: Any) -> Reply | MalformedReply:
    """Decline and cancel are told by their action alone; whatever else they carry is not looked at."""
    if not isinstance(raw, dict):
        return MalformedReply(code="not_a_reply")
    reply = cast("dict[str, Any]", raw)
    action = reply.get("action")
    known = ACTIONS.get(action) if isinstance(action, str) else None
    if known is None:
        return MalformedReply(code="unknown_action")
    said = _said(reply["_meta"]) if "_meta" in reply else None
    return Reply(known, reply.get("content") if known == "accept" else None, said)


def _said(meta: Any) -> ReplyOrigin | None:
    """The client's own word, and no more of it than can be meant."""
    told = cast("dict[str, object]", meta).get(ANSWERED_META_KEY) if isinstance(meta, dict) else None
    if not isinstance(told, dict):
        return None
    channel, rule, shown = (cast("dict[str, object]", told).get(name) for name in ReplyOrigin._fields)
    return ReplyOrigin(
        channel if isinstance(channel, str) and CHANNEL.fullmatch(channel) and channel not in OURS else None,
        rule[:MAX_RULE_LENGTH] if isinstance(rule, str) else None,
        float(shown) if isinstance(shown, int | float) and 0 <= shown < MAX_TIMESTAMP else None,
    )


def can_travel(arrival: Arrival, *, most_bytes: int) -> bool:
    """Whether a reply that nobody has read yet can be kept in the state: small, flat, and the same when read back."""
    if not isinstance(arrival, Reply) or arrival.content is None:
        return True
    content: object = arrival.content
    if not isinstance(content, dict) or exceeds_bytes(content, most_bytes):
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
