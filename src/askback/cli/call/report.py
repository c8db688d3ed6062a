"""What came of a command, on paper for a person or as one JSON object."""

import json
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from askback.cli.call.offers import Listing, as_json
from askback.cli.call.outcome import CallOutcome, Failure, ServerFacts
from askback.cli.call.results import Result, lines_of, text_lines
from askback.cli.exits import Exit
from askback.cli.printer import Printer, columns_of, print_note
from askback.client import AnswerRecord
from askback.client.person import VisitAsked
from askback.model.cells import wrap
from askback.model.safe import safe_block, safe_line

BAR = "| "


def to_json(outcome: CallOutcome) -> dict[str, Any]:
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


def _answer(answered: AnswerRecord) -> dict[str, Any]:
    """Not what was written: an answer may be private, and whoever wrote it knows it."""
    asked = answered.asked
    mode = "url" if isinstance(asked, VisitAsked) else "form"
    return {"asked": asked.message, "mode": mode, "action": answered.action, "by": answered.by}


def print_outcome(outcome: CallOutcome, paper: Printer) -> None:
    """Results on the one stream; everything that is about them on the other."""
    for one in outcome.answers:
        if one.by != "person":
            print_note(safe_line(f"{one.action} by {one.by}: {one.asked.message}"))
    match outcome.came:
        case Failure(is_theirs=True) as failure:
            print_note("\n".join(quoted(_label(outcome), failure.message, _width())))
        case Failure() as failure:
            print_note("\n".join(text_lines(failure.message)))
            if failure.result is not None:
                _print_result(failure.result, paper)
        case Listing() as listing:
            _print_listing(listing, outcome.server, paper)
        case result:
            _print_result(result, paper)
            if outcome.exit != Exit.DONE:
                print_note("The tool reports this as an error.")
    if outcome.advice is not None:
        print_note(outcome.advice)


def print_log(outcome: CallOutcome, *, is_wanted: bool) -> None:
    """What the server wrote to its standard error; or, after a failure, that there is something to see."""
    rows = text_lines(outcome.log.strip("\r\n"))
    if is_wanted and outcome.log.strip():
        print_note(
            "\n".join(
                [f"{safe_line(_label(outcome))} wrote to its standard error:", *(BAR + row for row in rows)]
            )
        )
    elif outcome.exit == Exit.FAILED and outcome.log.strip():
        print_note(f"{safe_line(_label(outcome))} wrote to its standard error meanwhile; --stderr shows it.")


def _label(outcome: CallOutcome) -> str:
    return outcome.server.asker.label if outcome.server is not None else "The server"


def _width() -> int | None:
    return columns_of(sys.stderr) if sys.stderr.isatty() else None


def _print_result(result: Result, paper: Printer) -> None:
    for text in lines_of(result):
        paper.write(text)


def _print_listing(listing: Listing, server: ServerFacts | None, paper: Printer) -> None:
    if server is not None:
        name = f" ({server.asker.name})" if server.asker.name not in (None, server.asker.label) else ""
        paper.print(safe_line(f"{server.asker.label}{name}, on {server.revision}"), "bold")
        if server.instructions:
            for text in quoted(server.asker.label, server.instructions, paper.width):
                paper.write(text)
        paper.print()
    listing.print(paper)


def quoted(label: str, text: str, width: int | None) -> Iterator[str]:
    """What a server writes about itself or its errors: each line behind a bar, so that none passes for ours."""
    yield f"{safe_line(label)} says:"
    for row in safe_block(text.strip()):
        yield from (f"{BAR}{part}" for part in (wrap(row, width - len(BAR)) if width else [row]))


def print_json(outcome: CallOutcome, out: TextIO) -> None:
    """One line, ASCII alone: it may end on a terminal, and nothing in it can move one."""
    out.write(json.dumps(to_json(outcome)) + "\n")
