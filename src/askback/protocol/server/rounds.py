"""The rounds era: the call ends with questions, and the client calls again with the answers and our state."""

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, cast

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic_core import to_json

from askback.errors import AskbackError
from askback.model.journal import Arrival, Journal, LateReply, MalformedReply
from askback.model.journal_codec import UnreadableJournal, decode, is_ours
from askback.model.visit import Ending
from askback.protocol.elicitation import ELICIT
from askback.protocol.question_ids import ID, QUESTIONS_META_KEY, add_id
from askback.protocol.replies import REFUSED_RESPONSES, read_reply
from askback.protocol.revisions import CanShow, Revision, require_mode
from askback.protocol.server.nested_rounds import give_back
from askback.protocol.server.patience import ClientPatience
from askback.protocol.server.push import BackChannel, mode_of, render_question
from askback.protocol.server.state import STATE, state_after
from askback.runtime.carrier import Ended, OutgoingQuestion, Pause

REFUSED_STATE = "Invalid or expired requestState"
"""The SDK's own sentence for a state that does not verify; one sentence for every reason."""

BEAT = 5.0
"""Seconds between two words of progress: often enough that nobody takes the server for dead."""


class RoundHold(NamedTuple):
    """How this call may be held while a person is on a page."""

    seconds: float
    rounds: int
    """How many this call has taken."""
    patience: ClientPatience
    channel: BackChannel | None
    """Where the client asked to hear how it goes on."""


class RoundsCarrier:
    """Collects the questions of this round; the middleware ends the call with them."""

    grace: float | None = None
    comes_back = True
    _progress: "_Progress | None" = None

    def __init__(self, *, revision: Revision, can_show: CanShow, holding: Callable[[], RoundHold]) -> None:
        self.revision, self._can_show, self._holding = revision, can_show, holding
        self.showings: dict[str, OutgoingQuestion] = {}

    async def deliver(self, showings: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival] | None:
        for showing in showings:
            require_mode(mode_of(showing.question), self.revision, self._can_show)
        for showing in showings:
            self.showings[showing.place] = showing
        return None

    def require_visits(self) -> None:
        require_mode("url", self.revision, self._can_show)

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        holding = self._holding()
        self._progress = self._progress or _Progress()
        ending = await _hold(ended, min(holding.seconds, seconds), holding.channel, self._progress)
        if ending is not None:
            return ending
        if seconds <= holding.seconds:
            return Pause.TIME_OVER
        return holding.patience.pause(holding.rounds)


class _Progress:
    """How one request goes on, whatever it is held for: on one token numbers only grow."""

    def __init__(self) -> None:
        self._begun: float | None = None
        self._said = -1.0

    async def report(self, channel: BackChannel, seconds: float) -> None:
        """Until cancelled."""
        now = anyio.current_time()
        begun = self._begun = now if self._begun is None else self._begun
        until = round(now - begun + seconds, 1)
        while True:
            passed = round(anyio.current_time() - begun, 1)
            if passed > self._said:
                self._said = passed
                await channel.progress(passed, until, "Waiting for the person to finish on the page.")
            await anyio.sleep(BEAT)


async def _hold(
    ended: Ended, seconds: float, channel: BackChannel | None, progress: _Progress
) -> Ending | None:
    if channel is None:
        return await ended(seconds)
    ending: Ending | None = None
    failed: AskbackError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(progress.report, channel, seconds)
        try:
            ending = await ended(seconds)
        except AskbackError as error:  # raised after the group, which would wrap it up
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return ending


_NONE: Mapping[str, Any] = {}
_OF_A_REPLY = frozenset({"action", "content"})


class ResumedRound(NamedTuple):
    """A later round: what was said before, and a digest of that and of what was said now."""

    journal: Journal
    digest: str
    out: list[str]
    """The places of the questions that this round could answer."""
    given: Mapping[str, Any]
    """What it brings for somebody else's."""
    unasked: int
    """How many replies it brings to what nobody asked."""


def is_refused_state(error: MCPError) -> bool:
    return error.message == REFUSED_STATE


def state_in(params: Mapping[str, Any] | None) -> str:
    """The state as it came, sealed; empty where there is none."""
    state = (params or {}).get("requestState")
    return state if isinstance(state, str) else ""


def carries_journal(params: Mapping[str, Any] | None) -> bool:
    """Whether this call is a later round of ours."""
    return params is not None and is_ours(params.get(STATE))


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
    # Replies to what was asked; other keys are nobody's question and are not looked at (R42).
    taken, given = {place: replies[place] for place in out if replies.get(place) is not None}, _NONE
    for place, raw in taken.items():
        reply = read_reply(raw)
        if isinstance(
            reply, MalformedReply
        ):  # not even shaped like one: the client's mistake, and no person's (R41)
            raise MCPError(INVALID_PARAMS, REFUSED_RESPONSES)
        arrived[place] = reply
    written = _written(taken, _flat)
    if journal.nested is not None:
        given = give_back(params, journal, replies)
        written += _written(given, _deep)
    unasked = len(replies) - len(taken) - len(given)
    if unasked:
        unasked -= sum(reply is None for reply in replies.values())
    return ResumedRound(journal, _digest(state, written), out, given, unasked)


def judge_lateness(resumed: ResumedRound, *, now: float) -> None:
    """When the round is claimed for the first time, and for good: a copy that comes later was still in time."""
    journal = resumed.journal
    for place in resumed.out:
        opened = journal.opened[place]
        if opened.seconds is not None and now - opened.asked_at > opened.seconds:
            journal.arrived[place] = LateReply()


def _digest(state: str, written: bytes) -> str:
    """The same for the same replies to the same round, in whatever order they came."""
    return blake2b(state.encode("utf-8", "surrogatepass") + written, digest_size=16).hexdigest()


def _written(taken: Mapping[str, Any], write: Callable[[str, Any], bytes]) -> bytes:
    written = b""
    for place in sorted(taken) if len(taken) > 1 else taken:
        try:
            written += write(place, taken[place])
        except (ValueError, TypeError, RecursionError):
            # Numbers or depths that no question takes: each is asked again alike.
            written += f"\0{place}\0".encode("utf-8", "surrogatepass")
    return written


def _flat(place: str, raw: Mapping[str, Any]) -> bytes:
    """A reply to a question of ours, which has no objects below the fields of its content."""
    if not _OF_A_REPLY.issuperset(raw):
        return _deep(place, raw)
    content = raw.get("content")
    if isinstance(content, dict):
        content = dict(sorted(cast("dict[str, Any]", content).items()))
    try:
        return to_json((place, raw["action"], content))
    except ValueError:  # half of a surrogate pair, which the standard library can spell
        return _deep(place, raw)


def _deep(place: str, raw: Any) -> bytes:
    """A reply with objects at any depth: to somebody else, or with notes of the client's own."""
    return json.dumps((place, raw), sort_keys=True).encode()


def input_required(journal: Journal, carrier: RoundsCarrier) -> dict[str, Any]:
    """The result that ends this round; replies that came before the body got to them travel on in the state."""
    showings, revision = carrier.showings, carrier.revision
    if not showings:  # a visit is under way: the client comes back to hear of its end
        return {"resultType": "input_required", "requestState": state_after(journal, ())}
    requests: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    for place, (_, question, message, _, id) in showings.items():
        requests[place] = {"method": ELICIT, "params": render_question(question, message, revision)}
        notes[place] = add_id(question.meta, id, key=ID)
    return {
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": state_after(journal, showings),
        "_meta": {QUESTIONS_META_KEY: notes},
    }
