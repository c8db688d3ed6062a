"""What a worker has sent of late on 2025-11-25, so that a client whose connection broke can have it again."""

from collections import deque
from itertools import count

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

MOST = 10_000
"""Events that are kept; a stream of the load has four."""


class Events(EventStore):
    """In the memory of the worker that has the sessions: it need not outlive them."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._kept: deque[tuple[int, StreamId, JSONRPCMessage | None]] = deque(maxlen=MOST)

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        number = next(self._numbers)
        self._kept.append((number, stream_id, message))
        return str(number)

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        last = int(last_event_id)
        stream = next((stream for number, stream, _message in self._kept if number == last), None)
        for number, its_stream, message in list(self._kept):
            if number > last and its_stream == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream
