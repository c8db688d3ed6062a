"""Prints the outcome of a call: for a reader, with server text made safe for the terminal, or as one JSON object, with
server text as it came."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO, assert_never

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    Resource,
    ResourceLink,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, ByteSize

from askback.cli.call.arguments import CallSignature, Parameter, as_text, signature_of
from askback.cli.call.server_call import CallOutcome, Failure, Listing, Result
from askback.cli.console import Block, Exit, Printer, TextRow, columns_of, print_note
from askback.client import Driver
from askback.client.person import VisitAsked
from askback.model.cells import wrap
from askback.model.safe import safe_block, safe_line

BAR = "| "

MAX_DESCRIPTION, MAX_NAMES = 400, 2000
"""Characters of a description, and of names that are to be typed again; --json has all."""

MAX_TEXT = 1_000_000
"""Characters of one text; --json has all."""

MAX_SAFE_ROW = 20 * MAX_TEXT
"""A character that is made visible may take many; nothing is cut a second time."""

_GAP = re.compile("(\t+| {2,})")


def to_json(outcome: CallOutcome) -> dict[str, Any]:
    """The outcome for programs; a program looks for `error` first."""
    object_: dict[str, Any] = {}
    if outcome.server is not None:
        asker = outcome.server.asker
        object_["server"] = {"label": asker.label, "name": asker.name, "host": asker.host}
        object_["revision"] = outcome.server.revision
    match outcome.came:
        case Failure() as failure:
            members = {
                "kind": failure.kind,
                "code": failure.code,
                "message": failure.message,
                "advice": failure.advice,
            }
            object_["error"] = {name: member for name, member in members.items() if member is not None}
            if failure.result is not None:
                object_["result"] = as_json(failure.result)
        case Listing() as listing:
            object_["offers"] = {
                "tools": list(map(as_json, listing.tools)),
                "prompts": list(map(as_json, listing.prompts)),
                "resources": list(map(as_json, listing.resources)),
                "resourceTemplates": list(map(as_json, listing.templates)),
            }
        case result:
            object_["result"] = as_json(result)
            if outcome.advice is not None:
                object_["advice"] = outcome.advice
    if outcome.server is not None and not isinstance(outcome.came, Listing):
        # Without the answers themselves, which may be private.
        object_["answers"] = [
            {
                "asked": one.asked.message,
                "mode": "url" if isinstance(one.asked, VisitAsked) else "form",
                "action": one.action,
                "by": one.by,
            }
            for one in outcome.answers
        ]
    return {**object_, "exit": int(outcome.exit)}


def as_json(model: BaseModel) -> dict[str, Any]:
    """A message in the words of the protocol."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def print_outcome(outcome: CallOutcome, paper: Printer) -> None:
    """Print a result on standard output, and everything about it on standard error."""
    for one in outcome.answers:
        if one.by != "person":
            print_note(safe_line(f"{one.action} by {one.by}: {one.asked.message}"))
    match outcome.came:
        case Failure(is_theirs=True) as failure:
            width = columns_of(sys.stderr) if sys.stderr.isatty() else None
            print_note("\n".join(quoted(_label(outcome), failure.message, width)))
        case Failure() as failure:
            print_note("\n".join(text_lines(failure.message)))
            for text in lines_of(failure.result) if failure.result is not None else ():
                paper.write(text)
        case Listing() as listing:
            _print_listing(listing, outcome.server, paper)
        case result:
            for text in lines_of(result):
                paper.write(text)
            if outcome.exit != Exit.DONE:
                print_note("The tool reports this as an error.")
    if outcome.advice is not None:
        print_note(outcome.advice)


def print_log(outcome: CallOutcome, *, is_wanted: bool) -> None:
    """Print the server's standard error if it is wanted; after a failure, say that there is some."""
    rows = text_lines(outcome.log.strip("\r\n"))
    if is_wanted and outcome.log.strip():
        heading = f"{safe_line(_label(outcome))} wrote to its standard error:"
        print_note("\n".join([heading, *(BAR + row for row in rows)]))
    elif outcome.exit == Exit.FAILED and outcome.log.strip():
        print_note(f"{safe_line(_label(outcome))} wrote to its standard error meanwhile; --stderr shows it.")


def _label(outcome: CallOutcome) -> str:
    return outcome.server.asker.label if outcome.server is not None else "The server"


def _print_listing(listing: Listing, server: Driver | None, paper: Printer) -> None:
    if server is not None:
        name = f" ({server.asker.name})" if server.asker.name not in (None, server.asker.label) else ""
        paper.print(safe_line(f"{server.asker.label}{name}, on {server.revision}"), "bold")
        if server.instructions:
            for text in quoted(server.asker.label, server.instructions, paper.width):
                paper.write(text)
        paper.print()
    print_offers(listing, paper)


def quoted(label: str, text: str, width: int | None) -> Iterator[str]:
    """Server text with a bar before each line, so that it cannot pass for a text of this command."""
    yield f"{safe_line(label)} says:"
    for row in safe_block(text.strip()):
        yield from (f"{BAR}{part}" for part in (wrap(row, width - len(BAR)) if width else [row]))


def print_json(outcome: CallOutcome, out: TextIO) -> None:
    """Print one line of ASCII, which cannot move a terminal."""
    out.write(json.dumps(to_json(outcome)) + "\n")


def print_offers(listing: Listing, paper: Printer) -> None:
    """Print what a server offers, each kind under its heading."""
    kinds: Mapping[str, list[Block]] = {
        "Tools": [_offer(signature_of(one), one.description) for one in listing.tools],
        "Prompts": [_offer(signature_of(one), one.description) for one in listing.prompts],
        "Resources": [_resource(one.uri, one) for one in listing.resources],
        "Resource templates": [_resource(one.uri_template, one) for one in listing.templates],
    }
    for heading, blocks in kinds.items():
        if blocks:
            paper.columns([[[TextRow(heading, "bold")], *blocks]])
            paper.print()
    if not any(kinds.values()):
        paper.print("This server offers no tools, prompts or resources.")


def _offer(offer: CallSignature, description: str | None) -> Block:
    words = [f"{one.name}=..." if one.is_required else f"[{one.name}=...]" for one in offer.parameters]
    return [
        TextRow(safe_line(" ".join([offer.name, *words]), MAX_NAMES), "there", indent=2),
        *_describe(description),
        *(row for one in offer.parameters for row in _parameter(one)),
    ]


def _parameter(parameter: Parameter) -> Iterator[TextRow]:
    facts = [parameter.expects]
    if "default" in parameter.schema:
        facts.append(f"default {as_text(parameter.schema['default']) or 'empty'}")
    elif not parameter.is_required:
        facts.append("optional")
    yield TextRow(safe_line(f"{parameter.name}: {', '.join(facts)}", MAX_DESCRIPTION), indent=6)
    if parameter.hint:
        yield TextRow(safe_line(parameter.hint, MAX_DESCRIPTION), "dim", indent=8)


def _resource(uri: str, resource: Resource | ResourceTemplate) -> Block:
    facts = [resource.title or resource.name, resource.mime_type or ""]
    return [
        TextRow(safe_line(uri, MAX_NAMES), "there", indent=2),
        TextRow(safe_line(", ".join(filter(None, facts))), indent=6),
        *_describe(resource.description),
    ]


def _describe(description: str | None) -> Iterator[TextRow]:
    text = " ".join((description or "").split())
    if text:
        yield TextRow(safe_line(text, MAX_DESCRIPTION), "dim", indent=6)


def lines_of(result: Result) -> Iterator[str]:
    """The result as lines that are safe to print."""
    match result:
        case CallToolResult():
            yield from _lines_of_tool(result)
        case GetPromptResult():
            for message in result.messages:
                yield f"{message.role}:"
                yield from (f"  {one}" for one in _content(message.content))
        case ReadResourceResult():
            for contents in result.contents:
                yield from _contents(contents)
        case _:
            assert_never(result)


def text_lines(text: str) -> list[str]:
    """Server text as safe lines; tables and code keep their gaps."""
    rows = [_make_safe(row) for row in text[:MAX_TEXT].replace("\r\n", "\n").split("\n")]
    left = len(text) - MAX_TEXT
    return [*rows, f"[{left:,} more characters are left out; --json has them]"] if left > 0 else rows


def _make_safe(row: str) -> str:
    pieces = _GAP.split(row)
    return "".join(piece if _GAP.fullmatch(piece) else safe_line(piece, MAX_SAFE_ROW) for piece in pieces)


def _lines_of_tool(result: CallToolResult) -> Iterator[str]:
    for content in result.content:
        yield from _content(content)
    structured = result.structured_content
    if structured is not None and not _is_in_text(structured, result.content):
        yield from text_lines(json.dumps(structured, indent=2, ensure_ascii=False))


def _is_in_text(structured: Any, content: Sequence[ContentBlock]) -> bool:
    """Whether the text content says the same: servers send structured content as text too, for older clients."""
    texts = [one.text for one in content if isinstance(one, TextContent)]
    same = [structured]
    if isinstance(structured, dict) and "result" in structured:
        same.append(structured["result"])  # Python servers wrap a value that is not an object
    return any(text in same or _parse(text) in same for text in texts) or "\n".join(texts) in same


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _content(content: ContentBlock) -> Iterator[str]:
    match content:
        case TextContent():
            yield from text_lines(content.text)
        case ImageContent() | AudioContent():
            yield safe_line(f"[{content.type}: {_describe_data(content.mime_type, content.data)}]")
        case ResourceLink():
            yield safe_line(f"[resource {content.uri}: {content.title or content.name}]")
        case EmbeddedResource():
            yield from _contents(content.resource)
        case _:
            assert_never(content)


def _contents(contents: TextResourceContents | BlobResourceContents) -> Iterator[str]:
    match contents:
        case TextResourceContents():
            yield from text_lines(contents.text)
        case BlobResourceContents():
            yield safe_line(f"[resource {contents.uri}: {_describe_data(contents.mime_type, contents.blob)}]")
        case _:
            assert_never(contents)


def _describe_data(mime_type: str | None, encoded: str) -> str:
    """The type and size, computed from the base64 text without decoding it."""
    count = len(encoded) * 3 // 4 - encoded[-2:].count("=")
    return f"{mime_type or 'unknown type'}, {ByteSize(count).human_readable(decimal=True, separator=' ')}"
