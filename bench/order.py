"""What every side of a contest is given alike: the form, the words, the person's answer, the tool's result."""

from collections.abc import Sequence
from typing import Literal

from mcp_types import ElicitResult
from pydantic import BaseModel, Field

ANSWER: dict[str, str | int | float | bool | list[str] | None] = {"drink": "cola", "tip": 2}


class Extras(BaseModel):
    drink: Literal["none", "cola", "water"] = Field("none", title="Drink")
    tip: int = Field(0, ge=0, le=20, title="Tip in euro")


def message(guest: str, course: int = 1) -> str:
    """The words of one question; another guest makes them new words."""
    return f"Anything with course {course}, {guest}?"


def bill(orders: Sequence[Extras]) -> str:
    """Made of every answer, so that no side can leave one unread."""
    return f"{', '.join(extras.drink for extras in orders)}: {sum(extras.tip for extras in orders)}"


def expected(questions: int) -> str:
    """The text that a tool must return before it is measured."""
    return bill([Extras.model_validate(ANSWER)] * questions)


async def answer_at_once(context: object, params: object) -> ElicitResult:
    """The person: no thinking, so that all the time is the software's."""
    return ElicitResult(action="accept", content=ANSWER)
