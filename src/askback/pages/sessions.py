"""One cookie: which browser this is, and whom its door let in. Signed, so that it means what we wrote (R82)."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from secrets import token_urlsafe
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

from askback.pages.settings import ROOT

LASTS = 3600
"""Seconds for which somebody is taken for whom they were, however often they come: as long as people usually get for
one question."""

MAX_COOKIE = 4_000
"""Characters that browsers take."""


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser, and whom it stands for."""

    browser: str
    owner: str | None = None
    until: float | None = None
    """When it ends; None for one that no browser has yet."""
    asks_who: bool = False
    """Whether the next sign-in asks who somebody is, even where they are known."""

    @classmethod
    def new(cls, owner: str | None = None, *, asks_who: bool = False) -> "BrowserSession":
        """With a name of its own, so that nobody can give a browser theirs before a sign-in."""
        return cls(token_urlsafe(16), owner, asks_who=asks_who)


class BrowserSessions:
    """Reads and writes the cookie of one address."""

    def __init__(self, base: str, key: bytes, *, clock: Callable[[], float], path: str = "/") -> None:
        """For the pages below this path, where others listen on the same host."""
        self._path = path
        self._is_secure = base.startswith("https:")
        self._name = cookie_name(base)
        self._signer = URLSafeSerializer(key, salt=f"askback session {base}")
        self._clock = clock

    def read(self, request: Request) -> BrowserSession | None:
        """None for a browser that was not here before, or too long ago."""
        try:
            browser, owner, until, asks_who = self._signer.loads(request.cookies.get(self._name, ""))
        except (BadSignature, ValueError, TypeError):
            return None
        return BrowserSession(browser, owner, until, asks_who) if until > self._clock() else None

    def write(self, response: Response, session: BrowserSession) -> None:
        """Its end stays where it was first written."""
        now = self._clock()
        until = now + LASTS if session.until is None else session.until
        written = self._signer.dumps([session.browser, session.owner, until, session.asks_who])
        response.set_cookie(
            self._name,
            str(written),
            max_age=ceil(until - now),
            path=self._path,
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )


def cookie_name(base: str) -> str:
    """Cookies go to every port and path of a host, so the name tells the servers of one host apart."""
    parts = urlsplit(base)
    is_secure, port = parts.scheme == "https", parts.port
    is_plain = parts.path.removesuffix(ROOT) == "" and (not is_secure or port in (None, 443))
    name = "__Host-askback" if is_secure else f"askback-{port or 80}"
    return name if is_plain else f"{name}-{sha256(base.encode()).hexdigest()[:8]}"
