"""What came of a command, on paper for a person or as one JSON object."""

import json
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from askback.cli.endings import Exit
from askback.cli.listing import Listing, as_json
from askback.cli.outcome import Failure, Outcome, Server
from askback.cli.paper import Paper, columns_of, say
from askback.cli.printing import Result, lines_of, text_lines
from askback.client import Answered
from askback.client.person import VisitAsked
from askback.client.safe import block, line
from askback.client.terminal.cells import wrapped

BAR = "| "


def to_json(outcome: Outcome) -> dict[str, Any]:
    """The same members wherever they make sense; a reader looks for `error` first."""
    object_: dict[str, Any] = {}
    if outcome.server is not None:
        asker = outcome.server.asker
        object_["server"] = {"label": asker.label, "name": asker.name, "host": asker.host}
        object_["revision"] = outcome.server.revision
    match outcome.came:
        case Failure() as failure:
            object_["error"] = _error(failure)
            if failure.result is not None:
                object_["result"] = as_json(failure.result)
        case Listing() as listing:
            object_["offers"] = listing.to_json()
        case result:
            object_["result"] = as_json(result)
            if outcome.advice is not None:
                object_["advice"] = outcome.advice
    if outcome.server is not None and not isinstance(outcome.came, Listing):
        object_["answers"] = [_answer(one) for one in outcome.answers]
    return {**object_, "exit": int(outcome.exit)}


def _error(failure: Failure) -> dict[str, Any]:
    members = {
        "kind": failure.kind,
        "code": failure.code,
        "message": failure.message,
        "advice": failure.advice,
    }
    return {name: member for name, member in members.items() if member is not None}


def _answer(answered: Answered) -> dict[str, Any]:
    """Not what was written: an answer may be private, and whoever wrote it knows it."""
    asked = answered.asked
    mode = "url" if isinstance(asked, VisitAsked) else "form"
    return {"asked": asked.message, "mode": mode, "action": answered.action, "by": answered.by}


def print_outcome(outcome: Outcome, paper: Paper) -> None:
    """Results on the one stream; everything that is about them on the other."""
    for one in outcome.answers:
        if one.by != "person":
            say(line(f"{one.action} by {one.by}: {one.asked.message}"))
    match outcome.came:
        case Failure(is_theirs=True) as failure:
            say("\n".join(quoted(_label(outcome), failure.message, _width())))
        case Failure() as failure:
            say("\n".join(text_lines(failure.message)))
            if failure.result is not None:
                _print_result(failure.result, paper)
        case Listing() as listing:
            _print_listing(listing, outcome.server, paper)
        case result:
            _print_result(result, paper)
            if outcome.exit != Exit.DONE:
                say("The tool reports this as an error.")
    if outcome.advice is not None:
        say(outcome.advice)


def print_log(outcome: Outcome, *, is_wanted: bool) -> None:
    """What the server wrote to its standard error; or, after a failure, that there is something to see."""
    rows = text_lines(outcome.log.strip("\r\n"))
    if is_wanted and outcome.log.strip():
        say(
            "\n".join([f"{line(_label(outcome))} wrote to its standard error:", *(BAR + row for row in rows)])
        )
    elif outcome.exit == Exit.FAILED and outcome.log.strip():
        say(f"{line(_label(outcome))} wrote to its standard error meanwhile; --stderr shows it.")


def _label(outcome: Outcome) -> str:
    return outcome.server.asker.label if outcome.server is not None else "The server"


def _width() -> int | None:
    return columns_of(sys.stderr) if sys.stderr.isatty() else None


def _print_result(result: Result, paper: Paper) -> None:
    for text in lines_of(result):
        paper.write(text)


def _print_listing(listing: Listing, server: Server | None, paper: Paper) -> None:
    if server is not None:
        name = f" ({server.asker.name})" if server.asker.name not in (None, server.asker.label) else ""
        paper.print(line(f"{server.asker.label}{name}, on {server.revision}"), "bold")
        if server.instructions:
            for text in quoted(server.asker.label, server.instructions, paper.width):
                paper.write(text)
        paper.print()
    listing.print(paper)


def quoted(label: str, text: str, width: int | None) -> Iterator[str]:
    """What a server writes about itself or its errors: each line behind a bar, so that none passes for ours."""
    yield f"{line(label)} says:"
    for row in block(text.strip()):
        yield from (f"{BAR}{part}" for part in (wrapped(row, width - len(BAR)) if width else [row]))


def print_json(outcome: Outcome, out: TextIO) -> None:
    """One line, ASCII alone: it may end on a terminal, and nothing in it can move one."""
    out.write(json.dumps(to_json(outcome)) + "\n")
