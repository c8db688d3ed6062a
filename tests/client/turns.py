"""Turns as a driver would hand them to a person: made from a schema or a link, with everything else filled in."""

from typing import Any

from askback.client.consent import judge
from askback.client.forms import read_form
from askback.client.person import Asker, FormAsked, Turn, VisitAsked

EXTRAS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "drink": {
            "type": "string",
            "title": "Drink",
            "oneOf": [
                {"const": "none", "title": "None"},
                {"const": "cola", "title": "Cola"},
                {"const": "water", "title": "Water"},
            ],
            "default": "none",
        },
        "tip": {"type": "integer", "title": "Tip in euro", "minimum": 0, "maximum": 20, "default": 0},
    },
}
"""The pizzeria's form, as it stands on the wire."""


def make_form(
    schema: Any = EXTRAS,
    *,
    message: str = "Anything with your pizza?",
    label: str = "pizzeria",
    name: str | None = None,
    host: str | None = None,
    purpose: str | tuple[str, ...] = "tool order",
    number: int = 1,
) -> Turn:
    """A form's turn; the schema is read as hostile, as it is when it comes over the wire."""
    asker = Asker(label=label, name=name, host=host)
    return Turn(
        FormAsked(asker=asker, purposes=_purposes(purpose), message=message, blank=read_form(schema)),
        number=number,
    )


def make_visit(
    url: str = "https://pay.example.com/order/7",
    *,
    message: str = "Please pay on our page.",
    label: str = "pizzeria",
    name: str | None = None,
    host: str | None = None,
    purpose: str | tuple[str, ...] = "tool order",
    number: int = 1,
    id: str | None = None,
    is_demanded: bool = False,
) -> Turn:
    """A visit's turn, its link judged as a driver judges it."""
    asker = Asker(label=label, name=name, host=host)
    verdict = judge(url, server_host=host)
    return Turn(
        VisitAsked(
            asker=asker,
            purposes=_purposes(purpose),
            message=message,
            url=url,
            verdict=verdict,
            id=id,
            is_demanded=is_demanded,
        ),
        number=number,
    )


def _purposes(purpose: str | tuple[str, ...]) -> tuple[str, ...]:
    return (purpose,) if isinstance(purpose, str) else purpose
