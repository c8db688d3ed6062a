"""Visits that a body demands by raising -32042. The rounds era has no such error: there they become questions."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import URL_ELICITATION_REQUIRED

from askback.errors import AskbackError, AuthorError
from askback.model.journal import Journal, OpenedQuestion, Reply, gist_of
from askback.model.journal_codec import encode
from askback.protocol.elicitation import ELICIT, add_round_ids
from askback.protocol.revisions import Modes, Revision, require_mode

DEMANDED = "visit"
"""In place of the digest of such a question."""


def demands_visits(error: MCPError) -> bool:
    return error.code == URL_ELICITATION_REQUIRED


def visits_required(
    error: MCPError,
    journal: Journal,
    *,
    revision: Revision,
    modes: Modes,
    now: float,
    question_id: Callable[[str, int], str],
) -> dict[str, Any]:
    """The round that asks for the visits; the body runs again afterwards and finds them done, or raises again."""
    require_mode("url", revision, modes)
    visits = _visits(error)
    if any(_is_refusal(journal, place) for place in visits):
        raise AskbackError(
            "The person did not agree to open the link that this call needs. Call again when they do."
        )
    ids = {place: question_id(place, journal.round) for place in visits}
    journal.round += 1
    journal.arrived.clear()
    journal.opened = {place: _opened(place, visit, now, ids[place]) for place, visit in visits.items()}
    return {
        "resultType": "input_required",
        "inputRequests": {place: _request(visit) for place, visit in visits.items()},
        "requestState": encode(journal),
        **add_round_ids(None, ids),
    }


def _visits(error: MCPError) -> dict[str, Mapping[str, Any]]:
    match error.data:
        case {"elicitations": [_, *_] as listed}:
            visits = cast("list[Mapping[str, Any]]", listed)
            return {f"visit-{number}": visit for number, visit in enumerate(visits, 1)}
        case _:
            raise AuthorError(
                "This call demands a visit and names no link. List at least one in the error's data."
            )


def _is_refusal(journal: Journal, place: str) -> bool:
    arrival = journal.arrived.get(place)
    return isinstance(arrival, Reply) and arrival.action != "accept"


def _opened(place: str, visit: Mapping[str, Any], now: float, id: str) -> OpenedQuestion:
    # The url is left out of the digest: it may carry an id that is new on every run.
    gist = gist_of(str(visit.get("message", "")))
    return OpenedQuestion(place=place, digest=DEMANDED, gist=gist, asked_at=now, id=id)


def _request(visit: Mapping[str, Any]) -> dict[str, Any]:
    params = {"mode": "url", "message": visit.get("message", ""), "url": visit.get("url", "")}
    return {"method": ELICIT, "params": params}
