"""What a guest says at the inn and what comes of it: every host must tell the same."""

import sys
from dataclasses import dataclass, field
from typing import Any

from askback.testing import ScriptedPerson, accept, cancel, decline
from askback.testing.script import Reply

COMMAND = [sys.executable, "-m", "examples.hosts.inn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A tool of the inn, what the guest answers, and the text of the result."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    replies: list[Reply]
    text: str
    visits: list[str] = field(default_factory=list[str])

    def person(self) -> ScriptedPerson:
        return ScriptedPerson(self.replies)


STORIES = {
    "a room is booked": Story(
        tool="book",
        replies=[accept(guest="Ada", nights=2), accept(yes=True)],
        text="Ada: single, 2 nights",
    ),
    "a guest declines": Story(tool="book", replies=[decline()], text="Nothing booked."),
    "a guest has second thoughts": Story(
        tool="book", replies=[accept(guest="Ada"), cancel()], text="Nothing booked."
    ),
    "a bill is paid": Story(
        tool="pay",
        replies=[accept()],
        text="Payment: accept",
        visits=["https://pay.inn.example/bill/7"],
    ),
    "a bill is not paid": Story(tool="pay", replies=[decline()], text="Payment: decline"),
    "twelve guests check in": Story(
        tool="check_in",
        arguments={"guests": 12},
        replies=[accept("Bo")] * 12,
        text=", ".join(["Bo"] * 12),
    ),
}
