"""Results and listings, as a person reads them."""

import base64
import io
from typing import Any

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceLink,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
)

from askback.cli.call.report import lines_of, print_offers
from askback.cli.call.server_call import Listing
from askback.cli.console import Printer

PIXELS = base64.b64encode(bytes(1234)).decode()


def text(words: str) -> TextContent:
    return TextContent(text=words)


def test_texts_stand_as_they_came():
    table = "a\tb\n1          2\n"
    assert list(lines_of(CallToolResult(content=[text(table)]))) == ["a\tb", "1          2", ""]


@pytest.mark.verifies("T15")
def test_nothing_in_a_result_can_move_the_terminal():
    hostile = "\x1b]0;mine\x07 \x9b2J \r\x08 \u202egnp.exe"
    shown = "\n".join(
        lines_of(
            CallToolResult(
                content=[
                    text(hostile),
                    ImageContent(data="", mime_type=hostile),
                    ResourceLink(name=hostile, uri=f"file:///{hostile}"),
                ],
                structured_content={"key": hostile},
            )
        )
    )
    assert not any((ord(letter) < 32 and letter != "\n") or 0x7F <= ord(letter) < 0xA0 for letter in shown)
    assert "\u202e" not in shown


def test_what_is_not_text_is_told_by_kind_type_and_size():
    blob = BlobResourceContents(uri="file:///a.bin", mime_type="application/zip", blob=PIXELS)
    result = CallToolResult(
        content=[
            ImageContent(data=PIXELS, mime_type="image/png"),
            AudioContent(data=PIXELS, mime_type="audio/wav"),
            ResourceLink(name="notes", title="Notes", uri="file:///notes"),
            EmbeddedResource(resource=TextResourceContents(uri="file:///t", text="inside")),
            EmbeddedResource(resource=blob),
        ]
    )
    assert list(lines_of(result)) == [
        "[image: image/png, 1.2 KB]",
        "[audio: audio/wav, 1.2 KB]",
        "[resource file:///notes: Notes]",
        "inside",
        "[resource file:///a.bin: application/zip, 1.2 KB]",
    ]


STRUCTURED: list[tuple[str, Any, list[str]]] = [
    ("ok", {"result": "ok"}, ["ok"]),
    ('{"n": 1}', {"n": 1}, ['{"n": 1}']),
    ("5", {"result": 5}, ["5"]),
    ("five", {"n": 5}, ["five", "{", '  "n": 5', "}"]),
]


@pytest.mark.parametrize(("said", "structured", "lines"), STRUCTURED, ids=[one[0] for one in STRUCTURED])
def test_structured_content_is_shown_where_the_text_does_not_say_it(
    said: str, structured: Any, lines: list[str]
):
    assert list(lines_of(CallToolResult(content=[text(said)], structured_content=structured))) == lines


def test_a_prompt_shows_who_speaks_and_a_resource_its_text():
    prompt = GetPromptResult(messages=[PromptMessage(role="user", content=text("Plan\nwell"))])
    assert list(lines_of(prompt)) == ["user:", "  Plan", "  well"]
    resource = ReadResourceResult(contents=[TextResourceContents(uri="file:///t", text="inside")])
    assert list(lines_of(resource)) == ["inside"]


def test_a_text_of_many_megabytes_is_cut_with_a_word_on_it():
    lines = list(lines_of(CallToolResult(content=[text("x" * 3_000_000)])))
    assert lines[-1] == "[2,000,000 more characters are left out; --json has them]"


OFFERED = Listing(
    tools=[
        Tool(
            name="order",
            description="Order a pizza;\n  the guest is asked about extras.",
            input_schema={
                "type": "object",
                "properties": {
                    "pizza": {"type": "string", "title": "Pizza", "description": "As on the card"},
                    "size": {"enum": ["small", "large"], "default": "small"},
                    "table": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                },
                "required": ["pizza"],
            },
        )
    ],
    prompts=[Prompt(name="plan", arguments=[PromptArgument(name="days")])],
    resources=[Resource(name="menu", uri="menu://today", mime_type="text/plain")],
    templates=[ResourceTemplate(name="dish", uri_template="menu://{day}")],
)

LISTED = """\
Tools
  order pizza=... [size=...] [table=...]
      Order a pizza; the guest is asked about extras.
      pizza: text
        As on the card
      size: one of small, large, default small
      table: whole number, optional

Prompts
  plan [days=...]
      days: text, optional

Resources
  menu://today
      menu, text/plain

Resource templates
  menu://{day}
      dish

"""


def printed(listing: Listing, width: int) -> str:
    out = io.StringIO()
    print_offers(listing, Printer(out, width=width, colour=False))
    return out.getvalue()


def test_a_listing_names_everything_with_its_arguments():
    assert printed(OFFERED, 80) == LISTED


def test_a_listing_fits_into_forty_columns():
    assert max(map(len, printed(OFFERED, 40).splitlines())) <= 40


def test_a_server_that_offers_nothing_is_said_to():
    assert printed(Listing(), 80) == "This server offers no tools, prompts or resources.\n"
