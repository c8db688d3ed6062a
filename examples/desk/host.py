"""Two servers, one desk: a person answers both in their browser, in whatever order they like."""

import sys
from collections.abc import Callable

import anyio
from mcp_types import CallToolResult, TextContent

# --8<-- [start:two]
from askback.client import Driver, PersonQueue
from askback.client.desk import DeskPerson

PIZZERIA = [sys.executable, "-m", "examples.pizzeria.server"]
FRONT_DESK = [sys.executable, "-m", "examples.questions.server"]


async def dinner(show: Callable[[str], object] = print) -> list[str]:
    """Calls a tool on each server; the questions of both wait on one page."""
    said: list[str] = []
    async with DeskPerson() as desk:
        show(f"Answer here: {desk.url}")
        line = PersonQueue(desk)
        async with (
            Driver(PIZZERIA, line, label="pizzeria") as pizzeria,
            Driver(FRONT_DESK, line, label="front desk") as front_desk,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(call, said, pizzeria, "order", "Margherita")
            tasks.start_soon(call, said, front_desk, "seats")
    return said


async def call(said: list[str], driver: Driver, tool: str, pizza: str | None = None) -> None:
    said.append(text_of(await driver.call_tool(tool, {"pizza": pizza} if pizza else None)))


# --8<-- [end:two]


def text_of(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


if __name__ == "__main__":
    print(*anyio.run(dinner), sep="\n")
