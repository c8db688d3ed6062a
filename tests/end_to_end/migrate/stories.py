"""What happens in each example: what is called, what the person answers, and what comes of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from askback.testing import accept, cancel, decline, raw
from askback.testing.script import Reply

Kind = Literal["tool", "prompt", "resource"]

AGREE = raw({"action": "accept"})
"""How a link is answered: it has no fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One call. `rewritten` answers the file after, where its fields have other names."""

    style: str
    name: str
    text: str
    answers: list[Reply]
    rewritten: list[Reply] | None = None
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    kind: Kind = "tool"

    def __str__(self) -> str:
        return f"{self.style}-{self.name}-{self.text}"


CLINIC = {"patient": "Ada", "day": "2026-12-24"}
NURSERY = {"plant": "fern", "town": "Oslo"}
EMMA = {"title": "Emma"}

STORIES = [
    Story(
        style="elicit",
        name="book_visit",
        arguments=CLINIC,
        answers=[accept(day="2026-12-29"), accept(book=True)],
        rewritten=[accept("2026-12-29"), accept(yes=True)],
        text="Visit 1: Ada on 2026-12-29",
    ),
    Story(
        style="elicit",
        name="book_visit",
        arguments=CLINIC,
        answers=[accept(day="2026-12-24"), accept(day="2026-12-30"), accept(book=False)],
        rewritten=[accept("2026-12-24"), accept("2026-12-30"), accept(yes=False)],
        text="Nothing booked.",
    ),
    Story(style="elicit", name="book_visit", arguments=CLINIC, answers=[decline()], text="Nothing booked."),
    Story(
        style="elicit_url",
        name="pay_fee",
        arguments={"passport": "7"},
        answers=[AGREE],
        text="Pay on the page that opened, then call again.",
    ),
    Story(
        style="elicit_url",
        name="pay_fee",
        arguments={"passport": "7"},
        answers=[decline()],
        text="Passport 7 waits until it is paid for.",
    ),
    Story(
        style="resolvers",
        name="send_plant",
        arguments=NURSERY,
        answers=[accept(send=True)],
        rewritten=[accept(True)],
        text="The fern is on its way to Oslo.",
    ),
    Story(
        style="resolvers",
        name="send_plant",
        arguments={**NURSERY, "town": "Nice"},
        answers=[],
        text="The fern is on its way to Nice.",
    ),
    Story(
        style="resolvers",
        name="send_plant",
        arguments=NURSERY,
        answers=[accept(send=False)],
        rewritten=[accept(value=False)],
        text="The fern stays in the greenhouse.",
    ),
    Story(
        style="resolvers",
        name="send_plant",
        arguments=NURSERY,
        answers=[cancel()],
        text="Nothing is decided yet.",
    ),
    Story(
        style="rounds",
        name="book_tour",
        arguments={"guests": 2},
        answers=[accept(language="Dutch"), accept(hall="attic")],
        rewritten=[accept("Dutch"), accept("attic")],
        text="A tour of the attic in Dutch for 2",
    ),
    Story(
        style="rounds",
        name="book_tour",
        arguments={"guests": 2},
        answers=[accept(language="Dutch"), cancel()],
        rewritten=[accept("Dutch"), cancel()],
        text="No tour booked.",
    ),
    Story(
        style="rounds",
        name="leaflet",
        kind="prompt",
        answers=[accept(reader="children")],
        rewritten=[accept("children")],
        text="Write a leaflet on the museum for children.",
    ),
    Story(
        style="rounds",
        name="leaflet",
        kind="prompt",
        answers=[decline()],
        text="Write a leaflet on the museum for everybody.",
    ),
    Story(
        style="rounds_lowlevel",
        name="embark",
        arguments={"car": "Fiat"},
        answers=[accept(deck="upper")],
        rewritten=[accept("upper")],
        text="Fiat on the upper deck",
    ),
    Story(
        style="rounds_lowlevel",
        name="embark",
        arguments={"car": "Fiat"},
        answers=[decline()],
        text="Fiat stays ashore.",
    ),
    Story(
        style="fastmcp", name="reserve", arguments=EMMA, answers=[accept("Ada")], text="Emma is kept for Ada."
    ),
    Story(
        style="fastmcp",
        name="reserve",
        arguments=EMMA,
        answers=[decline()],
        text="Emma is kept without a name.",
    ),
    Story(style="fastmcp", name="reserve", arguments=EMMA, answers=[cancel()], text="Nothing reserved."),
    Story(
        style="fastmcp", name="extend", arguments=EMMA, answers=[accept("a week")], text="Emma: a week more"
    ),
    Story(style="fastmcp", name="extend", arguments=EMMA, answers=[cancel()], text="Not extended."),
    Story(style="fastmcp", name="fetch", arguments=EMMA, answers=[accept("bus")], text="Emma waits: bus"),
    Story(
        style="fastmcp",
        name="subscribe",
        answers=[accept(["maps", "music"])],
        text="News about maps, music",
    ),
    Story(
        style="fastmcp",
        name="join",
        answers=[accept(name="Ada", town="Delft"), accept(years=2)],
        text="Ada of Delft, 2 years, by post: False",
    ),
    Story(
        style="fastmcp", name="join", answers=[accept(name="Ada", town="Delft"), decline()], text="No card."
    ),
    Story(
        style="fastmcp_rounds",
        name="observe",
        arguments={"hours": 2},
        answers=[accept(target="Mars"), accept(night="Monday")],
        rewritten=[accept("Mars"), accept("Monday")],
        text="Mars on Monday, 2 hours",
    ),
    Story(
        style="fastmcp_rounds",
        name="observe",
        arguments={"hours": 2},
        answers=[decline()],
        text="The telescope stays closed.",
    ),
    Story(
        style="fastmcp_rounds",
        name="observatory://sky",
        kind="resource",
        answers=[accept(place="Delft")],
        rewritten=[accept("Delft")],
        text="Over Delft: Saturn",
    ),
    Story(
        style="fastmcp3",
        name="move_box",
        arguments={"year": "1848"},
        answers=[accept("north")],
        text="1848 is on the north shelf.",
    ),
    Story(
        style="sync",
        name="paint",
        arguments={"bicycle": "tandem"},
        answers=[accept(colour="red")],
        rewritten=[accept("red")],
        text="The tandem is red now.",
    ),
    Story(
        style="sync",
        name="paint",
        arguments={"bicycle": "tandem"},
        answers=[decline()],
        text="The tandem stays as it is.",
    ),
]
