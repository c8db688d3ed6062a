"""For tests of servers that ask: a scripted person, and one call that runs a tool on any revision.

run = await run_tool(mcp, "order", {"pizza": "Margherita"}, [accept(drink="cola"), accept(yes=True)])
assert run.text == "Order 1"
"""

from askback.testing.replies import accept, cancel, decline, fail, raw, silence
from askback.testing.run import REVISIONS, Run, get_prompt, read_resource, run_tool
from askback.testing.script import Asked, Script, ScriptMismatch

__all__ = [
    "REVISIONS",
    "Asked",
    "Run",
    "Script",
    "ScriptMismatch",
    "accept",
    "cancel",
    "decline",
    "fail",
    "get_prompt",
    "raw",
    "read_resource",
    "run_tool",
    "silence",
]
