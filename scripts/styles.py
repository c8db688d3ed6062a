"""Writes the tables of docs/reference/styles.md: every style on every host and revision, from real calls.

python -m scripts.styles
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio

from askback.testing import REVISIONS
from tests.protocol.styles.cells import PEOPLE, Cell, Cells, Place, find_out
from tests.support.cafe import HOSTS, STYLES

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "styles.md"

MARK = "<!-- From here the page is written by `python -m scripts.styles`. -->\n"


class Reason(NamedTuple):
    """Why a call ended before its tool gave a result; known by how the text begins."""

    begins: str
    name: str
    why: str


REASONS = [
    Reason(
        "This client did not declare that it can show a form",
        "`CannotAsk`",
        "The client declared no capability.",
    ),
    Reason(
        "This client did not declare that it can show a link",
        "`CannotAsk`",
        "The client declared no capability.",
    ),
    Reason(
        "This client speaks MCP 2025-06-18",
        "`CannotAsk`",
        "Links came with 2025-11-25. A client that declares them on 2025-06-18 gets them.",
    ),
    Reason(
        "Error executing tool order: Resolver for parameter",
        "`ToolError`",
        "The SDK ends the call: a parameter of type `Order` has no room for a no. As "
        "`Annotated[ElicitationResult[Order], Resolve(...)]` it takes all three answers.",
    ),
    Reason(
        "Client did not declare the form elicitation capability",
        "`MCPError`",
        "The client declared no capability, and the SDK looks before it lets a resolver ask.",
    ),
    Reason(
        "1 validation error for call",
        "`ValidationError`",
        "FastMCP has no resolvers, and takes the parameter for an argument of the call. Ask in the body.",
    ),
    Reason(
        "a low-level handler",
        "nothing to call",
        "A low-level handler gets the request as it came, and has no parameters to resolve. Ask in the handler.",
    ),
    Reason(
        "The server asked",
        "asked",
        "What a body returns goes out as it is. Look at `ctx.client_capabilities` before you return questions.",
    ),
]

SHOWN = {
    "ask": "ask",
    "ctx.elicit": "elicit",
    "ctx.elicit_url": "elicit_url",
    "Resolve": "resolve",
    "own result": "own",
    "sync": "sync",
}
"""The section of the cafe's code that shows a style."""

ELSEWHERE = {
    "ctx.elicit": "A low-level handler has it as `ctx.session.elicit_form(...)`.",
    "ctx.elicit_url": "A low-level handler has it as `ctx.session.elicit_url(...)`; so has a tool of FastMCP, whose "
    "context has no `elicit_url`.",
    "own result": "A low-level handler finds the replies in `params.input_responses`.",
    "sync": "A low-level handler is always `async def`: it calls such a body with "
    "`await anyio.to_thread.run_sync(...)`.",
}
"""How hosts write it that have other names for it."""


class Notes:
    """The reasons that a page needs, numbered as they come up."""

    def __init__(self) -> None:
        self._texts: dict[Reason, dict[str, None]] = {}

    def mention(self, cell: Cell) -> str:
        """The error's name, how it arrives, and where the reason stands; fails if the table of reasons has none."""
        reason = next(reason for reason in REASONS if cell.text.startswith(reason.begins))
        self._texts.setdefault(reason, {})[_short(cell.text)] = None
        number = list(self._texts).index(reason) + 1
        how = "" if cell.how == "not there" else f" {cell.how}"
        return f"{reason.name}{how} [({number})](#where-it-ends-otherwise)"

    def written(self) -> str:
        rows = (
            [str(number), "" if reason.name == "nothing to call" else "<br>".join(texts), reason.why]
            for number, (reason, texts) in enumerate(self._texts.items(), 1)
        )
        return "## Where it ends otherwise\n\n" + _table(["", "what the caller reads", "why"], rows)


def page(written: str, found: Cells) -> str:
    """The page with its tables as they should be; what was written by hand stays."""
    introduction, _, _ = written.partition(MARK)
    notes = Notes()
    sections = [_at_a_glance(found, notes), *(_section(style, found, notes) for style in STYLES)]
    return introduction + MARK + "\n" + "\n".join([*sections, notes.written()])


def _at_a_glance(found: Cells, notes: Notes) -> str:
    rows = (
        [f"[{_title(style)}](#{_anchor(style)})", *(_served(style, host, found, notes) for host in HOSTS)]
        for style in STYLES
    )
    return "## At a glance\n\n" + _table(["style", *HOSTS], rows)


def _served(style: str, host: str, found: Cells, notes: Notes) -> str:
    """The revisions on which an accepted question gives what the tool says."""
    asked = {revision: found[Place(style, host, revision, "accept")] for revision in REVISIONS}
    served = [revision for revision, cell in asked.items() if not cell.how]
    if not served:
        return notes.mention(asked[REVISIONS[-1]])
    return "every revision" if len(served) == len(REVISIONS) else " and ".join(served)


def _section(style: str, found: Cells, notes: Notes) -> str:
    hosts = [host for host in HOSTS if not _is_without(host, style, found)]
    code = f'```python\n--8<-- "tests/support/cafe/mcpserver.py:{SHOWN[style]}"\n```\n'
    also = f"\n{ELSEWHERE[style]}\n" if style in ELSEWHERE else ""
    on = "On every host:" if len(hosts) == len(HOSTS) else f"On {' and '.join(hosts)}:"
    rows = (
        [outcome, *(_hosts(style, revision, outcome, hosts, found, notes) for revision in REVISIONS)]
        for outcome in PEOPLE
    )
    return f"## {_title(style)}\n\n{code}{also}\n{on}\n\n{_table(['', *REVISIONS], rows)}"


def _is_without(host: str, style: str, found: Cells) -> bool:
    """Whether the host gives one and the same error whatever the person does; the first table says which."""
    given = {cell for place, cell in found.items() if (place.style, place.host) == (style, host)}
    return len(given) == 1


def _hosts(style: str, revision: str, outcome: str, hosts: Sequence[str], found: Cells, notes: Notes) -> str:
    """What these hosts give; where they differ, each with its name."""
    given: dict[str, list[str]] = {}
    for host in hosts:
        cell = found[Place(style, host, revision, outcome)]
        given.setdefault(notes.mention(cell) if cell.how else f"“{cell.text}”", []).append(host)
    if len(given) == 1:
        return next(iter(given))
    return "<br>".join(f"{'; '.join(named)}: {said}" for said, named in given.items())


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _title(style: str) -> str:
    return {"own result": "A result of its own", "sync": "`askback.sync`"}.get(style, f"`{style}`")


def _anchor(style: str) -> str:
    return _title(style).replace("`", "").replace(".", "").replace(" ", "-").lower()


def _short(text: str) -> str:
    """In one line, and without what pydantic adds, which differs from version to version."""
    return " ".join(text.partition(" [type=")[0].split())


if __name__ == "__main__":
    logging.disable()  # errors are what some of the calls are for
    PAGE.write_text(page(PAGE.read_text(), anyio.run(find_out)))
    print(PAGE.name)
