"""Rounds that are not ours inside of ours: their state and their last replies travel in our journal.

A call has one place for state and one for replies. The SDK's resolvers use them, and so does a body that returns its
own questions; when `ask` is used beside them, both must find what they left there.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ElicitRequest, InputResponseRequestParams
from pydantic import ValidationError

from askback.model.journal import Journal, NestedRound
from askback.protocol.elicitation import ROUND_PARAMS
from askback.protocol.question_ids import add_round_ids
from askback.protocol.replies import REFUSED_RESPONSES
from askback.protocol.revisions import Era, Revision
from askback.protocol.server.round_requests import CallClient, examine, read_round
from askback.protocol.server.state import state_after


def asks_by_itself(result: HandlerResult) -> TypeGuard[dict[str, Any]]:
    """Whether what a body returned is a round of questions. Its state is its own, however it begins."""
    return isinstance(result, dict) and result.get("resultType") == "input_required"


def take_over(params: Mapping[str, Any] | None, journal: Journal) -> None:
    """Before our own questions end the round: what came with the call for somebody else is not lost."""
    if journal.nested is None and params is not None and params.get("requestState") is not None:
        journal.nested = NestedRound(params["requestState"], [], params.get("inputResponses") or {})


def nested_round(
    result: dict[str, Any], journal: Journal, client: CallClient, *, question_id: Callable[[str], str]
) -> dict[str, Any]:
    """Their round with our state around theirs: their questions go out, their state waits for the replies."""
    returned = read_round(result)
    requests = returned.input_requests or {}
    examine(requests, client)
    journal.nested = NestedRound(returned.request_state, list(requests), {})
    questions = [key for key, request in requests.items() if isinstance(request, ElicitRequest)]
    meta = add_round_ids(result.get("_meta"), {key: question_id(key) for key in questions})
    return {**result, **meta, "requestState": state_after(journal, ())}


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


def brings_unasked(params: Mapping[str, Any] | None, revision: Revision) -> bool:
    """Whether a first call brings what only a later round has: an answer nobody asked for is not taken.

    Every question of a server with Askback comes back with its state, and on the push era none comes back so at all.
    """
    if params is None or ROUND_PARAMS.isdisjoint(params):
        return False
    return revision.era is not Era.ROUNDS or params.get("requestState") is None


def require_readable(replies: dict[str, Any]) -> None:
    """Raise pydantic's error where these are not what a client replies with."""
    if replies:
        InputResponseRequestParams.model_validate({"inputResponses": replies}, by_name=False)
