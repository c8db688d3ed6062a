"""What goes over the wire, as the record has it: questions as they were sent, and what a client says of a reply."""

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from mcp.shared.exceptions import MCPError

from askback.model.events import CallEvent, describe_reply
from askback.model.journal import Reply
from askback.model.question import Visit
from askback.protocol.question_ids import ID, QUESTION_META_KEY, QUESTIONS_META_KEY
from askback.protocol.replies import read_reply
from askback.runtime.carrier import OutgoingQuestion


def describe_question(
    place: str, params: Mapping[str, Any], *, id: str | None, visit: Visit | None = None
) -> CallEvent:
    """One question in the words that were sent. Of a link, no more than says where it leads: the rest opens it."""
    if "url" in params:
        leads_to = (visit.template if visit is not None else "") or _origin(str(params["url"]))
        channel, asks = "link", {"url": leads_to}
    else:
        channel, asks = "form", _object(params.get("requestedSchema"))
    return CallEvent(
        event="asked",
        place=place,
        channel=channel,
        question=id,
        message=str(params.get("message", "")),
        asks=asks,
    )


def without_defaults(asks: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The form without what was filled in beforehand: mostly that is what people then answer."""
    if asks is None or not (fields := _object(asks.get("properties"))):
        return asks
    bare = {name: _without_default(field) for name, field in fields.items()}
    return {**asks, "properties": bare}


def describe_pushed_question(showing: OutgoingQuestion, params: Mapping[str, Any]) -> CallEvent:
    """A question that is a request of its own."""
    id = _text(_object(params.get("_meta")).get(QUESTION_META_KEY))
    return describe_question(showing.place, params, id=id, visit=_visit(showing))


def describe_round_questions(
    result: Mapping[str, Any], showings: Mapping[str, OutgoingQuestion]
) -> Iterable[CallEvent]:
    """The questions of a round, also of one that is not ours; not what it wants of the client beside them."""
    notes = _object(_object(result.get("_meta")).get(QUESTIONS_META_KEY))
    for place, request in _object(result.get("inputRequests")).items():
        params = _object(_object(request).get("params"))
        if "message" in params:
            id = _text(_object(notes.get(place)).get(ID))
            yield describe_question(place, params, id=id, visit=_visit(showings.get(place)))


def describe_demanded_visits(
    error: MCPError, showings: Mapping[str, OutgoingQuestion]
) -> Iterable[CallEvent]:
    """The visits that a call ends with where there is no way back to the client."""
    listed: object = _object(error.data).get("elicitations")
    places = list(showings)
    for number, item in enumerate(cast("list[object]", listed) if isinstance(listed, list) else ()):
        place = places[number] if number < len(places) else f"visit-{number + 1}"
        yield describe_question(place, _object(item), id=None, visit=_visit(showings.get(place)))


def describe_foreign_replies(replies: Mapping[str, Any], *, reason: str | None = None) -> Iterable[CallEvent]:
    """Replies to questions of somebody else's, as they came: whether they fit is not ours to say."""
    for place, raw in replies.items():
        reply = read_reply(raw)
        if isinstance(reply, Reply):
            yield from describe_reply(place, reply, reason=reason)


def _without_default(field: Any) -> Any:
    return {name: value for name, value in field.items() if name != "default"} if _object(field) else field


def _visit(showing: OutgoingQuestion | None) -> Visit | None:
    return showing.question if showing is not None and isinstance(showing.question, Visit) else None


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # an author's own round may have anything there, and goes out all the same
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
