"""Results for a person to read. Server text is made safe here, where it is printed; JSON has it as it came."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from askback.model.safe import safe_line

MOST = 1_000_000
"""Characters of one text. More is no reading matter; --json has all of it."""

WIDEST = 20 * MOST
"""Made visible, a character may take many; nothing is cut a second time."""

_GAP = re.compile("(\t+| {2,})")

Result = CallToolResult | GetPromptResult | ReadResourceResult


def lines_of(result: Result) -> Iterator[str]:
    """The result as lines that are safe to print."""
    match result:
        case CallToolResult():
            yield from _tool(result)
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
    """Server text, laid out as it came: tables and code keep their gaps, since no frame of ours stands around them."""
    rows = [_row(row) for row in text[:MOST].replace("\r\n", "\n").split("\n")]
    left = len(text) - MOST
    return [*rows, f"[{left:,} more characters are left out; --json has them]"] if left > 0 else rows


def _row(row: str) -> str:
    pieces = _GAP.split(row)
    return "".join(piece if _GAP.fullmatch(piece) else safe_line(piece, WIDEST) for piece in pieces)


def size(count: float) -> str:
    """Bytes as people say them."""
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in ("kB", "MB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} GB"


def _tool(result: CallToolResult) -> Iterator[str]:
    for content in result.content:
        yield from _content(content)
    structured = result.structured_content
    if structured is not None and not _is_said(structured, result.content):
        yield from text_lines(json.dumps(structured, indent=2, ensure_ascii=False))


def _is_said(structured: Any, content: Sequence[ContentBlock]) -> bool:
    """Servers send structured content as text too, for clients that do not know it: once is enough."""
    texts = [one.text for one in content if isinstance(one, TextContent)]
    same = (structured, _inner(structured))
    return any(text in same or _parsed(text) in same for text in texts) or "\n".join(texts) in same


def _inner(structured: Any) -> Any:
    """Python servers wrap what is no object as `result`."""
    match structured:
        case {"result": inner}:
            return inner
        case _:
            return structured


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _content(content: ContentBlock) -> Iterator[str]:
    match content:
        case TextContent():
            yield from text_lines(content.text)
        case ImageContent() | AudioContent():
            yield safe_line(f"[{content.type}: {_kind(content.mime_type, content.data)}]")
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
            yield safe_line(f"[resource {contents.uri}: {_kind(contents.mime_type, contents.blob)}]")
        case _:
            assert_never(contents)


def _kind(mime_type: str | None, encoded: str) -> str:
    """Its size told from the base64 text without decoding it."""
    count = len(encoded) * 3 // 4 - encoded[-2:].count("=")
    return f"{mime_type or 'unknown type'}, {size(count)}"
