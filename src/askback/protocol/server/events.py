"""Events of the wire, as they go on record: questions as they were sent, replies as they came, rounds and refusals."""

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from mcp.shared.exceptions import MCPError

from askback.errors import RoundForgotten, RoundRefused
from askback.model.events import NOT_READ, CallEvent, describe_arrival, describe_effect, describe_reply
from askback.model.journal import Effect, Journal, LateReply, Reply
from askback.model.question import Visit
from askback.protocol.elicitation import (
    ID,
    QUESTION_META_KEY,
    QUESTIONS_META_KEY,
    REFUSED_RESPONSES,
    read_reply,
)
from askback.protocol.server.raised_visits import DEMANDED
from askback.protocol.server.rounds import ResumedRound
from askback.runtime.carrier import OutgoingQuestion

NOT_ASKED = "replies to what nobody asked"
USED, FORGOTTEN, MALFORMED = "used before", "from before the store lost its memory", "replies that are none"


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


def describe_pushed_question(outgoing: OutgoingQuestion, params: Mapping[str, Any]) -> CallEvent:
    """A question that is a request of its own."""
    id = _text(_object(params.get("_meta")).get(QUESTION_META_KEY))
    return describe_question(outgoing.place, params, id=id, visit=_visit(outgoing))


def describe_round_questions(
    result: Mapping[str, Any], questions: Mapping[str, OutgoingQuestion]
) -> Iterable[CallEvent]:
    """The questions of a round, also of one that is not ours; not what it wants of the client beside them."""
    notes = _object(_object(result.get("_meta")).get(QUESTIONS_META_KEY))
    for place, request in _object(result.get("inputRequests")).items():
        params = _object(_object(request).get("params"))
        if "message" in params:
            id = _text(_object(notes.get(place)).get(ID))
            yield describe_question(place, params, id=id, visit=_visit(questions.get(place)))


def describe_demanded_visits(
    error: MCPError, questions: Mapping[str, OutgoingQuestion]
) -> Iterable[CallEvent]:
    """The visits that a call ends with where there is no way back to the client."""
    listed: object = _object(error.data).get("elicitations")
    places = list(questions)
    for number, item in enumerate(cast("list[object]", listed) if isinstance(listed, list) else ()):
        place = places[number] if number < len(places) else f"visit-{number + 1}"
        yield describe_question(place, _object(item), id=None, visit=_visit(questions.get(place)))


def describe_foreign_replies(replies: Mapping[str, Any], *, reason: str | None = None) -> Iterable[CallEvent]:
    """Replies to questions that Askback did not ask, as they came: it cannot say whether they fit."""
    for place, raw in replies.items():
        reply = read_reply(raw)
        if isinstance(reply, Reply):
            yield from describe_reply(place, reply, reason=reason)


def describe_round(resumed: ResumedRound, begun: Iterable[Effect]) -> Iterable[CallEvent]:
    """A later round is ours to run. What is `begun` already was so by one that did not come back, nor told of it."""
    yield CallEvent(event="spent", reason=f"round {resumed.journal.round}")
    if resumed.unasked:
        yield CallEvent(event="refused", reason=NOT_ASKED)
    yield from describe_foreign_replies(resumed.given)
    yield from map(describe_effect, begun)


def describe_unread_replies(journal: Journal) -> Iterable[CallEvent]:
    """Replies that came and that the body did not ask for this time, nor will any more."""
    for place, arrival in journal.arrived.items():
        opened = journal.opened.get(place)
        if opened is None:
            continue
        if isinstance(arrival, LateReply):
            yield from describe_arrival(opened, arrival, None)
        elif isinstance(arrival, Reply):
            reason = None if opened.digest == DEMANDED else NOT_READ
            yield from describe_reply(
                place, arrival, question=opened.id or None, asked_at=opened.asked_at, reason=reason
            )


def refusal_in(error: MCPError) -> str | None:
    """Why a round was refused, if it was. A state that does not verify is recorded at the boundary."""
    if isinstance(error, RoundRefused):
        return FORGOTTEN if isinstance(error, RoundForgotten) else USED
    return MALFORMED if error.message == REFUSED_RESPONSES else None


def _without_default(field: Any) -> Any:
    return {name: value for name, value in field.items() if name != "default"} if _object(field) else field


def _visit(outgoing: OutgoingQuestion | None) -> Visit | None:
    return outgoing.question if outgoing is not None and isinstance(outgoing.question, Visit) else None


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
