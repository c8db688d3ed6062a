"""Clients of a request and of its copies, and what becomes of one when another is gone."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import Message, Receive, Scope, Send

from askback.server.forwarding import dedupe
from askback.server.forwarding.dedupe import RequestDedupe
from tests.server.forwarding.crew import PATIENCE

pytestmark = pytest.mark.anyio

BODY = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
START: Message = {"type": "http.response.start", "status": 200, "headers": []}


class Caller:
    """Somebody who posts the request, waits, and may hang up."""

    def __init__(self, **scope: Any) -> None:
        headers = [(b"mcp-session-id", b"1")]
        self.scope: Scope = {"type": "http", "path": "/mcp", "query_string": b"", "headers": headers, **scope}
        self.got: list[Message] = []
        self.left = anyio.Event()
        self._has_posted = False

    async def receive(self) -> Message:
        if not self._has_posted:
            self._has_posted = True
            return {"type": "http.request", "body": BODY, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.got.append(message)

    async def post(
        self, known: RequestDedupe, handle: Callable[[Scope, Receive, Send], Awaitable[None]]
    ) -> None:
        await known.serve(handle, self.scope, self.receive, self.send)

    @property
    def status(self) -> int | None:
        return self.got[0]["status"] if self.got else None


class Tool(NamedTuple):
    """What the server does: it counts, and answers when it may."""

    runs: list[Scope]
    may_end: anyio.Event

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.runs.append(scope)
        await self.may_end.wait()
        await send(START)
        await send({"type": "http.response.body", "body": b"done"})


def tool() -> Tool:
    return Tool([], anyio.Event())


async def settled() -> None:
    """Until everybody who can go on has done so."""
    for _ in range(20):
        await checkpoint()


async def test_whoever_follows_does_not_wait_for_what_was_cancelled():
    known, served = RequestDedupe(), tool()
    first, copy, late = Caller(), Caller(), Caller()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as given_up:
                async with anyio.create_task_group() as running:
                    running.start_soon(first.post, known, served)
                    await settled()
                    tasks.start_soon(copy.post, known, served)
                    await settled()
                    given_up.cancel()
        await late.post(known, served)
    assert (len(served.runs), copy.status, late.status) == (1, 409, 409)


async def test_whoever_follows_and_hangs_up_is_not_kept():
    """Else anybody could leave a task behind with each copy, for as long as a person thinks."""
    known, served, copy = RequestDedupe(), tool(), Caller()
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        first = Caller()
        tasks.start_soon(first.post, known, served)
        await settled()
        with anyio.fail_after(PATIENCE):
            copy.left.set()
            await copy.post(known, served)
        assert first.status is None
        served.may_end.set()
    assert (first.status, len(served.runs)) == (200, 1)


async def test_a_copy_gets_no_end_without_its_beginning(monkeypatch: pytest.MonkeyPatch):
    """It came while a stream said two things at once, and the second made it too long to be kept."""
    monkeypatch.setattr(dedupe, "MAX_RESPONSE_BYTES", 3)
    known, first, copy = RequestDedupe(), Caller(), Caller()
    may_go_on = anyio.Event()

    async def slowly(message: Message) -> None:
        first.got.append(message)
        await may_go_on.wait()

    async def talk(_scope: Scope, _receive: Receive, send: Any) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send, START)
            tasks.start_soon(send, {"type": "http.response.body", "body": b"too long to be kept"})

    first.send = slowly
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.post, known, talk)
            await settled()
            tasks.start_soon(copy.post, known, talk)
            await settled()
            may_go_on.set()
    assert (first.status, copy.status) == (200, 409)


def user(subject: str) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token="t", client_id="app", scopes=[], subject=subject))


@pytest.mark.parametrize(
    "another",
    [{"path": "/other"}, {"query_string": b"tenant=2"}, {"user": user("bob")}],
    ids=["path", "query", "user"],
)
async def test_what_another_may_be_meant_by_is_no_copy(another: dict[str, Any]):
    """Whoever is not let in by a header, but by a certificate, say, gets no answer of somebody else's."""
    known, served = RequestDedupe(), tool()
    served.may_end.set()
    for caller in (
        Caller(user=user("ada")),
        Caller(user=user("ada")),
        Caller(**{"user": user("ada"), **another}),
    ):
        await caller.post(known, served)
    assert len(served.runs) == 2
