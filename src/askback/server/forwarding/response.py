"""How a worker answers another: frame by frame as the answer is made, with a pulse where nothing is to be said."""

import json
import logging

import anyio
from starlette.types import Message, Receive, Send

from askback.server.forwarding.envelope import (
    DROPPED_RESPONSE_HEADERS,
    Envelope,
    drop_headers,
    encode_headers,
    replay_body,
)
from askback.server.forwarding.seal import FrameKind, ReceivedRequest
from askback.server.forwarding.sessions import LocalSession

logger = logging.getLogger("askback")

HEARTBEAT_INTERVAL = 2.0
"""Seconds. The other worker waits a few pulses long before it takes this one for stuck."""


class ForwardedResponse:
    """One answer to another worker, as it goes out."""

    def __init__(self, heard: ReceivedRequest, send: Send) -> None:
        self._writer, self._send = heard.writer(), send
        self._lock = anyio.Lock()
        self.is_whole = False

    async def open(self) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": []})

    async def send_frame(self, kind: FrameKind, payload: bytes = b"") -> None:
        async with self._lock:  # frames go out in the order of their numbers
            is_body = kind is FrameKind.BODY
            frames = self._writer.body(payload) if is_body else self._writer.frame(kind, payload)
            if frames:
                await self._send({"type": "http.response.body", "body": frames, "more_body": True})

    async def close(self) -> None:
        async with self._lock:
            self.is_whole = True
            await self._send({"type": "http.response.body", "body": self._writer.frame(FrameKind.END)})

    async def send_heartbeats(self) -> None:
        while not self.is_whole:
            await anyio.sleep(HEARTBEAT_INTERVAL)
            if not self.is_whole:
                await self.send_frame(FrameKind.HEARTBEAT)

    async def send_message(self, message: Message) -> None:
        """What the application sends."""
        if message["type"] == "http.response.start":
            headers = encode_headers(drop_headers(message.get("headers", ()), DROPPED_RESPONSE_HEADERS))
            await self.send_frame(FrameKind.START, json.dumps([message["status"], headers]).encode())
        elif message["type"] == "http.response.body":
            await self.send_frame(FrameKind.BODY, message.get("body", b""))
            if not message.get("more_body", False):
                await self.close()


async def serve_envelope(
    home: LocalSession, parcel: Envelope, answer: ForwardedResponse, receive: Receive
) -> None:
    """Have the request served where its session lives."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer.send_heartbeats)
        try:
            await home.serve(parcel, replay_body(parcel.body, receive), answer.send_message)
        except Exception:
            logger.exception("a request that another worker brought failed")
        tasks.cancel_scope.cancel()
