"""How a worker answers another: frame by frame as the answer is made, with a pulse where nothing is to be said."""

import json
import logging

import anyio
from starlette.types import Message, Receive, Send

from askback.server.workers.homes import Home
from askback.server.workers.parcels import NOT_ANSWERED, Parcel, bringing, without, written
from askback.server.workers.sealing import Heard, Kind

logger = logging.getLogger("askback")

PULSE = 2.0
"""Seconds. The other worker waits a few pulses long before it takes this one for stuck."""


class Answer:
    """One answer to another worker, as it goes out."""

    def __init__(self, heard: Heard, send: Send) -> None:
        self._writer, self._send = heard.writer(), send
        self._lock = anyio.Lock()
        self.is_whole = False

    async def open(self) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": []})

    async def say(self, kind: Kind, payload: bytes = b"") -> None:
        async with self._lock:  # frames go out in the order of their numbers
            is_body = kind is Kind.BODY
            frames = self._writer.body(payload) if is_body else self._writer.frame(kind, payload)
            if frames:
                await self._send({"type": "http.response.body", "body": frames, "more_body": True})

    async def close(self) -> None:
        async with self._lock:
            self.is_whole = True
            await self._send({"type": "http.response.body", "body": self._writer.frame(Kind.END)})

    async def pulse(self) -> None:
        while not self.is_whole:
            await anyio.sleep(PULSE)
            if not self.is_whole:
                await self.say(Kind.PULSE)

    async def pass_on(self, message: Message) -> None:
        """What the application sends."""
        if message["type"] == "http.response.start":
            headers = written(without(message.get("headers", ()), NOT_ANSWERED))
            await self.say(Kind.START, json.dumps([message["status"], headers]).encode())
        elif message["type"] == "http.response.body":
            await self.say(Kind.BODY, message.get("body", b""))
            if not message.get("more_body", False):
                await self.close()


async def let_in(home: Home, parcel: Parcel, answer: Answer, receive: Receive) -> None:
    """Have the request served where its session lives."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer.pulse)
        try:
            await home.let_in(parcel, bringing(parcel.body, receive), answer.pass_on)
        except Exception:
            logger.exception("a request that another worker brought failed")
        tasks.cancel_scope.cancel()
