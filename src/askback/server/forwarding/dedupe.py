"""A request that is delivered twice is run once, and every copy gets its response.

A proxy sends a request again to another worker when the first one is gone, and cannot know that the first one had
already forwarded it to the worker that has the session. A request of a session has an id of its own, so a request that
is equal to the last byte, in its URL, its headers and its caller, is a copy.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256

import anyio
from starlette.types import Message, Receive, Scope, Send

from askback.server.forwarding.envelope import DROPPED_REQUEST_HEADERS, drop_headers
from askback.server.forwarding.messages import error_response, message_kind, read_body, replay_body
from askback.server.hosts.streamable_http import Handle, caller_of

FINISHED_LIFE = 2.0
"""Seconds that a response is kept for copies after its end."""

DISCONNECT_DELAY = 0.8
"""Seconds until the server learns that every client of a request is gone: a proxy sends it again at once. A client
resumes a broken stream after a second, and must find it free."""

MAX_RESPONSE_BYTES, MAX_FINISHED_BYTES = 65_536, 16_777_216
"""Bytes of one response, and of all that have ended. A proxy sends again only what got no response, so a copy needs
the beginning."""

DELIVERED = (
    "This request was delivered before, and its answer is no longer there. Make it again with another id."
)


class DedupedRequest:
    """One request that is run, and all that wait for its response."""

    def __init__(self) -> None:
        self._waiting: list[Send] = []
        self._sent: list[Message] = []
        self._lock = anyio.Lock()
        self._change = anyio.Event()
        self._has_begun = self._is_answered = self._is_over = False
        self.size = 0
        self.kept_until = float("inf")

    @property
    def is_complete(self) -> bool:
        """Whether a copy can have the whole response: it is still kept from its beginning, and was not broken off."""
        return self.size <= MAX_RESPONSE_BYTES and (self._is_answered or not self._is_over)

    async def run(self, handle: Handle, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Run the request for the first client that sent it."""
        self._waiting.append(send)
        try:
            with self._watch(receive, send):
                await handle(scope, replay_body(body, self._receive), self._send)
        finally:  # also if it is cancelled: copies must not wait for what never comes
            self._is_over = True
            self._waiting.clear()
            self._notify()

    async def follow(self, receive: Receive, send: Send) -> bool:
        """Send a copy the response from its beginning, and on as it comes. False if there was nothing to send."""
        async with self._lock:
            if not self.is_complete:
                return False
            for message in self._sent:
                await send(message)
            if self._is_over:
                return True
            self._waiting.append(send)
        self._notify()
        with self._watch(receive, send):
            while send in self._waiting:
                await self._change.wait()
        return self._has_begun

    @contextmanager
    def _watch(self, receive: Receive, send: Send) -> Generator[None]:
        """Stop sending to a client as soon as it is gone."""

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            if send in self._waiting:
                self._waiting.remove(send)
            self._notify()

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()

    async def _send(self, message: Message) -> None:
        async with self._lock:
            self._has_begun = True
            self.size += len(message.get("body", b""))
            is_body = message["type"] == "http.response.body"
            self._is_answered = is_body and not message.get("more_body", False)
            if self.is_complete:
                self._sent.append(message)
            else:
                self._sent.clear()
            for send in [*self._waiting]:
                await send(message)

    async def _receive(self) -> Message:
        """Wait until every client has been gone for a moment."""
        while True:
            while self._waiting:
                await self._change.wait()
            with anyio.move_on_after(DISCONNECT_DELAY):
                while not self._waiting:
                    await self._change.wait()
            if not self._waiting:
                return {"type": "http.disconnect"}

    def _notify(self) -> None:
        self._change.set()
        self._change = anyio.Event()


class RequestDedupe:
    """The requests of one server's sessions that are run now, or ended a moment ago."""

    def __init__(self) -> None:
        self._running: dict[bytes, DedupedRequest] = {}
        self._finished: OrderedDict[bytes, DedupedRequest] = OrderedDict()
        self._size = 0

    async def serve(self, handle: Handle, scope: Scope, receive: Receive, send: Send) -> None:
        """Run a posted request, or give a copy the response of the first one."""
        body = await read_body(receive)
        if body is None:
            return
        if message_kind(body) not in ("call", "request"):
            await handle(scope, replay_body(body, receive), send)
            return
        self._forget_old()
        digest = _digest(scope, body)
        known = self._running.get(digest) or self._finished.get(digest)
        if known is None:
            await self._run(digest, handle, scope, body, receive, send)
        elif not await known.follow(receive, send):
            await error_response(409, DELIVERED)(scope, receive, send)

    async def _run(
        self, digest: bytes, handle: Handle, scope: Scope, body: bytes, receive: Receive, send: Send
    ) -> None:
        request = self._running[digest] = DedupedRequest()
        try:
            await request.run(handle, scope, body, receive, send)
        finally:
            self._finished[digest] = self._running.pop(digest)
            request.kept_until = anyio.current_time() + FINISHED_LIFE
            self._size += min(request.size, MAX_RESPONSE_BYTES)

    def _forget_old(self) -> None:
        now = anyio.current_time()
        while self._finished:
            oldest = next(iter(self._finished.values()))
            if oldest.kept_until >= now and self._size <= MAX_FINISHED_BYTES:
                return
            self._finished.popitem(last=False)
            self._size -= min(oldest.size, MAX_RESPONSE_BYTES)


def _digest(scope: Scope, body: bytes) -> bytes:
    """Digest of a request with its caller, since a copy gets a response without a check by the SDK."""
    headers = sorted(drop_headers(scope["headers"], DROPPED_REQUEST_HEADERS))
    facts = [scope["path"], scope.get("query_string", b""), caller_of(scope), *headers]
    return sha256(repr(facts).encode() + b"\0" + body).digest()
