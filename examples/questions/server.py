"""A conference desk: the kinds of form a tool can put to a person."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from mcp.server import MCPServer
from pydantic import BaseModel, Field, field_validator

from askback import (
    Accepted,
    Askback,
    Choice,
    Choices,
    Date,
    Integer,
    Text,
    ask,
)

mcp = MCPServer("desk")
Askback(mcp)


# --8<-- [start:model]
class Registration(BaseModel):
    name: str = Field(min_length=1, max_length=80, title="Name on the badge")
    arrival: date = Field(title="Day of arrival")
    meal: Annotated[str, Choice({"veg": "Vegetarian", "all": "Anything"})] = Field("all", title="Meal")
    days: Annotated[list[str], Choices({"mo": "Monday", "tu": "Tuesday"}, least=1)] = Field(title="Days")
    guests: int = Field(0, ge=0, le=3, title="Guests", description="Who come with you.")
    remark: str | None = Field(None, title="Remark")


@mcp.tool()
async def register() -> str:
    """Register for the conference."""
    match await ask("Your registration, please.", Registration):
        case Accepted(form):
            return f"{form.name}, {form.arrival}, {form.meal}, {form.days}, {form.guests}, {form.remark}"
        case _:
            return "Not registered."


# --8<-- [end:model]


# --8<-- [start:fields]
@mcp.tool()
async def introduce() -> str:
    """Ask without a model: a dict of fields, and a dict comes back."""
    answer = await ask(
        "Who are you?",
        {
            "name": Text(title="Name", min_length=1),
            "role": Choice({"dev": "Developer", "ops": "Operator"}, title="Role"),
            "since": Date(title="Since", optional=True),
        },
    )
    person = answer.or_stop("As you like.")
    return f"{person['name']}, {person['role']}, {person['since']}"


# --8<-- [end:fields]


# --8<-- [start:single]
@mcp.tool()
async def seats() -> str:
    """Ask for one value: it comes bare."""
    count = (await ask("How many seats?", Integer(title="Seats", minimum=1, maximum=8))).or_stop(
        "None, then."
    )
    return f"{count} seats"


# --8<-- [end:single]


# --8<-- [start:initial]
@dataclass
class Address:
    street: str
    town: str


@mcp.tool()
async def change_address(street: str) -> str:
    """Fill in what is known already; the person may change it."""
    answer = await ask("Where shall we write to?", Address, initial={"street": street, "town": "Delft"})
    address = answer.or_stop("Nothing changed.")
    return f"{address.street}, {address.town}"


# --8<-- [end:initial]


# --8<-- [start:pattern]
@mcp.tool()
async def badge() -> str:
    """A pattern is searched for on the server and never sent, so the description tells it to the person."""
    number = Text(
        title="Badge number",
        description="Two letters and four digits, like AB1234.",
        pattern=r"^[A-Z]{2}\d{4}$",
    )
    return (await ask("Which badge?", number)).or_stop("No badge.")


# --8<-- [end:pattern]


# --8<-- [start:validator]
class Nights(BaseModel):
    nights: int = Field(ge=1, le=14, title="Nights")

    @field_validator("nights")
    @classmethod
    def not_thirteen(cls, nights: int) -> int:
        if nights == 13:
            raise ValueError("the house does not let for thirteen nights.")
        return nights


@mcp.tool()
async def stay() -> str:
    """What your own validator says is put to the person, who may try again."""
    return f"{(await ask('How long will you stay?', Nights)).or_stop('Not at all.').nights} nights"


# --8<-- [end:validator]


# --8<-- [start:schema]
FORM = """
{
  "type": "object",
  "properties": {
    "colour": {"type": "string", "enum": ["red", "blue"], "title": "Colour"},
    "copies": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1, "title": "Copies"}
  },
  "required": ["colour"]
}
"""


@mcp.tool()
async def print_badges(form: str = FORM) -> str:
    """A form that is known only when the server runs: a restricted JSON Schema."""
    wanted = (await ask("How shall it be printed?", json.loads(form))).or_stop("Nothing printed.")
    return f"{wanted['copies']} in {wanted['colour']}"


# --8<-- [end:schema]


# --8<-- [start:excuse]
class Parcel(BaseModel):
    pin: Annotated[str, Text(not_a_secret="a PIN code is the postal code of an Indian address")] = Field(
        title="PIN code"
    )


@mcp.tool()
async def send_parcel() -> str:
    """A field that sounds like a secret but is not one, excused in writing."""
    return (await ask("Where shall the parcel go?", Parcel)).or_stop("Nothing sent.").pin


# --8<-- [end:excuse]


if __name__ == "__main__":
    mcp.run()
