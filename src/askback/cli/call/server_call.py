"""One call or listing of a server, from the words that name it to its outcome, within its time. Prints nothing."""

import difflib
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    GetPromptResult,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    Tool,
)

from askback.cli.call.argument_form import ask_missing
from askback.cli.call.arguments import CallSignature, read_arguments, signature_of
from askback.cli.call.options import CallRequest
from askback.cli.call.people import Answerer, StatusLine
from askback.cli.console import Exit, Misused, NotConnected
from askback.client import AnswerRecord, Driver
from askback.client.person import OnAnswer
from askback.errors import (
    AskbackError,
    AuthorError,
    CannotConnect,
    NotVisited,
    OperatorError,
    PeerError,
    ServerGone,
    Unanswered,
    Unfinished,
)

T = TypeVar("T")

MAX_NAMES = 30
"""Names that an error lists; `askback call TARGET` lists all."""

GRACE = 1.0
"""Seconds that a server has to end after the time is over; then it is cut off."""

CLOCK_TOLERANCE = 0.01
"""Seconds by which two readings of the clock may differ."""

SERVER_ERROR = "ServerError"
"""The kind of an error that the server answered with."""

Result = CallToolResult | GetPromptResult | ReadResourceResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCall:
    """What is wanted from a server, who answers its questions, and how long it may take."""

    wanted: CallRequest
    present: Answerer
    working: StatusLine | None = None
    limit: float | None = None
    """Seconds in all, with connecting and with the time that people take."""

    @property
    def what(self) -> str:
        return f"{self.wanted.kind} {self.wanted.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Everything that a server offers."""

    tools: Sequence[Tool] = ()
    prompts: Sequence[Prompt] = ()
    resources: Sequence[Resource] = ()
    templates: Sequence[ResourceTemplate] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no result, and what would help."""

    exit: Exit
    kind: str
    message: str
    code: int | None = None
    advice: str | None = None
    result: CallToolResult | None = None
    """The result of a tool that finished nevertheless."""

    @property
    def is_theirs(self) -> bool:
        """Whether the message is the server's text."""
        return self.kind == SERVER_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """A listing, a result or a failure, and who answered which question."""

    came: Listing | Result | Failure
    server: Driver | None = None
    """The server, if it was connected."""
    answers: Sequence[AnswerRecord] = field(default=())
    nobody: str | None = None
    """Why nobody could be asked, if so."""
    log: str = field(default="", repr=False)
    """The end of the server's standard error; its own text."""

    @property
    def exit(self) -> Exit:
        if isinstance(self.came, Failure):
            return self.came.exit
        if isinstance(self.came, CallToolResult) and self.came.is_error:
            # Before 2026 a tool that cannot ask reports an error of its own; only its text tells.
            text = " ".join(one.text for one in self.came.content if isinstance(one, TextContent))
            wanted_to_ask = self.nobody is not None and mentions_asking(text)
            return Exit.NOBODY_ANSWERED if wanted_to_ask else Exit.FAILED
        return Exit.DONE

    @property
    def advice(self) -> str | None:
        """What would help, if anything."""
        if isinstance(self.came, Failure):
            return self.came.advice
        return self.nobody if self.exit == Exit.NOBODY_ANSWERED else None


EXITS: dict[type[Exception], Exit] = {
    NotConnected: Exit.NOT_CONNECTED,
    CannotConnect: Exit.NOT_CONNECTED,
    OperatorError: Exit.MISUSED,
    AuthorError: Exit.MISUSED,
    ServerGone: Exit.NOT_CONNECTED,
    NotVisited: Exit.NOBODY_ANSWERED,
    Unanswered: Exit.NOBODY_ANSWERED,
    Unfinished: Exit.OUT_OF_TIME,
}
"""The first kind that fits counts; any other error came from the server."""


async def connect_and_run(
    opening: AbstractAsyncContextManager[Driver], order: ServerCall, *, label: str
) -> CallOutcome:
    """Connect and make the call. The outcome stays, however the server then ends."""
    ends = math.inf if order.limit is None else anyio.current_time() + order.limit
    outcome: CallOutcome | None = None
    try:
        with anyio.CancelScope(deadline=ends) as scope:
            async with opening as driver:
                scope.deadline = math.inf  # from here on the call watches its own time
                outcome = await run_call(driver, order, ends=ends)
                scope.deadline = ends + GRACE
    except MCPError as error:  # not raised, because a task group around this would wrap it
        return CallOutcome(came=failure_of(error, nobody=order.present.nobody))
    return outcome or CallOutcome(came=too_slow(label, order.limit or 0))


async def run_call(driver: Driver, order: ServerCall, *, ends: float = math.inf) -> CallOutcome:
    """List, call, get or read; the time is over at `ends`, by the clock of the event loop."""
    if order.working is not None:
        order.working.connected()
    answers: list[AnswerRecord] = []
    came: Listing | Result | Failure
    try:
        came = await _list_or_call(driver, order, answers.append, ends)
    except MCPError as error:
        came = failure_of(error, nobody=order.present.nobody)
    return CallOutcome(came=came, server=driver, answers=answers, nobody=order.present.nobody)


async def _list_or_call(
    driver: Driver, order: ServerCall, noted: OnAnswer, ends: float
) -> Listing | Result | Failure:
    if order.wanted.name is None:
        return await _within(ends, list_all(driver), too_slow(driver.asker.label, order.limit or 0))
    too_late = _out_of_time(
        f"The {order.what} was not called: its arguments were not there within {order.limit or 0:g} seconds. Give "
        "them with the command, or more time with --timeout."
    )
    arguments = await _within(ends, _arguments(driver, order), too_late)
    if isinstance(arguments, Failure):
        return arguments
    return await _call_in_time(driver, order, arguments, noted, ends)


async def _call_in_time(
    driver: Driver, order: ServerCall, arguments: Mapping[str, Any], noted: OnAnswer, ends: float
) -> Result | Failure:
    """Make the call. The driver watches the time too, so that the result of a finished tool is not lost."""
    limit = None if ends == math.inf else max(0.0, ends - anyio.current_time())
    try:
        return await _within(ends + GRACE, _call(driver, order, arguments, noted, limit), _given_up(order))
    except Unfinished:
        if ends - anyio.current_time() > CLOCK_TOLERANCE:  # another limit was exceeded
            raise
        return _given_up(order)


async def _within(ends: float, work: Awaitable[T], otherwise: Failure) -> T | Failure:
    with anyio.CancelScope(deadline=ends):
        return await work
    return otherwise


def _given_up(order: ServerCall) -> Failure:
    """The driver's error with the limit that was typed; the driver would name what was left of it."""
    problem = f"it was to take {order.limit or 0:g} seconds at most, all told"
    return _out_of_time(Unfinished(call=order.what, problem=problem).message)


async def list_all(driver: Driver) -> Listing:
    """List everything; a server that does not know a method offers nothing of that kind."""
    return Listing(
        tools=await _list_known(driver.list_tools),
        prompts=await _list_known(driver.list_prompts),
        resources=await _list_known(driver.list_resources),
        templates=await _list_known(driver.list_resource_templates),
    )


async def _arguments(driver: Driver, order: ServerCall) -> dict[str, Any]:
    """The arguments that were typed, and those that a person was asked for."""
    if order.wanted.kind == "resource":
        return {}
    offer = await _offer(driver, order.wanted.kind, order.wanted.name or "")
    given = read_arguments(order.wanted.arguments, offer, here=Path.cwd())
    return {**given, **await ask_missing(offer, given, order.present.own, asker=driver.asker)}


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
    """The signature that the server lists; what it does not list is not called."""
    prompts, tools = driver.list_prompts, driver.list_tools
    offered: Sequence[Tool | Prompt] = await (
        _list_known(prompts) if kind == "prompt" else _list_known(tools)
    )
    for one in offered:
        if one.name == name:
            return signature_of(one)
    names = [one.name for one in offered]
    close = difflib.get_close_matches(name, names, n=1)
    known = f"It has {', '.join(names[:MAX_NAMES])}." if names else "It has none."
    raise Misused(
        f"{driver.asker.label} has no {kind} {name!r}. {f'Did you mean {close[0]}?' if close else known}"
    )


async def _list_known(fetch: Callable[[], Awaitable[list[T]]]) -> list[T]:
    try:
        return await fetch()
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            return []
        raise


def failure_of(error: MCPError, *, nobody: str | None) -> Failure:
    """The failure behind an error: its exit code, its text and advice."""
    is_ours = isinstance(error, AskbackError)
    exit_ = next((exit_ for kind, exit_ in EXITS.items() if isinstance(error, kind)), Exit.FAILED)
    if exit_ is Exit.FAILED and nobody is not None:
        lacks_capability = error.code == MISSING_REQUIRED_CLIENT_CAPABILITY
        exit_ = Exit.NOBODY_ANSWERED if lacks_capability or mentions_asking(error.message) else exit_
    helps = exit_ == Exit.NOBODY_ANSWERED and not isinstance(error, Unanswered | NotVisited)
    # A tool that finished may have reported its result in a wrong form.
    has_result = type(error) is PeerError and error.data is not None
    return Failure(
        exit=exit_,
        kind=type(error).__name__ if is_ours else SERVER_ERROR,
        message=error.message,
        code=None if is_ours else error.code,
        advice=nobody if helps else None,
        result=CallToolResult.model_validate(error.data) if has_result else None,
    )


def too_slow(label: str, seconds: float) -> Failure:
    """Out of time, because the server did not even connect."""
    return _out_of_time(
        f"{label} did not answer within {seconds:g} seconds. Give it longer with --timeout, or start it by hand to "
        "see what it does."
    )


def mentions_asking(text: str) -> bool:
    """Whether it contains the protocol's word for asking, as the errors of every SDK do."""
    return "elicit" in text.lower()


def _out_of_time(message: str) -> Failure:
    return Failure(exit=Exit.OUT_OF_TIME, kind=Unfinished.__name__, message=message)
