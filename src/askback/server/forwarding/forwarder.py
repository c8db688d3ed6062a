"""How a worker brings a request to the one that its session lives with, and the answer back, as it comes.

It waits no longer than `SILENCE` for a sign of life, and never brings a request again that was begun.
"""

import json
import time
from collections import OrderedDict
from enum import Enum, auto

import anyio
import httpx2
from starlette.types import Message, Receive, Send

from askback.errors import causes
from askback.server.forwarding.directory import WorkerLocation
from askback.server.forwarding.drain import is_stopping
from askback.server.forwarding.envelope import PROBE, Envelope, decode_headers
from askback.server.forwarding.listener import ENVELOPE_LIFE
from askback.server.forwarding.seal import ForwardingKeys, Frame, FrameKind, FrameReader, NotSealed
from askback.server.hosts.streamable_http import DRAIN_TIMEOUT

CONNECT_TIMEOUT = 2.0
"""Seconds. Workers are near each other."""

SILENCE_TIMEOUT = 30.0
"""Seconds without a sign of life, after which a worker is taken for stuck. Longer than a request is good for, so what
got no sign of life was never begun; and longer than a worker stands still on a machine that swaps or is being moved,
since a stream that is cut costs its client more than one that pauses."""

TIMEOUTS = {"connect": CONNECT_TIMEOUT, "read": SILENCE_TIMEOUT, "write": SILENCE_TIMEOUT, "pool": None}

KEEPALIVE = 2.0
"""Seconds that a connection is kept for the next request: less than the other side keeps it."""

MAX_CLOCKS = 1000
"""Of other workers; the oldest is forgotten first, and asked anew."""


class ForwardOutcome(Enum):
    """What became of a request for another worker."""

    ANSWERED = auto()
    """All there is to send was sent, or nobody waits for it any more."""
    GONE = auto()
    """Nobody listens there, or a worker that has no such session."""
    FOREIGN = auto()
    """Whoever listens there does not have our keys."""
    SILENT = auto()
    """No sign of life: it was not begun, and never will be."""
    BROKEN = auto()
    """It was begun, or may have been, and no answer came."""


class RelayedResponse:
    """The answer, on its way to the client.

    Its start waits for what comes next, or a pulse; only a stream that nobody called for is opened at once. A proxy
    that got nothing tries again if a worker dies, and a client that got an event takes the stream up again. With the
    start alone nobody could do anything.
    """

    def __init__(self, send: Send, *, is_call: bool) -> None:
        self._send, self._is_call = send, is_call
        self._start: Message | None = None
        self._stops_at: float | None = None
        self.is_begun = self.is_started = self._is_stream = False

    async def take(self, frame: Frame) -> bool:
        """Whether that was the end."""
        match frame.kind:
            case FrameKind.HERE:
                self.is_begun = True
            case FrameKind.START:
                self._read_start(frame.payload)
                if self._is_stream and not self._is_call:
                    await self._begin()
            case FrameKind.BODY | FrameKind.END:
                await self._begin()
                is_end = frame.kind is FrameKind.END
                await self._send(
                    {"type": "http.response.body", "body": frame.payload, "more_body": not is_end}
                )
            case FrameKind.HEARTBEAT if self._is_stream and self._must_end():
                await self._begin()
                await self.cut()
                return True
            case _:
                await self._begin()
        return frame.kind is FrameKind.END

    def _must_end(self) -> bool:
        """Whether this process ends now. The stream of a call is given the time in which most calls end."""
        if self._stops_at is None and is_stopping():
            self._stops_at = time.monotonic() + (DRAIN_TIMEOUT if self._is_call else 0.0)
        return self._stops_at is not None and time.monotonic() >= self._stops_at

    async def cut(self) -> None:
        """A stream of events ends early, as by any proxy; anything else is left unfinished, so that nobody takes it
        for whole."""
        if self._is_stream:
            await self._send({"type": "http.response.body"})

    def _read_start(self, payload: bytes) -> None:
        status, written = json.loads(payload)
        headers = decode_headers(written)
        self._is_stream = any(
            name.lower() == b"content-type" and b"event-stream" in value for name, value in headers
        )
        self._start = {"type": "http.response.start", "status": status, "headers": headers}

    async def _begin(self) -> None:
        start, self._start = self._start, None
        if start is not None:
            self.is_started = True
            await self._send(start)


class Forwarder:
    """Knows the way to other workers, and what their clocks say."""

    def __init__(self, ring: ForwardingKeys) -> None:
        self._ring = ring
        self._ahead: OrderedDict[str, float] = OrderedDict()
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
        self,
        owner: WorkerLocation,
        envelope: Envelope,
        receive: Receive,
        send: Send,
    ) -> ForwardOutcome:
        """Until the answer ends or the client goes."""
        passing, outcome = RelayedResponse(send, is_call=bool(envelope.body)), ForwardOutcome.ANSWERED
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_go_with, receive, tasks.cancel_scope)
            outcome = await self._try(owner, envelope, passing)
            tasks.cancel_scope.cancel()
        return outcome

    async def _try(
        self, owner: WorkerLocation, envelope: Envelope, passing: RelayedResponse
    ) -> ForwardOutcome:
        outcome = await self._attempt(owner, envelope, passing)
        if outcome is ForwardOutcome.BROKEN and not passing.is_begun:
            # A kept connection broke under it. The other worker runs a request once, also if it gets a copy of it.
            outcome = await self._attempt(owner, envelope, passing)
        return outcome

    async def _attempt(
        self, owner: WorkerLocation, envelope: Envelope, passing: RelayedResponse
    ) -> ForwardOutcome:
        try:
            verdict = await self._exchange(owner, envelope, passing)
            if (
                verdict is FrameKind.LATE
            ):  # our idea of its clock was old; now it is not, and nothing was begun
                verdict = await self._exchange(owner, envelope, passing)
        except NotSealed:
            return await self._failed(passing, ForwardOutcome.FOREIGN)
        except httpx2.TimeoutException:
            return await self._failed(passing, ForwardOutcome.SILENT)
        except (httpx2.TransportError, httpx2.StreamError) as error:
            if _is_refused(error) or await self._is_gone(owner):
                return await self._failed(passing, ForwardOutcome.GONE)
            # It got through, and broke before a word came back: it may have been begun all the same.
            is_sent = not isinstance(error, httpx2.ConnectError)
            return await self._failed(passing, ForwardOutcome.BROKEN if is_sent else ForwardOutcome.SILENT)
        return VERDICTS.get(verdict, ForwardOutcome.ANSWERED)

    async def _failed(self, passing: RelayedResponse, outcome: ForwardOutcome) -> ForwardOutcome:
        if passing.is_started:
            await passing.cut()
            return ForwardOutcome.ANSWERED
        if passing.is_begun and outcome is not ForwardOutcome.GONE:
            return ForwardOutcome.BROKEN
        return outcome

    async def _exchange(
        self, owner: WorkerLocation, envelope: Envelope, passing: RelayedResponse
    ) -> FrameKind:
        """What the other worker said first or, once it had begun, last."""
        if owner.worker not in self._ahead:
            await self._probe(owner)
        until = time.monotonic() + self._ahead.get(owner.worker, 0.0) + ENVELOPE_LIFE
        return await self._ask(owner, envelope._replace(to=owner.worker, until=until), passing)

    async def _probe(self, owner: WorkerLocation) -> None:
        """Who is there, and what does their clock say? Whoever it is not, they say so again when they are asked."""
        await self._ask(owner, PROBE, None)

    async def _is_gone(self, owner: WorkerLocation) -> bool:
        """After a connection that broke: whether nobody listens there any more."""
        try:
            await self._probe(owner)
        except (httpx2.TransportError, NotSealed) as error:
            return _is_refused(error)
        return False

    async def _ask(
        self, owner: WorkerLocation, envelope: Envelope, passing: RelayedResponse | None
    ) -> FrameKind:
        asked = self._ring.seal(envelope.pack())
        reader = asked.reader()
        request = httpx2.Request(
            "POST", owner.address, content=asked.sealed, extensions={"timeout": TIMEOUTS}
        )
        response = await self._transport.handle_async_request(request)
        try:
            if response.status_code != 200:
                raise NotSealed
            return await self._listen(reader, response, passing)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _listen(
        self, reader: FrameReader, response: httpx2.Response, passing: RelayedResponse | None
    ) -> FrameKind:
        """To the very end, so that the connection can be used again."""
        end: FrameKind | None = None
        try:
            async for piece in response.aiter_raw():
                for frame in reader.read(piece):
                    end = end or await self._heard(frame, passing)
                if end is FrameKind.HEARTBEAT:
                    return end
        except httpx2.TransportError:
            if end is None:
                raise
        if end is None:
            raise httpx2.RemoteProtocolError("The other worker ended its answer early.")
        return end

    async def _heard(self, frame: Frame, passing: RelayedResponse | None) -> FrameKind | None:
        """The frame's kind, if all is said with it."""
        if frame.kind in VERDICTS:
            self._note(*json.loads(frame.payload))
        is_end = passing is None or frame.kind in REFUSALS or await passing.take(frame)
        return frame.kind if is_end else None

    def _note(self, worker: str, clock: float) -> None:
        self._ahead[worker] = clock - time.monotonic()
        self._ahead.move_to_end(worker)
        while len(self._ahead) > MAX_CLOCKS:
            self._ahead.popitem(last=False)


REFUSALS = (FrameKind.STRANGER, FrameKind.LATE)
VERDICTS = {
    FrameKind.HERE: ForwardOutcome.ANSWERED,
    FrameKind.STRANGER: ForwardOutcome.GONE,
    FrameKind.LATE: ForwardOutcome.SILENT,
}
"""The first frames that an answer may have, and what they come to."""


async def _go_with(receive: Receive, scope: anyio.CancelScope) -> None:
    """A client that goes is not waited for at the other worker either."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _is_refused(error: BaseException | None) -> bool:
    """Nobody listens there, said the machine itself."""
    return any(isinstance(one, ConnectionRefusedError) for one in causes(error, or_context=True))
