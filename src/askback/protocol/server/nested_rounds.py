"""Rounds of the body or the SDK inside ours: their state and their last replies travel in our journal.

A call has one place for state and one for replies. The SDK's resolvers use them, and so does a body that returns its
own questions; when `ask` is used beside them, both must find what they left there.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mcp_types import ElicitRequest

from askback.model.journal import Journal, NestedRound
from askback.protocol.elicitation import ROUND_PARAMS, add_round_ids
from askback.protocol.revisions import Era, Revision
from askback.protocol.server.round_requests import CallClient, examine, read_round
from askback.protocol.server.rounds import STATE, state_after


def take_over(params: Mapping[str, Any] | None, journal: Journal) -> None:
    """Keep the state and replies that came with the call for the body, before our own questions end the round."""
    if journal.nested is None and params is not None and params.get(STATE) is not None:
        journal.nested = NestedRound(params[STATE], [], params.get("inputResponses") or {})


def nested_round(
    result: dict[str, Any], journal: Journal, client: CallClient, *, question_id: Callable[[str, int], str]
) -> dict[str, Any]:
    """Their round with our state around theirs: their questions go out, their state waits for the replies."""
    returned = read_round(result)
    requests = returned.input_requests or {}
    examine(requests, client)
    journal.nested = NestedRound(returned.request_state, list(requests), {})
    questions = [key for key, request in requests.items() if isinstance(request, ElicitRequest)]
    meta = add_round_ids(result.get("_meta"), {key: question_id(key, journal.round) for key in questions})
    return {**result, **meta, STATE: state_after(journal, ())}


def brings_unasked(params: Mapping[str, Any] | None, revision: Revision) -> bool:
    """Whether a first call brings what only a later round has. An answer without a question is not taken.

    Every question of a server with Askback comes back with its state, and on the push era none comes back so at all.
    """
    if params is None or ROUND_PARAMS.isdisjoint(params):
        return False
    return revision.era is not Era.ROUNDS or params.get(STATE) is None
