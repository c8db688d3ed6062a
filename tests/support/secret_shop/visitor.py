"""Somebody who opens links and types, without a browser; everything that came back to them is kept."""

import re
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

_TOKEN = re.compile(r'name="token" value="([^"]+)"')
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)

_BROWSER = {"accept": "text/html,*/*;q=0.8", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
"""What a browser says when somebody opens a page."""

SAVED = "Saved"
"""The heading of a page on which something was typed, and taken."""


class Visitor:
    """One browser of sorts: its cookies are kept from page to page."""

    def __init__(self) -> None:
        self.answers: list[httpx2.Response] = []
        self._http = httpx2.AsyncClient(follow_redirects=True, timeout=20, headers={"accept": "text/html"})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def open(self, url: str) -> str:
        """The page's heading; its token is what a form on it would send."""
        return self._kept(await self._http.get(url))

    async def type(self, url: str, value: str) -> str:
        """Open the page, fill it in and send it; the heading of what comes then."""
        await self.open(url)
        return await self.send(str(self.answers[-1].url), value)  # where the page is, if the link led on

    async def turn_down(self, url: str) -> str:
        await self.open(url)
        return await self.post(url, {"token": self.token, "answer": "no"})

    async def send(self, url: str, value: str) -> str:
        """Send the page that is open."""
        return await self.post(url, {"token": self.token, "answer": "yes", "field-value": value})

    async def post(self, url: str, fields: dict[str, str], **how: Any) -> str:
        parts = urlsplit(url)
        origin = {"origin": f"{parts.scheme}://{parts.netloc}", "sec-fetch-site": "same-origin"}
        return self._kept(await self._http.post(url, data=fields, headers=origin, **how))

    @property
    def token(self) -> str:
        """Of the last page with a form."""
        for answer in reversed(self.answers):
            if found := _TOKEN.search(answer.text):
                return found[1]
        raise AssertionError(
            f"No page with a form was opened: {[answer.text for answer in self.answers][-1:]}"
        )

    @property
    def places(self) -> dict[str, bytes]:
        """What a browser would keep, show, and tell others."""
        headers = [line for answer in self.answers for line in answer.headers.multi_items()]
        addresses = [str(answer.url) for answer in self.answers]
        addresses += [value for name, value in headers if name == "location"]
        cookies = [value for name, value in headers if name == "set-cookie"]
        return {
            "addresses": "\n".join(addresses).encode(),
            "cookies": "\n".join(cookies).encode(),
            "pages": "\n".join(answer.text for answer in self.answers).encode(),
        }

    def _kept(self, answer: httpx2.Response) -> str:
        self.answers += [*answer.history, answer]
        found = _HEADING.search(answer.text)
        return "" if found is None else re.sub(r"<[^>]+>", "", found[1])
