"""Where a worker listens for the others: one port of a process, which knows nothing but sealed requests."""

import asyncio
import contextvars
import json
import time
from secrets import token_hex
from urllib.parse import urlsplit

import anyio
from starlette.types import Receive, Scope, Send

from askback.pages.loopback_server import STARTING_SECONDS, EmbeddedServer
from askback.server.forwarding.envelope import BodyTooLong, Envelope, read_body
from askback.server.forwarding.response import ForwardedResponse, serve_envelope
from askback.server.forwarding.seal import FrameKind, ReceivedRequest
from askback.server.forwarding.sessions import LocalSessions
from askback.server.forwarding.sockets import address_with_port, bind_socket

ENVELOPE_LIFE = 5.0
"""Seconds in which a request must be begun after it was sent: when a worker that stood still goes on, what it is
brought may have been given up long ago, and made again elsewhere."""

MAX_HEAD_BYTES = 1_048_576
"""Bytes for everything in a request but its body."""


class WorkerListener:
    """One per address and event loop: the servers of a process share it."""

    def __init__(self, address: str | None) -> None:
        self.worker = token_hex(16)
        self._socket = bind_socket(address)
        self.address = address_with_port(address, self._socket.getsockname()[1])
        self._homes: list[LocalSessions] = []
        self._used: dict[bytes, float] = {}
        self._under_way: set[anyio.CancelScope] = set()
        self._server = EmbeddedServer(self)
        # In a context of its own: it outlives the request that needed it first.
        self._task = asyncio.get_running_loop().create_task(
            self._server.run_to_the_end(self._socket), context=contextvars.Context()
        )

    async def join(self, homes: LocalSessions) -> None:
        self._homes.append(homes)
        with anyio.fail_after(STARTING_SECONDS):
            await self._server.is_up.wait()

    async def leave(self, homes: LocalSessions) -> bool:
        """Whether these were the last: then nobody listens any more."""
        self._homes.remove(homes)
        if self._homes:
            return False
        for scope in self._under_way:
            scope.cancel()
        self._server.should_exit = True
        await asyncio.wait([self._task])
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == "/":
            sealed = await self._body(receive)
            for homes in [*self._homes]:
                heard = homes.ring.open(sealed)
                if heard is not None and heard.salt not in self._used:
                    await self._answer(heard, receive, send)
                    return
        # One answer to whoever has no keys, and to what was said before.
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async def _body(self, receive: Receive) -> bytes:
        longest = max((homes.max_body_size for homes in self._homes), default=0)
        try:
            return await read_body(receive, most=longest + MAX_HEAD_BYTES) or b""
        except BodyTooLong:
            return b""

    async def _answer(self, heard: ReceivedRequest, receive: Receive, send: Send) -> None:
        answer, parcel, now = ForwardedResponse(heard, send), Envelope.unpack(heard.text), time.monotonic()
        self._note(heard.salt, now)
        # Servers of one process may have other keys: nobody reaches the sessions of one with the keys of another.
        trusting = (homes for homes in self._homes if homes.ring.has(heard))
        home = next((found for homes in trusting if (found := homes.find(parcel.session))), None)
        is_late = not now <= parcel.until <= now + ENVELOPE_LIFE
        is_ours = parcel.to == self.worker
        verdict = (
            FrameKind.STRANGER
            if not is_ours or home is None
            else FrameKind.LATE
            if is_late
            else FrameKind.HERE
        )
        await answer.open()
        await answer.send_frame(verdict, json.dumps([self.worker, now]).encode())
        if verdict is not FrameKind.HERE or home is None:
            await answer.close()
            return
        with anyio.CancelScope() as under_way:
            self._under_way.add(under_way)
            try:
                await serve_envelope(home, parcel, answer, receive)
            finally:
                self._under_way.discard(under_way)

    def _note(self, salt: bytes, now: float) -> None:
        """For as long as the same could be begun once more."""
        while self._used and next(iter(self._used.values())) < now:
            del self._used[next(iter(self._used))]
        self._used[salt] = now + ENVELOPE_LIFE


_LISTENERS: dict[tuple[asyncio.AbstractEventLoop, str], WorkerListener] = {}
"""Those with a port that was chosen for them: another server of the process that was given the same joins in."""


async def join(address: str | None, homes: LocalSessions) -> WorkerListener:
    """Let the sessions of one server be found at an address; none given is a free port of loopback."""
    if address is None or not urlsplit(address).port:
        listener = WorkerListener(address)
    else:
        place = asyncio.get_running_loop(), address
        listener = _LISTENERS[place] = _LISTENERS.get(place) or WorkerListener(address)
    await listener.join(homes)
    return listener


async def leave(listener: WorkerListener, homes: LocalSessions) -> None:
    if await listener.leave(homes):
        for place in [place for place, at in _LISTENERS.items() if at is listener]:
            del _LISTENERS[place]
