"""FastMCP's own client with a scripted person behind it, on the modes that it can pin."""

from collections.abc import Callable
from typing import Any, Literal

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from mcp_types import TextContent

MODES: list[Literal["legacy", "2026-07-28"]] = ["legacy", "2026-07-28"]
"""How FastMCP's client is told its era; 2025-11-25 is what it shakes hands for."""

Behaviour = Callable[[str], Any]
"""What the person does with a question, given its message: content, or an `ElicitResult`."""

DECLINE: ElicitResult[Any] = ElicitResult(action="decline")
CANCEL: ElicitResult[Any] = ElicitResult(action="cancel")


class Guest:
    """Answers, and remembers what was asked."""

    def __init__(self, behaviour: Behaviour = lambda _: {"drink": "tea"}) -> None:
        self.asked: list[str] = []
        self._behaviour = behaviour

    async def answer(self, message: str, _kind: Any, _params: Any, _context: Any) -> Any:
        """As FastMCP's client calls it."""
        self.asked.append(message)
        return self._behaviour(message)

    async def sample(self, *_words: Any) -> str:
        """The model behind this client always says the same."""
        return "sampled"

    def at(self, server: Any, mode: Any, **options: Any) -> Client[Any]:
        """A client of this guest's, to be entered."""
        handlers: dict[str, Any] = {"elicitation_handler": self.answer, "sampling_handler": self.sample}
        return Client(server, mode=mode, **handlers | options)


async def say(client: Client[Any], tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
    """The text of what a tool gives, or of its error."""
    result = await client.call_tool(tool, arguments, raise_on_error=False, **options)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
