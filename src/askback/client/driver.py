"""The driver: connects to a server, makes calls, and lets one person answer what they ask."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import anyio
from mcp.client.session import ListRootsFnT, SamplingFnT
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    GetPromptResult,
    Implementation,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Tool,
)
from typing_extensions import Unpack

from askback.answers import Answer
from askback.client.call import (
    CallKeywords,
    CallKind,
    ClientCall,
    FinishedCall,
    LeftAtQuestions,
    Resumed,
    WaitingCall,
    replies_of,
    require_same,
)
from askback.client.connection import (
    ClientConnection,
    DriverSettings,
    FetchPage,
    check_result,
    connect,
    fetch_all_pages,
)
from askback.client.consent import KnownSites, Sites
from askback.client.limits import LIMITS, Clock, QuestionLimits, Sleep
from askback.client.person import AnswerRecord, Asker, Mode, Nobody, OnAnswer, Person, PersonQueue
from askback.client.target import Target, resolve_target
from askback.errors import AuthorError, ConnectionMustLive
from askback.protocol.revisions import REVISIONS, Era

T = TypeVar("T")


class Driver:
    """One server and one person, for the length of an `async with`.

    async with Driver(["python", "server.py"], TerminalPerson()) as driver:
        result = await driver.call_tool("order", {"pizza": "Margherita"})
    """

    def __init__(
        self,
        target: Target,
        person: Person | PersonQueue | None = None,
        *,
        label: str | None = None,
        modes: Collection[Mode] | None = None,
        revision: str | None = None,
        headers: Mapping[str, str] | None = None,
        sampling: SamplingFnT | None = None,
        roots: ListRootsFnT | None = None,
        patience: float | None = None,
        limits: QuestionLimits = LIMITS,
        sites: Sites | None = None,
        client_info: Implementation | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        """
        Args:
            target: a command as a list of words, a URL, a server object of this process, or an SDK transport.
            person: who answers; a `PersonQueue` where several drivers share one person. Without one, the client
                declares no mode.
            label: what the person calls this server; by default its program and script, its host and port, or its
                name. Never more of a command or URL: the rest may be a secret. A transport has no name: without a
                label it is an unnamed server, of which nothing is remembered.
            modes: declare these alone of what the person can be shown; a host that goes step by step and gives no
                person says here what it can show.
            revision: speak this revision of the protocol and no other.
            headers: for a URL, sent with each request; no error of ours repeats their values.
            sampling: answers the server's requests for a model; declared where it is given.
            roots: answers the server's requests for roots; declared where it is given.
            patience: seconds that the server may work without a question or a sign of life. It does not run while
                a person thinks.
            limits: what the person is spared.
            sites: where this person's visits are remembered.
            client_info: how this client names itself; by default as Askback.
            clock: seconds, for the limits.
            sleep: how pauses are made.
        """
        if revision is not None and revision not in REVISIONS:
            raise AuthorError(
                f"There is no revision {revision!r} of the protocol in which questions can be asked. The revisions "
                f"are: {', '.join(REVISIONS)}."
            )
        self._place = resolve_target(target, label=label, headers=headers)
        line = person if isinstance(person, PersonQueue) else PersonQueue(person or Nobody(modes or ()))
        self._settings = DriverSettings(
            line=line,
            modes=line.modes if modes is None else line.modes & frozenset(modes),
            label=self._place.label,
            pinned=None if revision is None else REVISIONS[revision],
            sampling=sampling,
            roots=roots,
            patience=patience,
            limits=limits,
            # A server that cannot be known again gets no entries, which another one would inherit.
            sites=sites if sites is None or self._place.is_known else KnownSites(),
            client_info=client_info or Implementation(name="askback", version=version("askback")),
            clock=clock,
            sleep=sleep,
        )
        self._stack = AsyncExitStack()
        self._connection: ClientConnection | None = None

    async def __aenter__(self) -> Self:
        if self._connection is not None:
            raise AuthorError("This driver was opened before. Make a new one for a new connection.")
        self._connection = await connect(self._stack, self._place, self._settings)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without the error: the task groups below would wrap it.
        await self._stack.aclose()

    @property
    def asker(self) -> Asker:
        """The server, as the person is told of it."""
        return self._open.intake.asker

    @property
    def revision(self) -> str:
        """The revision of the protocol that is spoken."""
        return self._open.revision.version

    @property
    def instructions(self) -> str | None:
        """What the server says about its own use. It is the server's text."""
        return self._open.session.instructions

    @property
    def log(self) -> str:
        """The end of what the server wrote to its standard error, where it is a program. It is the server's text."""
        return self._place.said.whole

    @property
    def answered(self) -> list[AnswerRecord]:
        """Every question so far that got an answer, in order, and on whose word it stands."""
        return self._open.intake.answered

    @property
    def is_gone(self) -> bool:
        """Whether the server has gone away. Make a new driver to connect to it again."""
        return self._open.questions.is_closed

    async def list_tools(self) -> list[Tool]:
        return await self._list("tools", self._open.session.list_tools, lambda page: page.tools)

    async def list_prompts(self) -> list[Prompt]:
        return await self._list("prompts", self._open.session.list_prompts, lambda page: page.prompts)

    async def list_resources(self) -> list[Resource]:
        return await self._list("resources", self._open.session.list_resources, lambda page: page.resources)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        fetch = self._open.session.list_resource_templates
        return await self._list("resources", fetch, lambda page: page.resource_templates)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        limit: float | None = None,
        progress: ProgressFnT | None = None,
        noted: OnAnswer | None = None,
    ) -> CallToolResult:
        """Call a tool and let the person answer what it asks.

        A result that does not fit the output schema of the tool raises a `PeerError`, with the result as its `data`.

        Args:
            name: the tool.
            arguments: its arguments.
            limit: seconds that the call may take in all, with the time that the person takes.
            progress: hears of the server's progress.
            noted: hears of each question of this call that got an answer. Before 2026 a server does not say which of
                several calls asks; then each of them hears of it.
        """
        return await self._call("tool", name, arguments, limit=limit, progress=progress, noted=noted)

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        limit: float | None = None,
        progress: ProgressFnT | None = None,
        noted: OnAnswer | None = None,
    ) -> GetPromptResult:
        """Get a prompt, as `call_tool` calls a tool."""
        return await self._call("prompt", name, arguments, limit=limit, progress=progress, noted=noted)

    async def read_resource(
        self,
        uri: str,
        *,
        limit: float | None = None,
        progress: ProgressFnT | None = None,
        noted: OnAnswer | None = None,
    ) -> ReadResourceResult:
        """Read a resource, as `call_tool` calls a tool."""
        return await self._call("resource", uri, None, limit=limit, progress=progress, noted=noted)

    async def begin(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, kind: CallKind = "tool"
    ) -> FinishedCall[Any] | WaitingCall:
        """Make a call and leave it at its questions, if it has any: for hosts where nobody waits."""
        self._require_steps()
        return await self._step(kind, name, dict(arguments or {}))

    async def resume(
        self, waiting: WaitingCall, answers: Mapping[str, Answer[Any]], *, excused: Collection[str] = ()
    ) -> FinishedCall[Any] | WaitingCall:
        """Take up a call with the answers to all its questions, by key; hours later, or in another process.

        Args:
            waiting: where the call was left.
            answers: `Accepted(content)`, `Declined()` or `Cancelled()` for each key.
            excused: fields whose content looks like a key and is sent all the same, on the person's word.
        """
        require_same(waiting.asker, self.asker)
        replies = replies_of(waiting, answers, excused=excused)
        self._require_steps()
        self._open.require_open(self._new_call(waiting.purpose))
        for key, asked in waiting.questions.items():
            await self._open.intake.note(asked, answers[key], by="host")
        return await self._step(waiting.kind, waiting.name, waiting.arguments, (waiting.asking, replies))

    @property
    def _open(self) -> ClientConnection:
        if self._connection is None:
            raise AuthorError(
                "This driver is not connected. Use it inside `async with Driver(...) as driver:`."
            )
        return self._connection

    async def _list(
        self,
        what: Literal["tools", "prompts", "resources"],
        fetch: FetchPage,
        items: Callable[[Any], list[T]],
    ) -> list[T]:
        """All items; none where the server does not declare that it has any."""
        declared = self._open.session.server_capabilities
        if declared is None or getattr(declared, what) is None:
            return []
        call = self._new_call(f"the list of {what}", only_looks=True)
        return await self._open.call(call, lambda: fetch_all_pages(fetch, items))

    def _require_steps(self) -> None:
        if self._open.revision.era is not Era.ROUNDS:
            raise ConnectionMustLive(revision=self.revision)

    async def _step(
        self, kind: CallKind, name: str, arguments: Mapping[str, Any], resumed: Resumed | None = None
    ) -> FinishedCall[Any] | WaitingCall:
        try:
            return FinishedCall(await self._call(kind, name, arguments, stops=True, resumed=resumed))
        except LeftAtQuestions as left:
            return WaitingCall(
                asker=self.asker,
                kind=kind,
                name=name,
                arguments=arguments,
                asking=left.asking,
                replies=left.replies,
            )

    async def _call(
        self,
        kind: CallKind,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        limit: float | None = None,
        **how: Unpack[CallKeywords],
    ) -> Any:
        session, given = self._open.session, dict(arguments) if arguments is not None else None
        call = self._new_call(f"{kind} {name}", **how)
        makes: dict[CallKind, Callable[[], Awaitable[Any]]] = {
            "tool": lambda: self._tool(call, name, given),
            "prompt": lambda: session.get_prompt(name, given),
            "resource": lambda: session.read_resource(name),
        }
        result = await self._open.call(call, makes[kind], limit=limit)
        # After the call, whose time may be over: what it gave stays.
        return await check_result(session, name, result) if kind == "tool" else result

    async def _tool(self, call: ClientCall, name: str, arguments: dict[str, Any] | None) -> CallToolResult:
        """A tool whose arguments belong in headers is listed first, where the server says that it must be."""
        session = self._open.session
        # Not `session.call_tool`: that loses a finished result if it cannot be checked.
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
        try:
            return await session.send_request(request, CallToolResult)
        except MCPError as error:
            if error.code != HEADER_MISMATCH or call.tally.questions:
                raise
            await fetch_all_pages(session.list_tools, lambda page: page.tools)
            return await session.send_request(request, CallToolResult)

    def _new_call(self, purpose: str, **how: Unpack[CallKeywords]) -> ClientCall:
        settings = self._settings
        return ClientCall(
            purpose, limits=settings.limits, patience=settings.patience, clock=settings.clock, **how
        )
