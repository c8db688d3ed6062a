"""A question on the wire and the reply to it: parameters, ids, actions, and the notes in `_meta`.

The id of a question is the same when its call is delivered twice, so that whoever shows questions can tell that the
second call asks what the first has asked already. Ids are for display, and never proof.
"""

import re
import secrets
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, cast

from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams
from pydantic_core import from_json, to_json

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.model.journal import Action, Arrival, MalformedReply, Reply, ReplyOrigin
from askback.model.question import Question, Visit
from askback.protocol.revisions import RESOURCES_READ, Revision
from askback.schema.dialect import render
from askback.schema.host_form import host_form_of
from askback.schema.size import exceeds_bytes

ELICIT = "elicitation/create"
"""The request that asks a person."""

ELICIT_COMPLETE = "notifications/elicitation/complete"
"""The notification that a visit is finished."""

ANSWERED_META_KEY = "askback/answered"
"""Where a reply says how it came about: the client's word, and never about the person."""

ROUND_PARAMS = frozenset({"inputResponses", "requestState"})
"""What a call brings only where it is a later round."""


QUESTION_META_KEY = "askback/question"
"""Where the id of a question stands that is a request of its own."""

QUESTIONS_META_KEY = "askback/questions"
"""Where a round has the notes of its questions, by their keys: its form parameters have no room for them."""

ID = "id"
"""The id's name among the notes of one question."""

ID_LENGTH = 24
"""Hexadecimal digits: 96 bits, so that a ledger of years has no two alike by chance."""

MAX_ID_LENGTH = 200
"""Characters of an id that a client takes for one; servers by others may make longer ones than ours."""


REFUSED_RESPONSES = "Invalid inputResponses"
"""One sentence for every malformed reply."""

ACTIONS: dict[str, Action] = {"accept": "accept", "decline": "decline", "cancel": "cancel"}

OURS = frozenset({"form", "page", "link"})
"""Channels that are not a client's to name."""

CHANNEL = re.compile(r"[a-z][a-z0-9_-]{0,39}")
"""One word, so that none looks like one of ours and is another."""

MAX_RULE_LENGTH = 200
"""Characters of what a client says of its own side."""

MAX_TIMESTAMP = 1e11
"""Seconds since 1970 that are a time: a few thousand years."""


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


def render_question(question: Question, message: str, revision: Revision) -> dict[str, Any]:
    """The parameters of the request that asks this question, in the words of this revision."""
    if isinstance(question, Visit):
        return {"mode": "url", "message": message, "url": question.url}
    params: dict[str, Any] = {"mode": "form"} if revision.says_mode else {}
    params["message"] = message
    params["requestedSchema"] = render(question.fieldset, revision.dialect)
    return params


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
    """Whether an unread reply can be kept in the state: small, flat, and equal when read back."""
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


class QuestionIds:
    """The ids of one request's questions."""

    def __init__(
        self, server: str, caller: str, method: str, params: Mapping[str, Any], request_id: str | int
    ) -> None:
        """`caller` is empty if unknown: strangers may then get equal ids, and nothing else."""
        about = params.get("uri") if method == RESOURCES_READ else params.get("name")
        self._request = f"{server}\0{caller}\0{method}\0{about}\0{request_id!r}\0{params.get('arguments')!r}"
        self._asked: dict[str, int] = {}

    def next(self, place: str, number_of_round: int) -> str:
        """A new one for each time that something is asked at this place: a reply that does not fit is no copy."""
        number = self._asked[place] = self._asked.get(place, 0) + 1
        named = f"{self._request}\0{number_of_round}.{number}.{place}"
        return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=ID_LENGTH // 2).hexdigest()


def add_id(meta: Mapping[str, Any] | None, id: str, *, key: str) -> dict[str, Any]:
    """The author's notes for the client with the id among them; it goes before an author's own of that name."""
    return {**meta, key: id} if meta else {key: id}


def add_round_ids(meta: Mapping[str, Any] | None, ids: Mapping[str, str]) -> dict[str, Any]:
    """The `_meta` of a round that another library or the body wrote, with the ids of its questions."""
    if not ids:
        return {}
    said = _object((meta or {}).get(QUESTIONS_META_KEY)) or {}
    named = {key: add_id(_object(said.get(key)), id, key=ID) for key, id in ids.items()}
    return {"_meta": {**(meta or {}), QUESTIONS_META_KEY: {**said, **named}}}


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
