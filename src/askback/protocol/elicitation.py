"""Questions in the protocol's own words, as the SDK's calls and returned rounds have them, and back."""

import secrets
from collections.abc import Mapping
from typing import Any

from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.model.question import Question, Visit
from askback.schema.host_form import host_form_of

ELICIT = "elicitation/create"
"""The request that asks a person."""

ELICIT_COMPLETE = "notifications/elicitation/complete"
"""The notification that a visit is finished."""

ANSWERED_META_KEY = "askback/answered"
"""Where a reply says how it came about: the client's word, and never about the person."""

ROUND_PARAMS = frozenset({"inputResponses", "requestState"})
"""What a call brings only where it is a later round."""


def without_round(params: Mapping[str, Any]) -> dict[str, Any]:
    """A call as it was first made."""
    return {name: value for name, value in params.items() if name not in ROUND_PARAMS}


def question_of(params: ElicitRequestFormParams | ElicitRequestURLParams) -> Question:
    """The question that these parameters ask; raises `QuestionRefused` where it could never be shown."""
    meta: dict[str, Any] | None = dict(params.meta) if params.meta else None
    if isinstance(params, ElicitRequestURLParams):
        # A round has no ids for visits; the revision that this one goes to may want one.
        name = params.elicitation_id or secrets.token_urlsafe(16)
        return Visit(message=params.message, url=params.url, id=name, meta=meta)
    return host_form_of(params.message, params.requested_schema, meta=meta)


def reply_of(answer: Answer[Any], *, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An answer as a client would have sent it, with what it has said about it."""
    reply = _reply_of(answer)
    return {**reply, "_meta": {ANSWERED_META_KEY: dict(said)}} if said else reply


def _reply_of(answer: Answer[Any]) -> dict[str, Any]:
    match answer:
        case Accepted(None):
            return {"action": "accept"}
        case Accepted(content):
            return {"action": "accept", "content": content}
        case Declined():
            return {"action": "decline"}
        case Cancelled():
            return {"action": "cancel"}
