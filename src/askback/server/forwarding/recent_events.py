"""The last events of a session, so that a broken stream can be resumed, also through another worker."""

from collections import deque
from typing import NamedTuple

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

MAX_EVENTS, MAX_EVENT_BYTES = 32, 65_536
"""Events of a session, and their bytes: a call that waits for a person has sent two or three. The oldest are dropped
first, and a client that resumes from one of them later is told that its stream is gone."""


class SessionEvent(NamedTuple):
    number: int
    stream: str
    message: JSONRPCMessage | None
    """None for an event that only gives a stream its first id."""
    size: int


class RecentEvents(EventStore):
    """The events of one session, in the memory of its worker."""

    def __init__(self) -> None:
        self._events: deque[SessionEvent] = deque()
        self._number = self._size = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._number += 1
        size = 0 if message is None else len(message.model_dump_json(by_alias=True, exclude_unset=True))
        self._events.append(SessionEvent(self._number, stream_id, message, size))
        self._size += size
        while len(self._events) > MAX_EVENTS or self._size > MAX_EVENT_BYTES:
            self._size -= self._events.popleft().size
        return str(self._number)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = next((event for event in self._events if str(event.number) == last_event_id), None)
        if last is None:
            return None
        for event in [*self._events]:
            if event.number > last.number and event.stream == last.stream and event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return last.stream
