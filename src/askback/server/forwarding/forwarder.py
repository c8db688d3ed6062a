"""Sends a request to the worker that has its session, and gives the response to the client as it comes.

It waits at most `SILENCE_TIMEOUT` for a sign of life, and never sends a request again that was begun.
"""

import json
import time
from enum import Enum, auto
from urllib.parse import urlsplit

import anyio
import httpx2
from starlette.types import Message, Receive, Send

from askback.errors import causes
from askback.server.forwarding.directory import WorkerLocation
from askback.server.forwarding.drain import is_stopping
from askback.server.forwarding.envelope import Envelope, decode_headers
from askback.server.forwarding.listener import ENVELOPE_LIFE
from askback.server.forwarding.seal import ForwardingKeys, Frame, FrameKind, FrameReader, NotSealed
from askback.server.hosts.streamable_http import DRAIN_TIMEOUT

CONNECT_TIMEOUT = 2.0
"""Seconds. Workers are near each other."""

SILENCE_TIMEOUT = 30.0
"""Seconds without a sign of life, after which a worker is taken for stuck. Longer than an envelope is valid, so a
request without a sign of life was never begun; and longer than a worker pauses on a machine that swaps or is being
moved, since a stream that is cut costs its client more than one that pauses."""

TIMEOUTS = {"connect": CONNECT_TIMEOUT, "read": SILENCE_TIMEOUT, "write": SILENCE_TIMEOUT, "pool": None}

KEEPALIVE = 2.0
"""Seconds that a connection is kept for the next request: less than the other side keeps it."""

MAX_CLOCKS = 1000
"""Clocks of other workers that are known. The oldest is forgotten, and learned again."""


class ForwardOutcome(Enum):
    """What became of a request for another worker."""

    ANSWERED = auto()
    """The whole response was sent, or the client is gone."""
    GONE = auto()
    """Nothing listens there, or a worker without such a session."""
    FOREIGN = auto()
    """What listens there does not have our keys."""
    SILENT = auto()
    """No sign of life: the request was not begun and never will be."""
    BROKEN = auto()
    """The request was begun, or may have been, and no response came."""


class RelayedResponse:
    """The response of another worker on its way to the client.

    Its start waits for the next frame or a heartbeat; only a stream without a call is opened at once. If a worker
    dies, a proxy that got nothing sends the request again, and a client that got an event resumes the stream. With
    the start alone, neither would happen.
    """

    def __init__(self, send: Send, *, is_call: bool) -> None:
        self._send, self._is_call = send, is_call
        self._start: Message | None = None
        self._stops_at: float | None = None
        self.is_begun = self.is_started = self._is_stream = False

    async def take(self, frame: Frame) -> bool:
        """Send on what a frame says. Gives whether it was the last."""
        is_end = frame.kind is FrameKind.END
        if frame.kind is FrameKind.HERE:
            self.is_begun = True
            return False
        if frame.kind is FrameKind.START:
            self._read_start(frame.payload)
            if self._is_call or not self._is_stream:
                return False
        start, self._start = self._start, None
        if start is not None:
            self.is_started = True
            await self._send(start)
        if is_end or frame.kind is FrameKind.BODY:
            await self._send({"type": "http.response.body", "body": frame.payload, "more_body": not is_end})
        if frame.kind is FrameKind.HEARTBEAT and self._is_stream and self._must_end():
            await self.cut()
            return True
        return is_end

    def _must_end(self) -> bool:
        """Whether this process ends now. The stream of a call gets the time in which most calls end."""
        if self._stops_at is None and is_stopping():
            self._stops_at = time.monotonic() + (DRAIN_TIMEOUT if self._is_call else 0.0)
        return self._stops_at is not None and time.monotonic() >= self._stops_at

    async def cut(self) -> None:
        """End a stream of events early, as any proxy does. Any other response stays visibly incomplete."""
        if self._is_stream:
            await self._send({"type": "http.response.body"})

    def _read_start(self, payload: bytes) -> None:
        status, encoded = json.loads(payload)
        headers = decode_headers(encoded)
        self._is_stream = any(
            name.lower() == b"content-type" and b"event-stream" in value for name, value in headers
        )
        self._start = {"type": "http.response.start", "status": status, "headers": headers}


class Forwarder:
    """The connections to other workers, and how far their clocks are ahead."""

    def __init__(self, keys: ForwardingKeys) -> None:
        self._keys = keys
        self._ahead: dict[str, float] = {}
        # Without a client around it, which would write a line into the operator's log for each request.
        self._transport = httpx2.AsyncHTTPTransport(
            trust_env=False,
            verify=False,
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEEPALIVE
            ),
        )

    async def close(self) -> None:
        await self._transport.aclose()

    async def forward(
        self, owner: WorkerLocation, envelope: Envelope, receive: Receive, send: Send
    ) -> ForwardOutcome:
        """Send the request to its worker, until the response ends or the client is gone."""
        response, outcome = RelayedResponse(send, is_call=bool(envelope.body)), ForwardOutcome.ANSWERED
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_with_client, receive, tasks.cancel_scope)
            outcome = await self._attempt(owner, envelope, response)
            if outcome is ForwardOutcome.BROKEN and not response.is_begun:
                # A kept connection broke. The other worker runs a request once, also if it gets a copy of it.
                outcome = await self._attempt(owner, envelope, response)
            tasks.cancel_scope.cancel()
        return outcome

    async def _attempt(
        self, owner: WorkerLocation, envelope: Envelope, response: RelayedResponse
    ) -> ForwardOutcome:
        try:
            last = await self._exchange(owner, envelope, response)
            if last is FrameKind.LATE:  # its clock was not known, or is no longer right; now it is known
                last = await self._exchange(owner, envelope, response)
            return VERDICTS.get(last, ForwardOutcome.ANSWERED)
        except NotSealed:
            outcome = ForwardOutcome.FOREIGN
        except httpx2.TimeoutException:
            outcome = ForwardOutcome.SILENT
        except (httpx2.TransportError, httpx2.StreamError) as error:
            if _is_refused(error) or await _is_gone(owner):
                outcome = ForwardOutcome.GONE
            else:  # what was sent may have been begun, even if no response came
                is_sent = not isinstance(error, httpx2.ConnectError)
                outcome = ForwardOutcome.BROKEN if is_sent else ForwardOutcome.SILENT
        if response.is_started:
            await response.cut()
            return ForwardOutcome.ANSWERED
        is_lost = response.is_begun and outcome is not ForwardOutcome.GONE
        return ForwardOutcome.BROKEN if is_lost else outcome

    async def _exchange(
        self, owner: WorkerLocation, envelope: Envelope, response: RelayedResponse
    ) -> FrameKind:
        """Send the request once. Gives the kind of the frame that ended the response."""
        ahead = self._ahead.get(owner.worker)
        until = 0.0 if ahead is None else time.monotonic() + ahead + ENVELOPE_LIFE
        request = self._keys.seal(envelope._replace(worker=owner.worker, until=until).pack())
        answer = await self._transport.handle_async_request(
            httpx2.Request("POST", owner.address, content=request.sealed, extensions={"timeout": TIMEOUTS})
        )
        try:
            if answer.status_code != 200:
                raise NotSealed
            return await self._relay(FrameReader(request), answer, response)
        finally:
            with anyio.CancelScope(shield=True):
                await answer.aclose()

    async def _relay(
        self, reader: FrameReader, answer: httpx2.Response, response: RelayedResponse
    ) -> FrameKind:
        """Read to the very end, so that the connection can be used again."""
        last: FrameKind | None = None
        try:
            async for piece in answer.aiter_raw():
                for frame in reader.read(piece):
                    if frame.kind in VERDICTS:
                        self._note_clock(*json.loads(frame.payload))
                    if last is None and (frame.kind in REFUSALS or await response.take(frame)):
                        last = frame.kind
                if last is FrameKind.HEARTBEAT:
                    return last
        except httpx2.TransportError:
            if last is None:
                raise
        if last is None:
            raise httpx2.RemoteProtocolError("The other worker ended its answer early.")
        return last

    def _note_clock(self, worker: str, clock: float) -> None:
        self._ahead[worker] = clock - time.monotonic()
        if len(self._ahead) > MAX_CLOCKS:
            del self._ahead[next(iter(self._ahead))]


REFUSALS = (FrameKind.STRANGER, FrameKind.LATE)
VERDICTS = {
    FrameKind.HERE: ForwardOutcome.ANSWERED,
    FrameKind.STRANGER: ForwardOutcome.GONE,
    FrameKind.LATE: ForwardOutcome.SILENT,
}
"""The first frames that a response may have, and the outcome if it ends with them."""


async def _cancel_with_client(receive: Receive, scope: anyio.CancelScope) -> None:
    """When the client is gone, the other worker is not waited for."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _is_gone(owner: WorkerLocation) -> bool:
    """Whether nothing listens there any more."""
    address = urlsplit(owner.address)
    try:
        with anyio.fail_after(CONNECT_TIMEOUT):
            stream = await anyio.connect_tcp(address.hostname or "", address.port or 80)
            await stream.aclose()
    except OSError as error:
        return _is_refused(error)
    return False


def _is_refused(error: BaseException | None) -> bool:
    """Whether the machine itself said that nothing listens there."""
    return any(isinstance(one, ConnectionRefusedError) for one in causes(error, or_context=True))
