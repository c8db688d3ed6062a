"""Runs a file of the examples: as it was, with the guide's lines added, or rewritten."""

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mcp.shared.exceptions import MCPError

from askback.server.hosts import lowlevel_of
from askback.testing import Run, get_prompt, read_resource, run_tool
from askback.testing.run import Wire, connect
from askback.testing.script import Script
from tests.end_to_end.migrate.guide import source_of
from tests.end_to_end.migrate.stories import Story

FORMS_AND_LINKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}

METHODS = {"tool": "tools/call", "prompt": "prompts/get", "resource": "resources/read"}


def load(style: str, variant: str) -> ModuleType:
    """The file as a module of its own, so that every test has a fresh server."""
    module = ModuleType(f"migrate_{style}_{variant}")
    sys.modules[module.__name__] = module  # where a dataclass looks for its own module
    exec(compile(source_of(style, variant), f"{style}/{variant}.py", "exec"), vars(module))
    return module


def server_in(module: ModuleType) -> Any:
    """The server that a file makes."""
    made = vars(module)
    return made["mcp"] if "mcp" in made else made["server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a call ended."""

    text: str
    failed: bool


async def run_as_it_was(server: Any, story: Story, revision: str) -> Outcome:
    """The story on a server without Askback."""
    wire = Wire(version=revision, capabilities=FORMS_AND_LINKS, script=Script(story.answers))
    params = (
        {"uri": story.name}
        if story.kind == "resource"
        else {"name": story.name, "arguments": story.arguments}
    )
    try:
        async with connect(lowlevel_of(server), wire):
            result = await wire.call(METHODS[story.kind], params)
    except MCPError as error:
        return Outcome(text=error.message, failed=True)
    run = Run(result=result, asked=[], transcript=[])
    return Outcome(text=run.text, failed=run.is_error)


async def run_with_askback(server: Any, story: Story, revision: str, *, rewritten: bool = False) -> Run:
    """The story on a server with Askback, whose body is run again after every answer on every revision."""
    answers = story.rewritten if rewritten and story.rewritten is not None else story.answers
    options: dict[str, Any] = {"revision": revision, "capabilities": FORMS_AND_LINKS}
    match story.kind:
        case "tool":
            return await run_tool(server, story.name, story.arguments, answers, **options)
        case "prompt":
            return await get_prompt(server, story.name, story.arguments, answers, **options)
        case "resource":
            return await read_resource(server, story.name, answers, **options)
