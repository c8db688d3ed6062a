"""Where a worker listens for the others: one port of the process, which answers sealed requests and nothing else."""

import asyncio
import contextvars
import json
import logging
import time
from secrets import token_hex
from urllib.parse import urlsplit

import anyio
from starlette.types import Message, Receive, Scope, Send

from askback.pages.loopback_server import STARTING_SECONDS, EmbeddedServer
from askback.server.forwarding.addresses import address_with_port, bind_socket
from askback.server.forwarding.envelope import DROPPED_RESPONSE_HEADERS, Envelope, encode_headers
from askback.server.forwarding.messages import read_body, replay_body
from askback.server.forwarding.seal import FrameKind, FrameWriter, SealedRequest
from askback.server.forwarding.sessions import LocalSession, LocalSessions

logger = logging.getLogger("askback")

ENVELOPE_LIFE = 5.0
"""Seconds after sending in which a request must be begun: while a worker paused, the request may have been given up
and made again elsewhere."""

HEARTBEAT_INTERVAL = 2.0
"""Seconds. The other worker waits for several heartbeats before it takes this one for stuck."""

MAX_HEAD_BYTES = 1_048_576
"""Bytes of an envelope besides the body of its request."""


class ForwardedResponse:
    """The response to another worker, sent in frames."""

    def __init__(self, request: SealedRequest, send: Send) -> None:
        self._writer, self._send = FrameWriter(request), send
        self._lock = anyio.Lock()
        self._is_complete = False

    async def open(self, kind: FrameKind, payload: bytes) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": []})
        await self.send_frame(kind, payload)

    async def send_frame(self, kind: FrameKind, payload: bytes = b"") -> None:
        async with self._lock:  # frames are sent in the order of their numbers
            is_body = kind is FrameKind.BODY
            frames = self._writer.body(payload) if is_body else self._writer.frame(kind, payload)
            self._is_complete = kind is FrameKind.END
            if frames:
                more = not self._is_complete
                await self._send({"type": "http.response.body", "body": frames, "more_body": more})

    async def send_heartbeats(self) -> None:
        while not self._is_complete:
            await anyio.sleep(HEARTBEAT_INTERVAL)
            if not self._is_complete:
                await self.send_frame(FrameKind.HEARTBEAT)

    async def send_message(self, message: Message) -> None:
        """Send on what the application sends."""
        if message["type"] == "http.response.start":
            headers = encode_headers(message.get("headers", ()), DROPPED_RESPONSE_HEADERS)
            await self.send_frame(FrameKind.START, json.dumps([message["status"], headers]).encode())
        elif message["type"] == "http.response.body":
            await self.send_frame(FrameKind.BODY, message.get("body", b""))
            if not message.get("more_body", False):
                await self.send_frame(FrameKind.END)


class WorkerListener:
    """One for each address and event loop: the servers of a process share it."""

    def __init__(self, address: str | None) -> None:
        self.worker = token_hex(16)
        self._socket = bind_socket(address)
        self.address = address_with_port(address, self._socket.getsockname()[1])
        self._sessions: list[LocalSessions] = []
        self._seen: dict[bytes, float] = {}
        self._running: set[anyio.CancelScope] = set()
        self._server = EmbeddedServer(self)
        # In a context of its own: it outlives the request that needed it first.
        self._task = asyncio.get_running_loop().create_task(
            self._server.run_to_the_end(self._socket), context=contextvars.Context()
        )

    async def join(self, sessions: LocalSessions) -> None:
        self._sessions.append(sessions)
        with anyio.fail_after(STARTING_SECONDS):
            await self._server.is_up.wait()

    async def leave(self, sessions: LocalSessions) -> None:
        """Take the sessions of one server away. After the last, nothing listens any more."""
        self._sessions.remove(sessions)
        if self._sessions:
            return
        for place in [place for place, listener in _LISTENERS.items() if listener is self]:
            del _LISTENERS[place]
        for scope in self._running:
            scope.cancel()
        self._server.should_exit = True
        await asyncio.wait([self._task])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == "/":
            longest = max((sessions.max_body_size for sessions in self._sessions), default=0)
            sealed = await read_body(receive, max_bytes=longest + MAX_HEAD_BYTES) or b""
            for sessions in [*self._sessions]:
                request = sessions.keys.open(sealed)
                if request is not None and request.salt not in self._seen:
                    await self._answer(request, receive, send)
                    return
        # One response for a sender without keys and for a request that was seen before.
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async def _answer(self, request: SealedRequest, receive: Receive, send: Send) -> None:
        response, envelope = ForwardedResponse(request, send), Envelope.unpack(request.text)
        now = time.monotonic()
        self._note_seen(request.salt, now)
        # Servers of one process may have different keys, and the keys of one open no session of another.
        trusting = (sessions for sessions in self._sessions if sessions.keys.has(request))
        session = next((found for sessions in trusting if (found := sessions.find(envelope.session))), None)
        verdict = FrameKind.HERE
        if envelope.worker != self.worker or session is None:
            verdict = FrameKind.STRANGER
        elif not now <= envelope.until <= now + ENVELOPE_LIFE:
            verdict = FrameKind.LATE
        await response.open(verdict, json.dumps([self.worker, now]).encode())
        if verdict is not FrameKind.HERE or session is None:
            await response.send_frame(FrameKind.END)
            return
        with anyio.CancelScope() as scope:
            self._running.add(scope)
            try:
                await _serve(session, envelope, response, receive)
            finally:
                self._running.discard(scope)

    def _note_seen(self, salt: bytes, now: float) -> None:
        """Remember a request for as long as a copy of it could be begun."""
        while self._seen and next(iter(self._seen.values())) < now:
            del self._seen[next(iter(self._seen))]
        self._seen[salt] = now + ENVELOPE_LIFE


async def _serve(
    session: LocalSession, envelope: Envelope, response: ForwardedResponse, receive: Receive
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(response.send_heartbeats)
        try:
            await session.serve(envelope, replay_body(envelope.body, receive), response.send_message)
        except Exception:
            logger.exception("a request that another worker forwarded failed")
        tasks.cancel_scope.cancel()


_LISTENERS: dict[tuple[asyncio.AbstractEventLoop, str], WorkerListener] = {}
"""Listeners with a port that was chosen for them: another server of the process with that address joins."""


async def join(address: str | None, sessions: LocalSessions) -> WorkerListener:
    """Listen at an address for the sessions of one server. None is a free port of loopback."""
    if address is None or not urlsplit(address).port:
        listener = WorkerListener(address)
    else:
        place = asyncio.get_running_loop(), address
        listener = _LISTENERS[place] = _LISTENERS.get(place) or WorkerListener(address)
    await listener.join(sessions)
    return listener
