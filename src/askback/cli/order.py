"""One call or listing over a connected driver, from the words that name it to its outcome."""

import difflib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, Prompt, Tool

from askback.cli.arguments import read_arguments
from askback.cli.endings import Misused
from askback.cli.listing import Listing
from askback.cli.missing import ask_missing
from askback.cli.options import Wanted
from askback.cli.outcome import Failure, Outcome, Server, failure_of
from askback.cli.parameters import Offer, offer_of
from askback.cli.people import Present
from askback.cli.printing import Result
from askback.cli.working import Working
from askback.client import Answered, Driver
from askback.client.answered import Noted

T = TypeVar("T")

MOST_NAMES = 30
"""That an error lists; `askback call TARGET` lists all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A call with everything it takes: what is wanted, who is there, and how long it may last."""

    wanted: Wanted
    present: Present
    working: Working | None = None
    limit: float | None = None


async def carry_out(driver: Driver, order: Order) -> Outcome:
    """List, call, get or read, and what came of it."""
    answers: list[Answered] = []
    came: Listing | Result | Failure
    try:
        came = await (list_all(driver) if order.wanted.name is None else _call(driver, order, answers.append))
    except MCPError as error:
        came = failure_of(error, nobody=order.present.reason)
    server = Server(asker=driver.asker, revision=driver.revision, instructions=driver.instructions)
    return Outcome(came=came, server=server, answers=answers, nobody=order.present.reason)


async def list_all(driver: Driver) -> Listing:
    """Everything; a server that does not know a kind of thing has none of it."""
    return Listing(
        tools=await _listed(driver.list_tools),
        prompts=await _listed(driver.list_prompts),
        resources=await _listed(driver.list_resources),
        templates=await _listed(driver.list_resource_templates),
    )


async def _call(driver: Driver, order: Order, noted: Noted) -> Result:
    name = order.wanted.name or ""
    progress = order.working.progress if order.working is not None else None
    if order.wanted.kind == "resource":
        return await driver.read_resource(name, limit=order.limit, progress=progress, noted=noted)
    offer = await _offer(driver, order.wanted.kind, name)
    given = read_arguments(order.wanted.arguments, offer, here=Path.cwd())
    missing = await ask_missing(offer, given, order.present.own, asker=driver.asker)
    arguments = {**given, **missing}
    if offer.kind == "prompt":
        return await driver.get_prompt(name, arguments, limit=order.limit, progress=progress, noted=noted)
    return await driver.call_tool(name, arguments, limit=order.limit, progress=progress, noted=noted)


async def _offer(driver: Driver, kind: str, name: str) -> Offer:
    """What the server says it takes; what it does not list is not called."""
    prompts, tools = driver.list_prompts, driver.list_tools
    offered: Sequence[Tool | Prompt] = await (_listed(prompts) if kind == "prompt" else _listed(tools))
    for one in offered:
        if one.name == name:
            return offer_of(one)
    names = [one.name for one in offered]
    close = difflib.get_close_matches(name, names, n=1)
    known = f"It has {', '.join(names[:MOST_NAMES])}." if names else "It has none."
    raise Misused(
        f"{driver.asker.label} has no {kind} {name!r}. {f'Did you mean {close[0]}?' if close else known}"
    )


async def _listed(fetch: Callable[[], Awaitable[list[T]]]) -> list[T]:
    try:
        return await fetch()
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            return []
        raise
