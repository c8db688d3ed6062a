"""The rounds era: the call ends with questions, and the client calls again with the answers and our state."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from askback.carrier import Showing
from askback.journal.codec import UnreadableJournal, decode, encode, is_ours
from askback.journal.entries import Arrival, Broken, Journal, Late, Opened
from askback.schema.render import Dialect, render
from askback.wire.era import CanShow, Revision, require_mode
from askback.wire.push import METHOD
from askback.wire.replies import can_travel, read_reply

REFUSED_STATE = "Invalid or expired requestState"
"""The SDK's own sentence for a state that does not verify; one sentence for every reason."""

REFUSED_RESPONSES = "Invalid inputResponses"

MOST_EARLY = 16_384
"""Bytes of a reply that is kept before it is read; larger ones are asked for again."""

QUESTIONS_META_KEY = "askback/questions"
"""Where a question's `meta` goes: this revision's form parameters have no room for it."""


class Rounds:
    """Collects the questions of this round; the middleware ends the call with them."""

    def __init__(self, *, revision: Revision, can_show: CanShow) -> None:
        self._revision, self._can_show = revision, can_show
        self.showings: dict[str, Showing] = {}

    @property
    def dialect(self) -> Dialect:
        return self._revision.dialect

    async def deliver(self, showings: Sequence[Showing]) -> Mapping[str, Arrival] | None:
        require_mode("form", self._revision, self._can_show)
        self.showings.update({showing.place: showing for showing in showings})
        return None


def carries_journal(params: Mapping[str, Any] | None) -> bool:
    """Whether this call is a later round of ours."""
    return params is not None and is_ours(params.get("requestState"))


def resume(params: dict[str, Any], now: float) -> Journal:
    """The journal that came back with this call, and the replies to its open questions.

    Both are taken out of the parameters: what the client added for the round is ours, not the body's.
    """
    try:
        journal = decode(params.pop("requestState"))
    except UnreadableJournal as error:
        raise MCPError(INVALID_PARAMS, REFUSED_STATE, {"reason": "invalid_request_state"}) from error
    _take_replies(journal, params.pop("inputResponses", None), now)
    return journal


def _take_replies(journal: Journal, responses: Any, now: float) -> None:
    """Replies to what was asked; other keys are nobody's question and are not looked at (R42)."""
    if responses is not None and not isinstance(responses, dict):
        raise MCPError(INVALID_PARAMS, REFUSED_RESPONSES)
    replies = cast("dict[str, Any]", responses or {})
    for place, opened in journal.opened.items():
        if place in journal.arrived:
            continue  # a reply that came in an earlier round stays the reply
        if is_late(opened, now=now):
            journal.arrived[place] = Late()
        elif replies.get(place) is not None:
            journal.arrived[place] = _arrival(replies[place])


def is_late(opened: Opened, *, now: float) -> bool:
    return opened.seconds is not None and now - opened.asked_at > opened.seconds


def _arrival(raw: Any) -> Arrival:
    """An accept without content is a person's slip and is asked again; any other bad shape is the client's (R41)."""
    reply = read_reply(raw)
    if isinstance(reply, Broken) and reply.code != "no_content":
        raise MCPError(INVALID_PARAMS, REFUSED_RESPONSES)
    return reply


def input_required(journal: Journal, showings: Mapping[str, Showing], dialect: Dialect) -> dict[str, Any]:
    """The result that ends this round; replies that came before the body got to them travel on in the state."""
    journal.round += 1
    for place in [
        place for place, early in journal.arrived.items() if not can_travel(early, most_bytes=MOST_EARLY)
    ]:
        del journal.arrived[
            place
        ]  # it would not have fitted; its question is put again when the body gets there
    for place in journal.opened.keys() - showings.keys() - journal.arrived.keys():
        del journal.opened[place]
    result: dict[str, Any] = {
        "resultType": "input_required",
        "inputRequests": {place: _request(showing, dialect) for place, showing in showings.items()},
        "requestState": encode(journal),
    }
    if metas := {place: dict(showing.form.meta) for place, showing in showings.items() if showing.form.meta}:
        result["_meta"] = {QUESTIONS_META_KEY: metas}
    return result


def _request(showing: Showing, dialect: Dialect) -> dict[str, Any]:
    return {
        "method": METHOD,
        "params": {
            "mode": "form",
            "message": showing.message,
            "requestedSchema": render(showing.form.sheet, dialect),
        },
    }
