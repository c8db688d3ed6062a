"""An open connection: the SDK's session on our dispatcher, the revision that was found, and who is at the other end."""

import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import anyio.abc
from mcp.client._probe import negotiate_auto
from mcp.client.session import ClientRequestContext, ClientSession, ListRootsFnT, SamplingFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import (
    CallToolResult,
    CreateMessageRequest,
    ErrorData,
    Implementation,
    InputRequest,
    ListRootsRequest,
    PaginatedRequestParams,
)
from pydantic import TypeAdapter, ValidationError

from askback.client.call import ClientCall
from askback.client.consent import Sites
from askback.client.intake import Intake
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.limits import Clock, QuestionLimits, Sleep
from askback.client.person import Asker, Mode, PersonQueue
from askback.client.question_handler import QuestionHandler
from askback.client.target import Destination, redact_headers
from askback.errors import AskbackError, CannotConnect, NotUnderstood, PeerError, ServerGone
from askback.model.safe import safe_line
from askback.protocol.client import ElicitationDispatcher, is_lost, supported_modes
from askback.protocol.revisions import Era, Revision, revision_of

logger = logging.getLogger(__name__)

T = TypeVar("T")

START_SECONDS = 60.0
"""For a server to start and say which revision it speaks: some are first downloaded by their command."""

LEAVE_SECONDS = 8.0
"""For a connection to close by itself: the SDK takes seven to end a stubborn program. A remote server may never answer
that the session is over."""

_INPUT: TypeAdapter[InputRequest] = TypeAdapter(InputRequest)


async def negotiate(session: ClientSession, pinned: Revision | None) -> Revision:
    """Agree on a revision with the server; raises where it does not speak the pinned one."""
    if pinned is None:
        await negotiate_auto(session)
    elif pinned.era is not Era.ROUNDS:
        await session.initialize()
    else:
        try:
            await session.discover()
        except (MCPError, ValidationError) as error:
            if isinstance(error, MCPError) and is_lost(error):
                raise
            raise NotUnderstood(f"it does not answer in {pinned.version}") from error
    assert session.protocol_version is not None
    if pinned is not None and session.protocol_version != pinned.version:
        raise NotUnderstood(f"asked to speak {pinned.version}, it answered in {session.protocol_version}")
    return revision_of(session.protocol_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSettings:
    """What a driver was made with."""

    line: PersonQueue
    modes: Collection[Mode]
    label: str
    pinned: Revision | None
    sampling: SamplingFnT | None
    roots: ListRootsFnT | None
    patience: float | None
    limits: QuestionLimits
    sites: Sites | None
    client_info: Implementation
    clock: Clock
    sleep: Sleep


class ClientConnection:
    """Made by `connect`, and good until `leave`."""

    session: ClientSession
    revision: Revision

    def __init__(self, place: Destination, settings: DriverSettings, tasks: anyio.abc.TaskGroup) -> None:
        self.place, self.settings = place, settings
        self.intake = Intake(
            settings.line,
            asker=Asker(label=settings.label, host=place.host, identity=place.identity),
            limits=settings.limits,
            sites=settings.sites,
            clock=settings.clock,
            sleep=settings.sleep,
        )
        idle = ClientCall(
            "no call of yours", limits=settings.limits, patience=settings.patience, clock=settings.clock
        )
        self.questions = QuestionHandler(
            self.intake, idle, tasks=tasks, delegate=self._delegate, sleep=settings.sleep
        )
        self.failure: Exception | None = None
        """What ended the connection, where the transport said so."""
        self._leaving, self._left = anyio.Event(), anyio.Event()
        self._holding = anyio.CancelScope()

    async def hold(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Keep the connection open, in a task of its own: a transport that fails cancels no other task."""
        settings, questions = self.settings, self.questions
        pinned = settings.pinned.version if settings.pinned is not None else None
        try:
            with self._holding:
                async with (
                    self.place.transport as streams,
                    ClientSession(
                        sampling_callback=settings.sampling,
                        list_roots_callback=settings.roots,
                        client_info=settings.client_info,
                        dispatcher=ElicitationDispatcher(
                            JSONRPCDispatcher(*streams),
                            converse=questions.converse,
                            on_pushed=questions.answer_pushed,
                            on_finished=questions.completions.finish,
                            on_sign_of_life=questions.note_sign_of_life,
                            on_closed=questions.close,
                            modes=settings.modes,
                            pinned=pinned,
                            is_forgotten=self.place.refusal.is_forgotten,
                        ),
                    ) as self.session,
                ):
                    task_status.started()
                    await self._leaving.wait()
        except Exception as error:
            while isinstance(error, ExceptionGroup):  # what went wrong, without the task groups around it
                error = cast("ExceptionGroup[Exception]", error).exceptions[0]
            self.failure = error
            logger.debug("the connection to %s failed", self.settings.label, exc_info=True)
        finally:
            self._left.set()

    async def leave(self) -> None:
        """End the connection; questions that are still out go with it."""
        self.questions.abandon()
        self._leaving.set()
        # A cancelled caller waits too: `hold` is then cancelled as well, and has to be over in any case. A second
        # cancellation in here would have the first as its context and become the context of that.
        with anyio.move_on_after(LEAVE_SECONDS, shield=True):
            await self._left.wait()
        self._holding.cancel()
        with anyio.CancelScope(shield=True):
            await self._left.wait()

    async def handshake(self) -> None:
        """Find the revision, and learn how the server names itself."""
        with anyio.fail_after(START_SECONDS):
            self.revision = await negotiate(self.session, self.settings.pinned)
        self.questions.modes = supported_modes(self.settings.modes, self.revision)
        self.questions.takes_pushed = self.revision.era is not Era.ROUNDS
        described = self.session.server_info
        self.intake.asker = replace(self.intake.asker, name=described.name if described else None)

    async def call(
        self, call: ClientCall, work: Callable[[], Awaitable[T]], *, limit: float | None = None
    ) -> T:
        """Do `work` as this call; what the SDK raises becomes an error that says whose move it is."""
        self.require_open(call)
        with self.questions.making(call):
            try:
                return await call.run(work, limit=limit)
            except AskbackError:
                raise
            except MCPError as error:
                if is_lost(error):
                    self.questions.is_closed = True
                    raise self._gone(call) from error
                raise
            except (ValidationError, RuntimeError) as error:
                if error is call.failure:
                    raise
                problem = redact_headers(_first_line(error), self.place.headers)
                raise NotUnderstood(f"its result for {call.purpose} cannot be read: {problem}") from error

    def require_open(self, call: ClientCall) -> None:
        """Raise where the connection is known to be closed."""
        if self.questions.is_closed:
            raise self._gone(call, was_sent=False)

    def _gone(self, call: ClientCall, *, was_sent: bool = True) -> ServerGone:
        return ServerGone(
            server=self.settings.label,
            during=call.purpose,
            said=self.place.said.tail,
            only_looked=call.only_looks,
            was_sent=was_sent,
        )

    async def _delegate(self, key: str, request: Any) -> Any:
        """Sampling and roots go to the callbacks that were given for them."""
        try:
            asked = _INPUT.validate_python(request, by_name=False)
        except ValidationError as error:
            raise NotUnderstood(
                f"its round has something under {key[:MAX_REPEATED_LENGTH]!r} that is no request"
            ) from error
        for kind, callback, what in (
            (ListRootsRequest, self.settings.roots, "roots"),
            (CreateMessageRequest, self.settings.sampling, "a model"),
        ):
            if isinstance(asked, kind) and callback is None:
                raise NotUnderstood(f"it asked for {what}, which this client did not declare")
        context = ClientRequestContext(session=self.session, request_id=key)
        reply = await self.session.dispatch_input_request(context, asked)
        if isinstance(reply, ErrorData):
            raise MCPError.from_error_data(reply)
        return reply.model_dump(by_alias=True, mode="json", exclude_none=True)


async def connect(stack: AsyncExitStack, place: Destination, settings: DriverSettings) -> ClientConnection:
    """Open a connection that ends with `stack`; raises `CannotConnect` with everything that helps."""
    tasks = await stack.enter_async_context(anyio.create_task_group())
    stack.callback(tasks.cancel_scope.cancel)
    connection = ClientConnection(place, settings, tasks)
    try:
        await tasks.start(connection.hold)
        stack.push_async_callback(connection.leave)
        await connection.handshake()
    except (OSError, ValueError, MCPError, RuntimeError) as error:
        await stack.aclose()
        cause = connection.failure or error
        # Tracebacks show causes: one that repeats a header is left out.
        is_clean = redact_headers(str(cause), place.headers) == str(cause)
        problem, advice = place.refusal.explain() or _explain(cause)
        problem, said = redact_headers(problem, place.headers), place.said.tail
        raise CannotConnect(server=settings.label, problem=problem, advice=advice, said=said) from (
            cause if is_clean else None
        )
    except BaseException:
        await stack.aclose()
        raise
    return connection


def _explain(error: Exception) -> tuple[str, str]:
    match error:
        case FileNotFoundError():
            return (
                f"there is no program {error.filename!r}",
                "Check its spelling, or give the whole path; programs are looked for on PATH.",
            )
        case TimeoutError():
            return (
                f"it did not say within {START_SECONDS:g} seconds which revision of MCP it speaks",
                "Start it by hand to see what it waits for.",
            )
        case NotUnderstood():
            return error.problem, "Leave the revision out, or name one that it speaks."
        case MCPError() if is_lost(error):
            return "it ended before it had answered", "Start it by hand to see why."
        case _:
            return _first_line(
                error
            ), "Check that it runs, that it speaks MCP, and that this is how to reach it."


def _first_line(error: Exception) -> str:
    return safe_line(next(iter(str(error).splitlines()), type(error).__name__))


MAX_PAGES = 100
"""A list that never ends must not hang anybody."""

FetchPage = Callable[..., Awaitable[Any]]


async def fetch_all_pages(fetch: FetchPage, items: Callable[[Any], list[T]]) -> list[T]:
    """The items of every page that `fetch` gives."""
    found: list[T] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await fetch(params=PaginatedRequestParams(cursor=cursor))
        found += items(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


CHECK_SECONDS = 10.0
"""For a server to list its tools, where that has not been done yet: the list holds the output schema."""


async def check_result(session: ClientSession, name: str, result: CallToolResult) -> CallToolResult:
    """The result, also where it cannot be checked; one that does not fit goes with the error."""
    if result.is_error:
        return result
    try:
        with anyio.fail_after(CHECK_SECONDS):
            await session.validate_tool_result(name, result)
    except RuntimeError as error:
        raise PeerError(
            f"The tool {safe_line(name)} was called and has finished, but its result does not fit the output schema "
            f"that it declares: {safe_line(str(error).partition(chr(10))[0])}. Its author must mend that. The result "
            "comes with this error; look at it before you call again.",
            data=result.model_dump(by_alias=True, mode="json", exclude_none=True),
        ) from error
    except Exception:  # noqa: BLE001 - a list of tools that does not come says nothing against the result
        logger.warning("The result of %s is not checked: its output schema cannot be had.", safe_line(name))
    return result
