"""What every cafe has in common: the form, the link, and what is said in the end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from mcp.server.elicitation import render_elicitation_schema
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
)
from pydantic import BaseModel

STYLES = ("ask", "ctx.elicit", "ctx.elicit_url", "Resolve", "own result", "sync")

MESSAGE = "What would you like?"
TO_PAY = "Please pay for your tea."


class Order(BaseModel):
    """The form."""

    drink: Literal["tea", "coffee"]


SCHEMA = render_elicitation_schema(Order)
QUESTION = ElicitRequest(params=ElicitRequestFormParams(message=MESSAGE, requested_schema=SCHEMA))
"""The same form, in the protocol's own words."""


def till() -> tuple[str, str]:
    """Where to pay, and the number of the payment: another one on every run."""
    number = str(uuid4())
    return f"https://till.example/pay/{number}", number


def said(action: str, drink: object = "tea") -> str:
    """How the tool ends."""
    endings = {"accept": f"One {drink}.", "decline": "Nothing, then.", "cancel": "Ask me again later."}
    return endings[action]


def own_round(replies: InputResponses | None) -> str | InputRequiredResult:
    """The body of a tool that returns its question and reads the reply when it is called again."""
    if replies is None:
        return InputRequiredResult(input_requests={"order": QUESTION}, request_state="asked")
    reply = replies["order"]
    assert isinstance(reply, ElicitResult)
    return said(reply.action, (reply.content or {}).get("drink"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A style that a host has no place for."""

    why: str


Cafe = Callable[[str], Any]
"""Gives a new server with Askback whose tool "order" is written in this style, or `Absent`."""
