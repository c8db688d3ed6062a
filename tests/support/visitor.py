"""Somebody with a browser that shows nothing: opens a link, reads the form on the page, and sends it.

`visitor()` is for pages that listen somewhere, `visitor(app)` for an application that nobody serves. Each is a browser
of its own, with its own cookies.
"""

import html
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
from starlette.types import ASGIApp

PATIENCE = 15
"""Seconds for any answer: much more than it takes, much less than a test may."""

READING = {"accept": "text/html,*/*;q=0.8"}
"""What tells somebody who comes to look from a program that fetches."""

SAME_ORIGIN = {"origin": "null", "sec-fetch-site": "same-origin"}
"""What a browser says of a post from a page at the same address: ours have `no-referrer`, so it names no origin."""

_TOKEN = re.compile(r'name="token" value="([^"]*)"')
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Shown(NamedTuple):
    """What a browser shows after a request, at the end of all redirects within the pages."""

    response: httpx2.Response

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def html(self) -> str:
        return self.response.text

    @property
    def heading(self) -> str:
        """What the page says first; empty where it is no page."""
        found = _HEADING.search(self.html)
        return "" if found is None else html.unescape(" ".join(_TAG.sub("", found[1]).split()))

    @property
    def token(self) -> str:
        """The one of the form; empty where the page has none."""
        found = _TOKEN.search(self.html)
        return "" if found is None else html.unescape(found[1])

    @property
    def location(self) -> str:
        """Where an answer leads that was not followed: off the pages."""
        return self.response.headers.get("location", "")


class Visitor:
    """One browser. Redirects are followed as long as they stay at the address they come from."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def open(self, link: str, headers: Mapping[str, str] | None = None, *, most: int = 5) -> Shown:
        """What a person sees who follows the link."""
        response = await self.client.get(link, headers=headers)
        return Shown(await self._followed(response, most))

    async def post(
        self,
        link: str,
        fields: Mapping[str, Any],
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Shown:
        """Send a form, as a browser does from a page at the same address. The token is that of the page as it is now,
        unless another is given."""
        if token is None:
            token = (await self.open(link)).token
        said = headers if headers is not None else SAME_ORIGIN
        response = await self.client.post(link, data={"token": token, **fields}, headers=said)
        return Shown(await self._followed(response, 5))

    async def give(self, link: str, value: str = "", **values: str) -> Shown:
        """Type a secret, or its several parts by name, and save it."""
        typed = values or {"value": value}
        return await self.post(link, {"answer": "yes", **{f"field-{name}": it for name, it in typed.items()}})

    async def agree(self, link: str) -> Shown:
        """Say yes to a page without fields; it leads on to a provider, which is not followed."""
        return await self.post(link, {"answer": "yes"})

    async def decline(self, link: str) -> Shown:
        return await self.post(link, {"answer": "no"})

    async def _followed(self, response: httpx2.Response, most: int) -> httpx2.Response:
        for _ in range(most):
            following = response.next_request
            if following is None or following.url.netloc != response.url.netloc:
                return response
            response = await self.client.send(following)
        return response


@asynccontextmanager
async def visitor(app: ASGIApp | None = None) -> AsyncGenerator[Visitor]:
    """A browser for the length of the block."""
    transport = None if app is None else httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(
        transport=transport, timeout=PATIENCE, trust_env=False, headers=READING
    ) as client:
        yield Visitor(client)
