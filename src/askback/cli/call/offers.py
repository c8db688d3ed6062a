"""What a server offers, for a person to read or as JSON. Server text is made safe here, where it is printed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_types import Prompt, Resource, ResourceTemplate, Tool
from pydantic import BaseModel

from askback.cli.call.parameters import CallSignature, Parameter, as_text, signature_of
from askback.cli.printer import Block, Printer, TextRow
from askback.model.safe import safe_line

MAX_DESCRIPTION, MAX_NAMES = 400, 2000
"""Characters of one description, and of what is to be typed again; who wants all of it takes --json."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All pages of everything a server offers."""

    tools: Sequence[Tool] = ()
    prompts: Sequence[Prompt] = ()
    resources: Sequence[Resource] = ()
    templates: Sequence[ResourceTemplate] = ()

    def to_json(self) -> dict[str, Any]:
        """As the server sent it, in the words of the protocol."""
        return {
            "tools": list(map(as_json, self.tools)),
            "prompts": list(map(as_json, self.prompts)),
            "resources": list(map(as_json, self.resources)),
            "resourceTemplates": list(map(as_json, self.templates)),
        }

    def print(self, paper: Printer) -> None:
        """Each kind under its heading; kinds that are not there are left out."""
        kinds: Mapping[str, list[Block]] = {
            "Tools": [_offer(signature_of(one), one.description) for one in self.tools],
            "Prompts": [_offer(signature_of(one), one.description) for one in self.prompts],
            "Resources": [_resource(one.uri, one) for one in self.resources],
            "Resource templates": [_resource(one.uri_template, one) for one in self.templates],
        }
        for heading, blocks in kinds.items():
            if blocks:
                paper.columns([[[TextRow(heading, "bold")], *blocks]])
                paper.print()
        if not any(kinds.values()):
            paper.print("This server offers no tools, prompts or resources.")


def as_json(model: BaseModel) -> dict[str, Any]:
    """In the words of the protocol."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _offer(offer: CallSignature, description: str | None) -> Block:
    words = [f"{one.name}=..." if one.is_required else f"[{one.name}=...]" for one in offer.parameters]
    return [
        TextRow(safe_line(" ".join([offer.name, *words]), MAX_NAMES), "there", indent=2),
        *_said(description),
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
        *_said(resource.description),
    ]


def _said(description: str | None) -> Iterator[TextRow]:
    text = " ".join((description or "").split())
    if text:
        yield TextRow(safe_line(text, MAX_DESCRIPTION), "dim", indent=6)
