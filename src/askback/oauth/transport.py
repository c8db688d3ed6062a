"""Requests to authorization servers: limited in time and size, without redirects, and never to a host that is further
inside our network than the server that named it (T12)."""

import logging
import socket
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import anyio
import httpx2
from pydantic_core import from_json

from askback.oauth.zones import Zone, zone_of

logger = logging.getLogger("askback")

MAX_RESPONSE_BYTES = 1024 * 1024
"""The size of one answer: metadata, keys and tokens are a few kilobytes."""

REQUEST_TIMEOUT = 10.0
"""Seconds for one request, from the lookup of its name to its last byte; a person is waiting."""

CONNECT_TIMEOUT = 3.0
"""Seconds for one address: if a host has several, a dead one must not use up the time of the others."""

OPTIONS: dict[str, Any] = {
    "timeout": httpx2.Timeout(REQUEST_TIMEOUT, connect=CONNECT_TIMEOUT),
    "follow_redirects": False,
}


class ResponseTooLarge(httpx2.TransportError):
    """An answer that is larger than any authorization server's, or compressed, so that its size is not known."""


class AddressNotAllowed(httpx2.TransportError):
    """A name from outside that resolves to an address which only we can reach."""


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, until: float) -> None:
        self._stream, self._until = stream, until

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        taken, chunks = 0, aiter(self._stream)
        while True:
            with _in_time(self._until):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            taken += len(chunk)
            if taken > MAX_RESPONSE_BYTES:
                raise ResponseTooLarge(f"the answer has more than {MAX_RESPONSE_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """Reads a limited number of bytes. A name is resolved once, and the checked address is the one that is used."""

    def __init__(self, deepest: Zone = Zone.RESERVED) -> None:
        super().__init__(verify=_trusted())
        self._deepest = deepest
        self.came_to = Zone.PUBLIC
        """The zone of the last answer."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # Compressed, an answer could be a thousand times as large as what is counted.
        request.headers["accept-encoding"] = "identity"
        until = anyio.current_time() + REQUEST_TIMEOUT
        with _in_time(until):
            response = await self._ask(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise ResponseTooLarge("the answer is compressed, though nobody asked for that")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, until)
        return response

    async def _ask(self, request: httpx2.Request) -> httpx2.Response:
        problem: Exception = httpx2.ConnectError("its name leads nowhere")
        for address in self._allowed(request, await resolve(request.url)):
            try:
                response = await super().handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                problem = error
                continue
            self.came_to = zone_of(address)
            return response
        raise problem

    def _allowed(self, request: httpx2.Request, addresses: list[str]) -> list[str]:
        allowed = [address for address in addresses if zone_of(address) <= self._deepest]
        if addresses and not allowed:
            logger.warning(
                "A request was not made: %s leads to %s, which is further inside than the issuer that named it. Where "
                "that is meant, write the endpoints into Provider(...) instead of its issuer.",
                request.url.host,
                addresses[0],
            )
            raise AddressNotAllowed("it leads inside")
        return allowed


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """Read once: the list of authorities is long, and the event loop waits meanwhile."""
    return httpx2.create_ssl_context()


async def resolve(url: httpx2.URL) -> list[str]:
    """The addresses of its host, the best first."""
    try:
        found = await anyio.getaddrinfo(url.raw_host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx2.ConnectError("its name leads nowhere") from error
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def fetch_json(url: str, by: BoundedTransport) -> Any:
    """The JSON at an address; raises `httpx2.HTTPError` or `ValueError`."""
    async with httpx2.AsyncClient(transport=by, **OPTIONS) as client:
        response = await client.get(url, headers={"accept": "application/json"})
        response.raise_for_status()
        return json_in(response)


def json_in(response: httpx2.Response) -> Any:
    """The JSON of a response; raises `ValueError`, also if it is nested too deeply for other readers."""
    return from_json(response.content, allow_inf_nan=False, cache_strings="none")


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The request, sent to this address. The certificate is still checked against the host's name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")},
    )


@contextmanager
def _in_time(until: float) -> Generator[None]:
    try:
        with anyio.fail_after(max(until - anyio.current_time(), 0.0)):
            yield
    except TimeoutError as error:
        raise httpx2.ReadTimeout(f"it took longer than {REQUEST_TIMEOUT:g} seconds") from error
