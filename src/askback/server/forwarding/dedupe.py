"""A request that is delivered twice is run once, and every copy gets its answer.

A proxy tries again at another worker when the one it had asked is gone, and cannot know that the request was already
brought to the worker that its session lives with. A request of a session has an id of its own, so what is the same to
the last byte, address, headers and all, and of the same caller, is the same request.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Any, Literal, NamedTuple, cast

import anyio
import pydantic_core
from mcp_types import INVALID_REQUEST
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from askback.protocol.revisions import CONVERSATION_METHODS
from askback.server.forwarding.envelope import DROPPED_REQUEST_HEADERS, drop_headers, read_body, replay_body
from askback.server.hosts.streamable_http import Handle, caller_of

FINISHED_LIFE = 2.0
"""Seconds that an answer is kept for a copy after its end."""

DISCONNECT_DELAY = 0.8
"""Seconds in which the server does not learn that nobody waits any more: a proxy tries again at once. A client takes a
broken stream up again after a second, and must find it free."""

MAX_RESPONSE_BYTES, MAX_FINISHED_BYTES = 65_536, 16_777_216
"""Bytes of one answer, and of all that have ended. A proxy tries again only where it got nothing, so the beginning is
what a copy needs."""

QUIET_TIME = 0.5
"""Seconds without a request, after which a worker that ends takes its clients for done: the SDK's asks for the list of
tools when it has a result, and takes the call for failed if it does not get it."""

DELIVERED = (
    "This request was delivered before, and its answer is no longer there. Make it again with another id."
)


class DedupedRequest:
    """One request as it is run, and whoever waits for its answer."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._waiting: list[Send] = []
        self._kept: list[Message] = []
        self._lock = anyio.Lock()
        self._change = anyio.Event()
        self._is_begun = self._is_answered = self._is_over = False
        self.size = 0

    @property
    def is_whole(self) -> bool:
        """Whether a copy can have all of its answer: what was said so far is still there, and it was not broken off."""
        return self.size <= MAX_RESPONSE_BYTES and (self._is_answered or not self._is_over)

    async def begin(self, handle: Handle, scope: Scope, receive: Receive, send: Send) -> None:
        """Run it for the first that brought it."""
        failure: Exception | None = None
        self._waiting.append(send)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, receive, send)
            try:
                await handle(scope, self._receive, self._send)
            except Exception as error:  # noqa: BLE001 - raised again below, and not in a group
                failure = error
            finally:  # also where it is cancelled: those who follow must not wait for what does not come
                self._is_over = True
                self._waiting.clear()
                self._tell()
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def follow(self, receive: Receive, send: Send) -> bool:
        """For a copy: from the beginning, and on as it comes; False if there was nothing to send."""
        async with self._lock:
            if not self.is_whole:
                return False
            for message in self._kept:
                await send(message)
            if self._is_over:
                return True
            self._waiting.append(send)
        self._tell()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, receive, send)
            while send in self._waiting:
                await self._change.wait()
            tasks.cancel_scope.cancel()
        return self._is_begun

    async def _watch(self, receive: Receive, send: Send) -> None:
        """Until whoever waits for the answer is gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        if send in self._waiting:
            self._waiting.remove(send)
        self._tell()

    async def _send(self, message: Message) -> None:
        async with self._lock:
            self._is_begun = True
            self.size += len(message.get("body", b""))
            self._is_answered = message["type"] == "http.response.body" and not message.get(
                "more_body", False
            )
            if self.is_whole:
                self._kept.append(message)
            else:
                self._kept.clear()
            for send in [*self._waiting]:
                await send(message)

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        while True:
            while self._waiting:
                await self._change.wait()
            with anyio.move_on_after(DISCONNECT_DELAY):
                while not self._waiting:
                    await self._change.wait()
            if not self._waiting:
                return {"type": "http.disconnect"}

    def _tell(self) -> None:
        changed, self._change = self._change, anyio.Event()
        changed.set()


class FinishedRequest(NamedTuple):
    run: DedupedRequest
    until: float


class RequestDedupe:
    """The requests of one server's sessions that are being run, or were just now."""

    def __init__(self) -> None:
        self._running: dict[bytes, DedupedRequest] = {}
        self._ended: OrderedDict[bytes, FinishedRequest] = OrderedDict()
        self._size = 0
        self._change = anyio.Event()

    async def finish(self) -> None:
        """Until none is being run, and none has come for a moment."""
        self._forget()
        is_quiet = not self._ended
        while self._running or not is_quiet:
            with anyio.move_on_after(None if self._running else QUIET_TIME) as wait:
                await self._change.wait()
            is_quiet = wait.cancelled_caught

    async def serve(self, handle: Handle, scope: Scope, receive: Receive, send: Send) -> None:
        """Run a request that was posted, or give a copy what the first one gets."""
        body = await read_body(receive)
        if body is None:
            return
        if message_kind(body) not in ("call", "request"):
            await handle(scope, replay_body(body, receive), send)
            return
        self._forget()
        name = _name(scope, body)
        known = self._known(name)
        if known is None:
            await self._begin(name, body, handle, scope, receive, send)
        elif not await known.follow(receive, send):
            await _refuse(scope, receive, send)

    def _known(self, name: bytes) -> DedupedRequest | None:
        ended = self._ended.get(name)
        return self._running.get(name) or (ended.run if ended is not None else None)

    async def _begin(
        self, name: bytes, body: bytes, handle: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        run = self._running[name] = DedupedRequest(body)
        self._tell()
        try:
            await run.begin(handle, scope, receive, send)
        finally:
            del self._running[name]
            self._tell()
            self._ended[name] = FinishedRequest(run, anyio.current_time() + FINISHED_LIFE)
            self._size += min(run.size, MAX_RESPONSE_BYTES)

    def _tell(self) -> None:
        changed, self._change = self._change, anyio.Event()
        changed.set()

    def _forget(self) -> None:
        now = anyio.current_time()
        while self._ended and (
            self._size > MAX_FINISHED_BYTES or next(iter(self._ended.values())).until < now
        ):
            _name, ended = self._ended.popitem(last=False)
            self._size -= min(ended.run.size, MAX_RESPONSE_BYTES)


def message_kind(body: bytes) -> Literal["call", "request", "answer", "notification", "other"]:
    """What a posted message is. A call is a request whose body may ask; a notification may be the same as another."""
    try:
        message: Any = pydantic_core.from_json(body)
    except ValueError:
        return "other"
    if not isinstance(message, dict):
        return "other"
    method = cast("dict[str, object]", message).get("method")
    if not isinstance(method, str | None):
        return "other"
    if method in CONVERSATION_METHODS and "id" in message:
        return "call"
    if "id" in message:
        return "answer" if method is None else "request"
    return "other" if method is None else "notification"


def _name(scope: Scope, body: bytes) -> bytes:
    """With whoever is let in, for not all are by a header: a copy is given an answer that the SDK did not look at."""
    headers = sorted(drop_headers(scope["headers"], DROPPED_REQUEST_HEADERS))
    said = [scope["path"], scope.get("query_string", b""), caller_of(scope), *headers]
    return sha256(repr(said).encode() + b"\0" + body).digest()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    error = {"code": INVALID_REQUEST, "message": DELIVERED}
    told = {"jsonrpc": "2.0", "id": None, "error": error}
    await JSONResponse(told, status_code=409)(scope, receive, send)
