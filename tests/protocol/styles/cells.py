"""Every style on every host and revision, each cell found out by a call of its own."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp.shared.exceptions import MCPError

from askback.testing import REVISIONS, Asked, ScriptMismatch, accept, cancel, decline, raw, run_tool
from askback.testing.script import Answers, Reply
from tests.support.cafe import HOSTS, STYLES, Absent

NOTHING: Mapping[str, Any] = {}
FORMS_AND_LINKS: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a client declares."""


class Cell(NamedTuple):
    """What the caller gets from one call."""

    text: str
    how: str = ""
    """How the error arrives; empty where the tool itself says the text."""


class Place(NamedTuple):
    """Where a cell stands."""

    style: str
    host: str
    revision: str
    outcome: str


Cells = Mapping[Place, Cell]


def _yes(asked: Asked) -> Reply:
    return raw({"action": "accept"}) if asked.mode == "url" else accept(drink="tea")


PEOPLE: dict[str, Answers] = {
    "accept": _yes,
    "decline": lambda _: decline(),
    "cancel": lambda _: cancel(),
    "cannot ask": (),
}
"""What becomes of the question."""


async def find_out() -> dict[Place, Cell]:
    """Every cell, each from a call of its own."""
    return {
        Place(style, host, revision, outcome): await _call(style, host, revision, outcome)
        for style in STYLES
        for host in HOSTS
        for revision in REVISIONS
        for outcome in PEOPLE
    }


async def _call(style: str, host: str, revision: str, outcome: str) -> Cell:
    server = HOSTS[host](style)
    if isinstance(server, Absent):
        return Cell(server.why, "not there")
    capabilities = NOTHING if outcome == "cannot ask" else FORMS_AND_LINKS
    answers = PEOPLE[outcome]
    try:
        run = await run_tool(server, "order", None, answers, revision=revision, capabilities=capabilities)
    except MCPError as error:
        return Cell(error.message, f"as error {error.code}")
    except ScriptMismatch as error:  # nobody was to be asked
        return Cell(str(error).partition(",")[0], "all the same")
    return Cell(run.text, "in the result" if run.is_error else "")
