"""A travel office: several questions, choices and confirmations."""

import asyncio
from enum import Enum

import anyio
from mcp.server import MCPServer

from askback import Accepted, Answer, Ask, Askback, Cancelled, Declined, ask, ask_all, choose, confirm

mcp = MCPServer("travel")
Askback(mcp)


# --8<-- [start:ask_all]
@mcp.tool()
async def plan() -> str:
    """Two questions in one round; the answers come by key."""
    answers = await ask_all({"where": ("Where to?", str), "nights": ("How many nights?", int)})
    match answers:
        case {"where": Accepted(where), "nights": Accepted(nights)}:
            return f"{nights} nights in {where}"
        case _:
            return "Not yet planned."


# --8<-- [end:ask_all]


# --8<-- [start:typed]
@mcp.tool()
async def plan_typed() -> str:
    """Two questions with types: `where` is an `Answer[str]`, `nights` an `Answer[int]`."""
    where, nights = await ask_all(Ask("where", "Where to?", str), Ask("nights", "How many nights?", int))
    return f"{nights.or_stop('Then not.') + 1} days in {where.or_stop('Then not.').title()}"


# --8<-- [end:typed]


# --8<-- [start:gather]
@mcp.tool()
async def pack() -> str:
    """Questions asked by tasks side by side have keys."""
    bag, coat = await asyncio.gather(
        ask("A bag?", bool, key="bag"),
        ask("A coat?", bool, key="coat"),
    )
    return f"bag: {told(bag)}, coat: {told(coat)}"


@mcp.tool()
async def pack_in_a_group() -> str:
    """A task group does as well, asyncio's or anyio's."""
    answers: dict[str, Answer[bool]] = {}

    async def ask_for(thing: str) -> None:
        answers[thing] = await ask(f"A {thing}?", bool, key=thing)

    async with anyio.create_task_group() as group:
        group.start_soon(ask_for, "bag")
        group.start_soon(ask_for, "coat")
    return f"bag: {told(answers['bag'])}, coat: {told(answers['coat'])}"


# --8<-- [end:gather]


# --8<-- [start:told]
def told(answer: Answer[bool]) -> str:
    match answer:
        case Accepted(True):
            return "yes"
        case Accepted() | Declined():
            return "no"
        case Cancelled():
            return "open"


# --8<-- [end:told]


# --8<-- [start:choose]
class Travel(Enum):
    TRAIN = "train"
    FERRY = "ferry"


@mcp.tool()
async def travel() -> str:
    """One of several: the value that comes back is the one that was put in."""
    how = (
        await choose("How will you travel?", {Travel.TRAIN: "By train", Travel.FERRY: "By ferry"})
    ).or_stop("Stay.")
    return f"By {how.value}"


@mcp.tool()
async def excursions(offers: list[str]) -> str:
    """Several of several, from a list that is known only now."""
    chosen = (await choose("Which excursions?", offers, multiple=True, most=2)).or_stop("None.")
    return ", ".join(chosen) or "none"


# --8<-- [end:choose]


# --8<-- [start:confirm]
@mcp.tool()
async def cancel_booking(number: int) -> str:
    """True for an explicit yes; no, silence and a closed form are all False."""
    if not await confirm(f"Cancel booking {number}?"):
        return f"Booking {number} stays."
    return f"Booking {number} is cancelled."


# --8<-- [end:confirm]


# --8<-- [start:loop]
@mcp.tool()
async def name_travellers(count: int) -> str:
    """In order, without keys: each question has its place."""
    names = [
        (await ask(f"Name of traveller {number + 1}?", str)).or_stop("Nobody.") for number in range(count)
    ]
    return ", ".join(names)


# --8<-- [end:loop]


if __name__ == "__main__":
    mcp.run()
