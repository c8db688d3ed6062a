"""One call or listing, from the words that name it to its outcome, in the time that it has."""

import difflib
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, Prompt, Tool

from askback.cli.call.argument_form import ask_missing
from askback.cli.call.arguments import read_arguments
from askback.cli.call.offers import Listing
from askback.cli.call.options import CallRequest
from askback.cli.call.outcome import CallOutcome, Failure, ServerFacts, failure_of, out_of_time, too_slow
from askback.cli.call.parameters import CallSignature, signature_of
from askback.cli.call.people import Answerer
from askback.cli.call.results import Result
from askback.cli.call.status_line import StatusLine
from askback.cli.exits import Misused
from askback.client import AnswerRecord, Driver
from askback.client.person import OnAnswer
from askback.errors import Unfinished

T = TypeVar("T")

MAX_NAMES = 30
"""That an error lists; `askback call TARGET` lists all."""

GRACE = 1.0
"""Seconds for a server to end after the time is over; then whatever hangs is cut off."""

A_MOMENT = 0.01
"""Seconds by which two reckonings of the same time may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCall:
    """A call with everything it takes: what is wanted, who is there, and how long it may last."""

    wanted: CallRequest
    present: Answerer
    working: StatusLine | None = None
    limit: float | None = None
    """Seconds, as they were typed: all told, with connecting and with the time that people take."""

    @property
    def what(self) -> str:
        return f"{self.wanted.kind} {self.wanted.name}"


async def connect_and_run(
    opening: AbstractAsyncContextManager[Driver], order: ServerCall, *, label: str
) -> CallOutcome:
    """Connect and carry the order out. What came of it stays, however its server then ends."""
    ends = math.inf if order.limit is None else anyio.current_time() + order.limit
    outcome: CallOutcome | None = None
    try:
        with anyio.CancelScope(deadline=ends) as scope:
            async with opening as driver:
                scope.deadline = math.inf  # from here on the order watches its own time
                outcome = await run_call(driver, order, ends=ends)
                scope.deadline = ends + GRACE
    except MCPError as error:  # not raised on: a task group around this would wrap it
        return CallOutcome(came=failure_of(error, nobody=order.present.reason))
    return outcome or CallOutcome(came=too_slow(label, order.limit or 0))


async def run_call(driver: Driver, order: ServerCall, *, ends: float = math.inf) -> CallOutcome:
    """List, call, get or read, and what came of it; the time is over at `ends`, by the clock of the event loop."""
    if order.working is not None:
        order.working.connected()
    answers: list[AnswerRecord] = []
    came: Listing | Result | Failure
    try:
        came = await _came(driver, order, answers.append, ends)
    except MCPError as error:
        came = failure_of(error, nobody=order.present.reason)
    server = ServerFacts(asker=driver.asker, revision=driver.revision, instructions=driver.instructions)
    return CallOutcome(came=came, server=server, answers=answers, nobody=order.present.reason)


async def _came(
    driver: Driver, order: ServerCall, noted: OnAnswer, ends: float
) -> Listing | Result | Failure:
    if order.wanted.name is None:
        return await _within(ends, list_all(driver), too_slow(driver.asker.label, order.limit or 0))
    arguments = await _within(ends, _arguments(driver, order), _not_called(order))
    if isinstance(arguments, Failure):
        return arguments
    return await _called(driver, order, arguments, noted, ends)


async def _called(
    driver: Driver, order: ServerCall, arguments: Mapping[str, Any], noted: OnAnswer, ends: float
) -> Result | Failure:
    """The driver itself looks at the time: it does not lose the result of a tool that has finished."""
    limit = None if ends == math.inf else max(0.0, ends - anyio.current_time())
    try:
        call = _call(driver, order, arguments, noted, limit)
        return await _within(ends + GRACE, call, _given_up(order))
    except Unfinished:
        if ends - anyio.current_time() > A_MOMENT:  # it was not this time that was over
            raise
        return _given_up(order)


async def _within(ends: float, work: Awaitable[T], otherwise: Failure) -> T | Failure:
    with anyio.CancelScope(deadline=ends):
        return await work
    return otherwise


def _not_called(order: ServerCall) -> Failure:
    return out_of_time(
        f"The {order.what} was not called: its arguments were not there within {order.limit or 0:g} seconds. Give "
        "them with the command, or more time with --timeout."
    )


def _given_up(order: ServerCall) -> Failure:
    """In the driver's words, and with the figure that was typed: the driver would name what was left of it."""
    problem = f"it was to take {order.limit or 0:g} seconds at most, all told"
    return out_of_time(Unfinished(call=order.what, problem=problem).message)


async def list_all(driver: Driver) -> Listing:
    """Everything; a server that does not know a kind of thing has none of it."""
    return Listing(
        tools=await _listed(driver.list_tools),
        prompts=await _listed(driver.list_prompts),
        resources=await _listed(driver.list_resources),
        templates=await _listed(driver.list_resource_templates),
    )


async def _arguments(driver: Driver, order: ServerCall) -> dict[str, Any]:
    """Those that were typed, and those that somebody was asked for."""
    if order.wanted.kind == "resource":
        return {}
    offer = await _offer(driver, order.wanted.kind, order.wanted.name or "")
    given = read_arguments(order.wanted.arguments, offer, here=Path.cwd())
    missing = await ask_missing(offer, given, order.present.own, asker=driver.asker)
    return {**given, **missing}


async def _call(
    driver: Driver, order: ServerCall, arguments: Mapping[str, Any], noted: OnAnswer, limit: float | None
) -> Result:
    name = order.wanted.name or ""
    progress = order.working.progress if order.working is not None else None
    match order.wanted.kind:
        case "resource":
            return await driver.read_resource(name, limit=limit, progress=progress, noted=noted)
        case "prompt":
            return await driver.get_prompt(name, arguments, limit=limit, progress=progress, noted=noted)
        case _:
            return await driver.call_tool(name, arguments, limit=limit, progress=progress, noted=noted)


async def _offer(driver: Driver, kind: str, name: str) -> CallSignature:
    """What the server says it takes; what it does not list is not called."""
    prompts, tools = driver.list_prompts, driver.list_tools
    offered: Sequence[Tool | Prompt] = await (_listed(prompts) if kind == "prompt" else _listed(tools))
    for one in offered:
        if one.name == name:
            return signature_of(one)
    names = [one.name for one in offered]
    close = difflib.get_close_matches(name, names, n=1)
    known = f"It has {', '.join(names[:MAX_NAMES])}." if names else "It has none."
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
