"""A host of one's own: connect, let a person answer, look at what came of it."""

from typing import Any

from mcp_types import CallToolResult

from askback.client import Driver, Person, PersonQueue
from askback.model.safe import safe_line


# --8<-- [start:call]
async def order(target: Any, person: Person) -> CallToolResult:
    async with Driver(target, person, label="my pizzeria") as driver:
        result = await driver.call_tool("order", {"pizza": "Margherita"})
        for one in driver.answered:
            print(f"{safe_line(one.asked.message)} {one.action}, on the word of {one.by}")
        return result


# --8<-- [end:call]


# --8<-- [start:line]
async def order_everywhere(targets: list[Any], person: Person) -> list[CallToolResult]:
    queue = PersonQueue(person)
    results: list[CallToolResult] = []
    for target in targets:
        async with Driver(target, queue) as driver:
            results.append(await driver.call_tool("order", {"pizza": "Margherita"}))
    return results


# --8<-- [end:line]
