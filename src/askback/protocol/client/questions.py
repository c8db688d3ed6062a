"""What a server asks, as a client reads it: questions, rounds, demanded visits. All of it is somebody else's text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import URL_ELICITATION_REQUIRED

from askback.errors import NotUnderstood
from askback.protocol.elicitation import (
    ELICIT,
    ELICIT_COMPLETE,
    ID,
    MAX_ID_LENGTH,
    QUESTION_META_KEY,
    QUESTIONS_META_KEY,
    without_round,
)
from askback.protocol.revisions import Mode

COMPLETE, INPUT_REQUIRED = "complete", "input_required"

UNDECLARED = "This client did not declare that mode of elicitation"
"""One sentence for every question of a mode that was not declared (R51)."""

UNREADABLE = "Invalid elicitation request"
"""One sentence for every request that is no readable question."""

NOT_PUSHED = "On this revision questions come in results"
"""One sentence for questions that are sent where the protocol has no such request (R08)."""

NOT_ANSWERED = "Nobody is there to answer this question"
"""One sentence for every question that stays without an answer; the reason is for our own side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingText:
    """What forms and links have in common, in the server's words."""

    message: str
    meta: Mapping[str, Any] | None = None
    question: str | None = None
    """The question's id: the server's word, by which a copy can be known and nothing be proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingForm(IncomingText):
    """A form in the server's words; its schema may be anything."""

    schema: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingVisit(IncomingText):
    """A link in the server's words."""

    url: str
    id: str | None = None


IncomingQuestion = IncomingForm | IncomingVisit


def mode_of(words: IncomingQuestion) -> Mode:
    return "form" if isinstance(words, IncomingForm) else "url"


def read_question(params: Any, *, meta: Any = None) -> IncomingQuestion:
    """The question in these parameters; one without a mode is a form (R46)."""
    match params:
        case {"mode": "url", "message": str() as message, "url": str() as url}:
            name = params.get("elicitationId")
            notes, question = _notes(params, meta)
            id = name if isinstance(name, str) else None
            return IncomingVisit(message=message, url=url, id=id, meta=notes, question=question)
        case {"mode": mode} if mode not in ("form", None):
            raise NotUnderstood("it asked for something that is neither a form nor a link")
        case {"message": str() as message}:
            notes, question = _notes(params, meta)
            schema = params.get("requestedSchema")
            return IncomingForm(message=message, schema=schema, meta=notes, question=question)
        case _:
            raise NotUnderstood("it asked a question without a message")


def _notes(params: Mapping[str, Any], beside: Any) -> tuple[dict[str, Any] | None, str | None]:
    """A round has its questions' own notes beside them; elsewhere they are among the parameters."""
    if among := _object(params.get("_meta")):
        return without_id(among, QUESTION_META_KEY)
    return without_id(_object(beside), ID)


def without_id(
    notes: dict[str, Any] | None, key: str = QUESTION_META_KEY
) -> tuple[dict[str, Any] | None, str | None]:
    """The author's notes, and the question's id that came with them."""
    id = (notes or {}).get(key)
    if notes is None or not isinstance(id, str) or not 0 < len(id) <= MAX_ID_LENGTH:
        return notes, None
    return {name: value for name, value in notes.items() if name != key} or None, id


def _object(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingRound:
    """A result that asks: the requests by their keys, and the state to return. The state is never read (R71)."""

    requests: Mapping[str, Any]
    state: str | None
    metas: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def question(self, key: str) -> IncomingQuestion | None:
        """The question under this key, or None where the server wants something that no person is asked."""
        match self.requests[key]:
            case {"method": method, "params": params} if method == ELICIT:
                return read_question(params, meta=self.metas.get(key))
            case {"method": str()}:
                return None
            case _:
                raise NotUnderstood(f"its round has something under {key[:80]!r} that is no request")

    def questions_after(self, key: str) -> int:
        """How many of this round's questions wait while this one is asked."""
        keys = list(self.requests)
        later = (_object(self.requests[name]) or {} for name in keys[keys.index(key) + 1 :])
        return sum(request.get("method") == ELICIT for request in later)

    def answer_params(self, params: Mapping[str, Any], replies: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters for calling again, with this round's replies and its exact state (R71, R73, R75)."""
        later = without_round(params)
        if self.requests:
            later["inputResponses"] = dict(replies)
        if self.state is not None:
            later["requestState"] = self.state
        return later


def read_result(raw: dict[str, Any]) -> dict[str, Any] | IncomingRound:
    """A result of the rounds era: complete, also where it does not say so, or a round (R74)."""
    match raw.get("resultType"):
        case None:
            return {**raw, "resultType": COMPLETE}
        case str() as kind if kind == COMPLETE:
            return raw
        case str() as kind if kind == INPUT_REQUIRED:
            return _read_round(raw)
        case kind:
            raise NotUnderstood(f"it ended a call with a result of the unknown type {str(kind)[:80]!r}")


def _read_round(raw: Mapping[str, Any]) -> IncomingRound:
    asked, state = raw.get("inputRequests"), raw.get("requestState")
    requests = {} if asked is None else _object(asked)
    if requests is None or not isinstance(state, str | None):
        raise NotUnderstood("its round has requests that are no object, or a state that is no text")
    if not requests and state is None:
        raise NotUnderstood("its round asks nothing and holds no state")
    metas = (_object(raw.get("_meta")) or {}).get(QUESTIONS_META_KEY)
    return IncomingRound(requests=requests, state=state, metas=_object(metas) or {})


def read_demanded_visits(error: MCPError) -> list[IncomingVisit] | None:
    """The visits that must come before the call, if this error demands any (R79)."""
    if error.code != URL_ELICITATION_REQUIRED:
        return None
    match error.data:
        case {"elicitations": [_, *_] as listed}:
            return [_demanded(item) for item in cast("list[Any]", listed)]
        case _:
            raise NotUnderstood("it demands a visit and names no link")


def _demanded(item: Any) -> IncomingVisit:
    match item:
        case {"mode": "url", "elicitationId": str()}:
            words = read_question(item)
            assert isinstance(words, IncomingVisit)
            return words
        case _:
            raise NotUnderstood("it demands visits, and one of them is no link with an id")


def read_finished_id(method: str, params: Mapping[str, Any] | None) -> str | None:
    """The id of the visit that this notification says is finished (R80)."""
    name = (params or {}).get("elicitationId") if method == ELICIT_COMPLETE else None
    return name if isinstance(name, str) else None
