"""The rounds era: the call ends with questions, and the client calls again with the answers and our state."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any, NamedTuple, TypeGuard, cast

from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SERVER_INFO_META_KEY, InputResponseRequestParams
from pydantic import ValidationError

from askback.model.durations import CLOCK_SKEW
from askback.model.journal import Arrival, Journal, LateReply, MalformedReply
from askback.model.journal_codec import UnreadableJournal, decode, encode
from askback.model.visit import Ending
from askback.protocol.elicitation import (
    ELICIT,
    ID,
    QUESTIONS_META_KEY,
    REFUSED_RESPONSES,
    add_id,
    can_travel,
    read_reply,
    render_question,
)
from askback.protocol.revisions import Modes, Revision, cannot_show, require_mode
from askback.protocol.server.hold import HoldProgress, RoundHold, hold
from askback.runtime.carrier import Carrier, Ended, OutgoingQuestion, Pause

ROUND = "input_required"
"""The type of a result that asks."""

STATE = "requestState"
"""Where it travels: in a result that asks, and in the call that comes back."""

SEALED_UNTIL: ContextVar[float] = ContextVar("askback_sealed_until", default=0.0)
"""When the seal of the state expires that this request brought, by the clock of the worker that sealed it. Zero where a
boundary does not tell."""

MAX_EARLY_REPLY = 16_384
"""Bytes of a reply that is kept before it is read; larger ones are asked for again."""


REFUSED_STATE = "Invalid or expired requestState"
"""The SDK's own sentence for a state that does not verify; one sentence for every reason."""


class RoundsCarrier(Carrier):
    """Collects the questions of this round; the middleware ends the call with them."""

    grace = None
    comes_back = True

    def __init__(
        self,
        *,
        revision: Revision,
        modes: Modes,
        question_id: Callable[[str, int], str],
        holding: Callable[[], RoundHold],
    ) -> None:
        self.revision, self._modes, self._holding = revision, modes, holding
        self.question_id = question_id
        self.questions: dict[str, OutgoingQuestion] = {}
        """What this round asks, by place."""
        self._progress: HoldProgress | None = None

    async def deliver(self, questions: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival] | None:
        for outgoing in questions:
            if outgoing.question.mode not in self._modes:
                raise cannot_show(outgoing.question.mode, self.revision)
        self.questions.update({outgoing.place: outgoing for outgoing in questions})
        return None

    def require_visits(self) -> None:
        require_mode("url", self.revision, self._modes)

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        holding = self._holding()
        self._progress = self._progress or HoldProgress()
        ending = await hold(ended, min(holding.seconds, seconds), holding.channel, self._progress)
        if ending is not None:
            return ending
        if seconds <= holding.seconds:
            return Pause.TIME_OVER
        return holding.patience.pause(holding.rounds)


_NONE: Mapping[str, Any] = {}


def asks_by_itself(result: HandlerResult) -> TypeGuard[dict[str, Any]]:
    """Whether what a body returned is a round of questions. Its state is its own, however it begins."""
    return isinstance(result, dict) and result.get("resultType") == "input_required"


class ResumedRound(NamedTuple):
    """A later round: what was said before, and a digest of that and of what was said now."""

    journal: Journal
    digest: str
    out: list[str]
    """The places of the questions that this round could answer."""
    given: Mapping[str, Any]
    """Replies for rounds that are nested in ours."""
    unasked: int
    """How many replies it brings without a question."""


def is_refused_state(error: MCPError) -> bool:
    return error.message == REFUSED_STATE


def state_in(params: Mapping[str, Any] | None) -> str:
    """The state as it came, sealed; empty where there is none."""
    state = (params or {}).get("requestState")
    return state if isinstance(state, str) else ""


def resume(params: dict[str, Any]) -> ResumedRound:
    """The journal that came back with this call, with the replies to its open questions.

    Both are taken out of the parameters: what the client added for the round is ours, not the body's. What the body
    keeps by itself is put back in their place.
    """
    state = params.pop("requestState")
    try:
        journal = decode(state)
    except UnreadableJournal as error:
        raise MCPError(INVALID_PARAMS, REFUSED_STATE, {"reason": "invalid_request_state"}) from error
    replies = cast("dict[str, Any] | None", params.pop("inputResponses", None))
    if replies is None:
        replies = {}
    elif not isinstance(replies, dict):  # pyright: ignore[reportUnnecessaryIsInstance] # whatever a client sends
        raise MCPError(INVALID_PARAMS, REFUSED_RESPONSES)
    arrived = journal.arrived
    out = [place for place in journal.opened if place not in arrived]
    # Replies to what was asked; other keys belong to no question and are not read (R42).
    taken, given = {place: replies[place] for place in out if replies.get(place) is not None}, _NONE
    for place, raw in taken.items():
        reply = read_reply(raw)
        if isinstance(
            reply, MalformedReply
        ):  # not even shaped like one: the client's mistake, and no person's (R41)
            raise MCPError(INVALID_PARAMS, REFUSED_RESPONSES)
        arrived[place] = reply
    written = _written(taken)
    if journal.nested is not None:
        given = give_back(params, journal, replies)
        written += _written(given)
    unasked = len(replies) - len(taken) - len(given)
    if unasked:
        unasked -= sum(reply is None for reply in replies.values())
    return ResumedRound(journal, _digest(state, written), out, given, unasked)


def judge_lateness(resumed: ResumedRound, *, now: float) -> None:
    """Mark the replies that came too late. `now` is when the round was claimed for the first time: its copies come
    later and were still in time."""
    journal = resumed.journal
    for place in resumed.out:
        opened = journal.opened[place]
        if opened.seconds is not None and now - opened.asked_at > opened.seconds:
            journal.arrived[place] = LateReply()


def _digest(state: str, written: bytes) -> str:
    """Equal for equal replies to the same round, in whatever order they came."""
    return blake2b(state.encode("utf-8", "surrogatepass") + written, digest_size=16).hexdigest()


def _written(replies: Mapping[str, Any]) -> bytes:
    written = b""
    for place in sorted(replies):
        try:
            written += json.dumps((place, replies[place]), sort_keys=True).encode()
        except (ValueError, TypeError, RecursionError):
            # Numbers or depths that no question takes: each is asked again alike.
            written += f"\0{place}\0".encode("utf-8", "surrogatepass")
    return written


def redeemable_until(now: float, life: float) -> float:
    """When no worker takes the state of this request any more, nor a copy of it; until then it is known as used.

    Another worker may give its states a longer life, and says so in the seal. Twice the skew is added: the clock of the
    worker that made the seal may be ahead of ours, and the clock of the store ahead of the one that opens it.
    """
    return max(SEALED_UNTIL.get(), now + life) + 2 * CLOCK_SKEW


async def replace_state(holder: dict[str, Any], exchange: Callable[[str], Awaitable[str]]) -> None:
    """Put something else in place of the state, in the parameters that bring it or the result that takes it out."""
    holder[STATE] = await exchange(holder[STATE])


def state_after(journal: Journal, asked: Collection[str]) -> str:
    """The state that the next round brings back: the questions `asked` are out, no others of ours."""
    journal.round += 1
    if journal.arrived:
        # What cannot would not have fitted; its question is put again when the body gets there.
        for place, early in list(journal.arrived.items()):
            if not can_travel(early, most_bytes=MAX_EARLY_REPLY):
                del journal.arrived[place]
    for place in list(journal.opened):
        if place not in asked and place not in journal.arrived:
            del journal.opened[place]
    return encode(journal)


def input_required(
    journal: Journal, carrier: RoundsCarrier, server_info: Mapping[str, Any]
) -> dict[str, Any]:
    """The result that ends this round; replies that came before the body got to them travel on in the state."""
    requests: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    for place, (_, question, message, _, id) in carrier.questions.items():
        params = render_question(question, message, carrier.revision)
        requests[place] = {"method": ELICIT, "params": params}
        notes[place] = add_id(question.meta, id, key=ID)
    result: dict[str, Any] = {"resultType": ROUND}
    meta: dict[str, Any] = {SERVER_INFO_META_KEY: dict(server_info)}
    if requests:  # else a visit is under way: the client comes back to hear of its end
        result["inputRequests"] = requests
        meta[QUESTIONS_META_KEY] = notes
    return result | {STATE: state_after(journal, requests), "_meta": meta}


def give_back(params: dict[str, Any], journal: Journal, replies: Mapping[str, Any]) -> dict[str, Any]:
    """Put their state and replies where they look for them; gives those that came now."""
    nested = journal.nested
    assert nested is not None
    new = {key: replies[key] for key in nested.asked if replies.get(key) is not None}
    try:
        require_readable(new)  # before the round is claimed, so that a malformed retry burns nothing (R41)
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, REFUSED_RESPONSES) from error
    kept = new or nested.replies
    journal.nested = nested._replace(asked=[], replies=kept)
    if nested.state is not None:
        params["requestState"] = nested.state
    if kept:
        params["inputResponses"] = kept
    return new


def require_readable(replies: dict[str, Any]) -> None:
    """Raise pydantic's error where these are not what a client replies with."""
    if replies:
        InputResponseRequestParams.model_validate({"inputResponses": replies}, by_name=False)
