"""The cookies of the pages: which browser this is and who signed in. They are signed, so only this server writes them
(R82)."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

from askback.pages.settings import ROOT

SESSION_SECONDS = 3600
"""How long a session lasts from its first cookie on, however often it is used: as long as one question usually has."""

MAX_COOKIE = 4_000
"""Characters that browsers accept."""


class SignedCookie:
    """A cookie of the pages at one address, for one purpose."""

    def __init__(
        self, base: str, key: bytes, *, purpose: str, clock: Callable[[], float], path: str = "/"
    ) -> None:
        self._name = cookie_name(base) + ("" if purpose == "session" else f"-{purpose}")
        self._signer = URLSafeSerializer(key, salt=f"askback {purpose} {base}")
        self._is_secure, self._path, self.clock = base.startswith("https:"), path, clock

    def read(self, request: Request) -> Any:
        """What was written; an empty list if there is no cookie, or if its signature is not ours."""
        try:
            return self._signer.loads(request.cookies.get(self._name, ""))
        except (BadSignature, ValueError, TypeError):
            return []

    def write(self, response: Response, value: Any, *, seconds: float) -> None:
        response.set_cookie(
            self._name,
            str(self._signer.dumps(value)),
            max_age=ceil(seconds),
            path=self._path,
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser, and the person who signed in there."""

    browser: str
    owner: str | None = None
    until: float | None = None
    """When it ends; None if no browser has it yet."""
    asks_who: bool = False
    """Whether the next sign-in asks for the account, even if the provider still knows the person."""

    @classmethod
    def new(cls, owner: str | None = None, *, asks_who: bool = False) -> "BrowserSession":
        """A session with a new random id, so that nobody can plant a known one before a sign-in."""
        return cls(token_urlsafe(16), owner, asks_who=asks_who)


class BrowserSessions:
    """Reads and writes the session cookie of one address."""

    def __init__(self, base: str, key: bytes, *, clock: Callable[[], float], path: str = "/") -> None:
        """`path` limits the cookie to the pages below it, where other programs listen on the same host."""
        self._cookie = SignedCookie(base, key, purpose="session", clock=clock, path=path)

    def read(self, request: Request) -> BrowserSession | None:
        """None for a browser that has no session, or whose session is over."""
        match self._cookie.read(request):
            case [browser, owner, until, asks_who] if until > self._cookie.clock():
                return BrowserSession(browser, owner, until, asks_who)
            case _:
                return None

    def write(self, response: Response, session: BrowserSession) -> None:
        """The end of a session is set when it is written first, and does not move."""
        now = self._cookie.clock()
        until = now + SESSION_SECONDS if session.until is None else session.until
        row = [session.browser, session.owner, until, session.asks_who]
        self._cookie.write(response, row, seconds=until - now)


def cookie_name(base: str) -> str:
    """Browsers send a cookie to every port and path of a host, so its name tells the servers of one host apart."""
    parts = urlsplit(base)
    is_secure, port = parts.scheme == "https", parts.port
    is_plain = parts.path.removesuffix(ROOT) == "" and (not is_secure or port in (None, 443))
    name = "__Host-askback" if is_secure else f"askback-{port or 80}"
    return name if is_plain else f"{name}-{sha256(base.encode()).hexdigest()[:8]}"
