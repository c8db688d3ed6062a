"""Rounds that are not ours inside of ours: their state and their last replies travel in our journal.

A call has one place for state and one for replies. The SDK's resolvers use them, and so does a body that returns its
own questions; when `ask` is used beside them, both must find what they left there.
"""

from collections.abc import Mapping
from typing import Any, TypeGuard, cast

from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, InputResponseRequestParams
from pydantic import ValidationError

from askback.journal.codec import is_ours
from askback.journal.entries import Journal, Nested
from askback.wire.state import state_after


def asks_by_itself(result: HandlerResult) -> TypeGuard[dict[str, Any]]:
    """Whether this result is a round that we did not write."""
    if not isinstance(result, dict) or result.get("resultType") != "input_required":
        return False
    return not is_ours(result.get("requestState"))


def take_over(params: Mapping[str, Any] | None, journal: Journal) -> None:
    """Before our own questions end the round: what came with the call for somebody else is not lost."""
    if journal.nested is None and params is not None and params.get("requestState") is not None:
        journal.nested = Nested(params["requestState"], [], params.get("inputResponses") or {})


def nested_round(result: Mapping[str, Any], journal: Journal) -> dict[str, Any]:
    """Their round with our state around theirs: their questions go out, their state waits for the replies."""
    asked = cast("Mapping[str, Any]", result.get("inputRequests") or {})
    journal.nested = Nested(result.get("requestState"), list(asked), {})
    return {**result, "requestState": state_after(journal, ())}


def give_back(params: dict[str, Any], journal: Journal, replies: Mapping[str, Any]) -> dict[str, Any]:
    """Put their state and replies where they look for them; gives those that came now."""
    nested = journal.nested
    assert nested is not None
    new = {key: replies[key] for key in nested.asked if replies.get(key) is not None}
    _require_readable(new)
    kept = new or nested.replies
    journal.nested = nested._replace(asked=[], replies=kept)
    if nested.state is not None:
        params["requestState"] = nested.state
    if kept:
        params["inputResponses"] = kept
    return new


def without_unasked(params: Mapping[str, Any]) -> dict[str, Any]:
    """An answer nobody asked for is not taken: every question of a server with Askback comes back with its state."""
    return {name: value for name, value in params.items() if name != "inputResponses"}


def brings_unasked(params: Mapping[str, Any] | None) -> bool:
    """Whether replies came without any state."""
    return params is not None and "inputResponses" in params and params.get("requestState") is None


def _require_readable(replies: dict[str, Any]) -> None:
    """Before the round is claimed, so that a malformed retry burns nothing (R41)."""
    if not replies:
        return
    try:
        InputResponseRequestParams.model_validate({"inputResponses": replies}, by_name=False)
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, "Invalid inputResponses") from error
