"""For tests of servers that ask: a scripted person, and one call that runs a tool on any revision.

run = await run_tool(mcp, "order", {"pizza": "Margherita"}, [accept(drink="cola"), accept(yes=True)])
assert run.text == "Order 1"
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from askback.testing.run import REVISIONS, Run, get_prompt, read_resource, run_tool
from askback.testing.script import Asked, Script, ScriptMismatch, accept, cancel, decline, fail, raw, silence
from askback.testing.vault import filled_vault

if TYPE_CHECKING:
    from askback.testing.person import ScriptedPerson

__all__ = [
    "REVISIONS",
    "Asked",
    "Run",
    "Script",
    "ScriptMismatch",
    "ScriptedPerson",
    "accept",
    "cancel",
    "decline",
    "fail",
    "filled_vault",
    "get_prompt",
    "raw",
    "read_resource",
    "run_tool",
    "silence",
]


def __getattr__(name: str) -> Any:
    """Import the scripted person late, because it needs the `client` extra."""
    if name == "ScriptedPerson":
        return import_module("askback.testing.person").ScriptedPerson
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
