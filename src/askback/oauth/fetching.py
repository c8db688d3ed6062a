"""Requests to authorization servers: bounded in time and size, and never led elsewhere (T12)."""

from collections.abc import AsyncGenerator
from typing import Any

import httpx2

MOST_BYTES = 1024 * 1024
"""Of one answer: metadata, keys and tokens are a few kilobytes."""

SECONDS = 10.0
"""For one request; a person is waiting."""

OPTIONS: dict[str, Any] = {"timeout": SECONDS, "follow_redirects": False}


class TooLarge(httpx2.TransportError):
    """An answer that no authorization server would give."""


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        taken = 0
        async for chunk in self._stream:
            taken += len(chunk)
            if taken > MOST_BYTES:
                raise TooLarge(f"the answer has more than {MOST_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class Bounded(httpx2.AsyncHTTPTransport):
    """Reads so much and no more."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # Compressed, an answer could be a thousand times as large as what is counted.
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream)
        return response


async def fetch_json(url: str) -> Any:
    """What is there, read as JSON; raises `httpx2.HTTPError` or `ValueError`."""
    async with httpx2.AsyncClient(transport=Bounded(), **OPTIONS) as client:
        response = await client.get(url, headers={"accept": "application/json"})
        response.raise_for_status()
        if response.is_redirect:
            raise ValueError("it leads elsewhere")
        return response.json()
