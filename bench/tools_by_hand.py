"""Tools that return `InputRequiredResult` themselves, as a careful author would write them for 2026-07-28.

The schema is rendered once; every answer is validated before it is kept in the state; a No is a No.
"""

import json
from typing import Any, Protocol

from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
)

from bench.order import Extras, bill, message

SCHEMA = render_elicitation_schema(Extras)


async def one_by_hand(guest: str, ctx: Context[Any, Any]) -> str | InputRequiredResult:
    return in_turn(ctx, guest, courses=1)


async def five_by_hand(guest: str, ctx: Context[Any, Any]) -> str | InputRequiredResult:
    return in_turn(ctx, guest, courses=5)


class Round(Protocol):
    """What a context tells of a round, on either host."""

    @property
    def request_state(self) -> str | None: ...

    @property
    def input_responses(self) -> InputResponses | None: ...


def in_turn(ctx: Round, guest: str, *, courses: int) -> str | InputRequiredResult:
    """One course after the other; what was answered travels in the state."""
    if ctx.request_state is None:
        return _ask(guest, [])
    answers: list[dict[str, Any]] = json.loads(ctx.request_state)["answers"]
    reply = (ctx.input_responses or {}).get(_key(len(answers) + 1))
    if reply is None:
        return _ask(guest, answers)
    if not isinstance(reply, ElicitResult) or reply.action != "accept":
        return "Nothing ordered."
    extras = Extras.model_validate(reply.content)
    answers.append(extras.model_dump())
    if len(answers) < courses:
        return _ask(guest, answers)
    return bill([*(Extras.model_validate(kept) for kept in answers[:-1]), extras])


def _ask(guest: str, answers: list[dict[str, Any]]) -> InputRequiredResult:
    course = len(answers) + 1
    params = ElicitRequestFormParams(message=message(guest, course), requested_schema=SCHEMA)
    return InputRequiredResult(
        input_requests={_key(course): ElicitRequest(params=params)},
        request_state=json.dumps({"answers": answers}, separators=(",", ":")),
    )


def _key(course: int) -> str:
    return f"course-{course}"
