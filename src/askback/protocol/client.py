"""The client's half of the protocol: what it says it can show, what a server asks, and the dispatcher between the SDK's
client session and the wire. What a server asks is somebody else's text."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import anyio.abc
from mcp.shared.dispatcher import (
    CallOptions,
    DispatchContext,
    Dispatcher,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    URL_ELICITATION_REQUIRED,
)

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
from askback.protocol.revisions import CONVERSATION_METHODS, Era, Mode, Revision, revision_of

INITIALIZE = "initialize"

MODES: tuple[Mode, ...] = ("form", "url")


def supported_modes(modes: Collection[Mode], revision: Revision) -> frozenset[Mode]:
    """A person's modes that this revision can express."""
    if revision.era is Era.SILENT:
        return frozenset()
    return frozenset(mode for mode in modes if mode == "form" or revision.visits)


def elicitation_capability(modes: Collection[Mode], revision: Revision) -> dict[str, Any] | None:
    """The `elicitation` capability, with exactly these modes (R45); nothing where nothing can be shown."""
    shown = supported_modes(modes, revision)
    if not shown:
        return None
    return {mode: {} for mode in MODES if mode in shown} if revision.says_mode else {}


def declare_modes(
    method: str, params: Mapping[str, Any] | None, *, modes: Collection[Mode], pinned: str | None
) -> dict[str, Any] | None:
    """These parameters of a request with the person's modes among the capabilities, wherever they are stated."""
    if method == INITIALIZE:
        hello = dict(params or {})
        hello["protocolVersion"] = pinned or hello["protocolVersion"]
        return _with(hello, "capabilities", modes, revision_of(hello["protocolVersion"]))
    match params:
        case {"_meta": {**meta}} if CLIENT_CAPABILITIES_META_KEY in meta:
            revision = revision_of(meta[PROTOCOL_VERSION_META_KEY])
            return {**params, "_meta": _with(meta, CLIENT_CAPABILITIES_META_KEY, modes, revision)}
        case _:
            return None if params is None else dict(params)


def _with(holder: dict[str, Any], place: str, modes: Collection[Mode], revision: Revision) -> dict[str, Any]:
    others = {name: value for name, value in holder[place].items() if name != "elicitation"}
    said = elicitation_capability(modes, revision)
    return {**holder, place: others if said is None else {**others, "elicitation": said}}


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


Exchange = Callable[[Mapping[str, Any], ProgressFnT], Awaitable[dict[str, Any] | IncomingRound]]
"""Sends the parameters of one call, reports its progress, and gives its result or a round of questions."""

_LOST = {CONNECTION_CLOSED: ("Connection closed", "SSE stream "), INVALID_REQUEST: ("Session terminated",)}
"""How the SDK's errors begin when an answer can never come; servers use the same codes for reasons of their own."""

_FORGOTTEN = "Connection closed: the server does not know this session any more"
"""Replaces the server's own error text: the HTTP status has told us already."""


def is_lost(error: MCPError) -> bool:
    """Whether the connection, and not the server, has ended this request."""
    return error.message.startswith(_LOST.get(error.code, ()))


class ElicitationDispatcher(Dispatcher[TransportContext]):
    """The dispatcher that the SDK's session gets. It passes on what has nothing to do with questions."""

    def __init__(
        self,
        inner: Dispatcher[TransportContext],
        *,
        converse: Callable[[dict[str, Any], Exchange], Awaitable[dict[str, Any]]],
        on_pushed: Callable[[Any, anyio.Event], Awaitable[dict[str, Any]]],
        on_finished: Callable[[str], None],
        on_sign_of_life: Callable[[], None],
        on_closed: Callable[[], None],
        modes: Collection[Mode],
        pinned: str | None = None,
        is_forgotten: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Args:
            inner: the SDK's dispatcher.
            converse: makes a call that may ask, answers, and makes it again until there is a result.
            on_pushed: answers a question of the push era. It is cancelled when the connection ends, and also when the
                server takes the question back; then the event is set.
            on_finished: hears that the visit of this id is finished.
            on_sign_of_life: hears of each notification.
            on_closed: hears that the connection has ended.
            modes: what is declared.
            pinned: the only revision to be spoken.
            is_forgotten: whether the server has just refused a message because it does not know the session.
        """
        self._inner, self._converse, self._on_pushed = inner, converse, on_pushed
        self._on_finished, self._on_sign_of_life, self._on_closed = on_finished, on_sign_of_life, on_closed
        self._modes, self._pinned, self._is_forgotten = modes, pinned, is_forgotten

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        said = declare_modes(method, params, modes=self._modes, pinned=self._pinned)
        if method in CONVERSATION_METHODS:
            return await self._converse(said or {}, partial(self._exchange, method, opts))
        found = await self._send(method, said, opts)
        if isinstance(found, IncomingRound):
            raise NotUnderstood(f"it asks questions in the result of {method}, which cannot carry any")
        return found

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        await self._inner.notify(method, params, opts)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await self._inner.run(
                partial(self._on_request, on_request),
                on_notify,
                partial(self._intercept, on_notify_intercept),
                task_status=task_status,
            )
        finally:
            self._on_closed()

    async def _exchange(
        self, method: str, opts: CallOptions | None, params: Mapping[str, Any], on_progress: ProgressFnT
    ) -> dict[str, Any] | IncomingRound:
        listening: CallOptions = {**(opts or {}), "on_progress": on_progress}
        return await self._send(method, params, listening)

    async def _send(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None
    ) -> dict[str, Any] | IncomingRound:
        try:
            raw = await self._inner.send_raw_request(method, params, opts)
        except MCPError as error:
            if self._is_forgotten():
                raise MCPError(CONNECTION_CLOSED, _FORGOTTEN) from error
            raise
        is_rounds = CLIENT_CAPABILITIES_META_KEY in ((params or {}).get("_meta") or {})
        return read_result(raw) if is_rounds else raw

    async def _on_request(
        self,
        on_request: OnRequest,
        ctx: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        if method == ELICIT:
            return await self._on_pushed(params, ctx.cancel_requested)
        return await on_request(ctx, method, params)

    def _intercept(
        self, then: OnNotifyIntercept | None, method: str, params: Mapping[str, Any] | None
    ) -> bool:
        self._on_sign_of_life()
        if (name := read_finished_id(method, params)) is not None:
            self._on_finished(name)
        return then(method, params) if then is not None else False
