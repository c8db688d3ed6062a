"""One cookie: which browser this is, and whom its door let in. Signed, so that it means what we wrote (R82)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from secrets import token_urlsafe
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

LASTS = 3600
"""Seconds for which somebody is taken for whom they were: as long as people usually get for one question."""

MOST_COOKIE = 4_000
"""Characters that browsers take."""


@dataclass(frozen=True, slots=True)
class Session:
    """A browser, and whom it stands for."""

    browser: str
    owner: str | None = None

    @classmethod
    def new(cls, owner: str | None = None) -> "Session":
        """With a name of its own, so that nobody can give a browser theirs before a sign-in."""
        return cls(token_urlsafe(16), owner)

    def of(self, owner: str) -> "Session":
        return replace(self.new(), owner=owner)


class Sessions:
    """Reads and writes the cookie of one address."""

    def __init__(self, base: str, key: bytes, *, clock: Callable[[], float]) -> None:
        parts = urlsplit(base)
        self._is_secure = parts.scheme == "https"
        # Cookies go to every port of a host, so on this machine the name tells the ports apart.
        self._name = "__Host-askback" if self._is_secure else f"askback-{parts.port or 80}"
        self._signer = URLSafeSerializer(key, salt=f"askback session {base}")
        self._clock = clock

    def read(self, request: Request) -> Session | None:
        """None for a browser that was not here before, or too long ago."""
        try:
            browser, owner, until = self._signer.loads(request.cookies.get(self._name, ""))
        except (BadSignature, ValueError, TypeError):
            return None
        return Session(browser, owner) if until > self._clock() else None

    def write(self, response: Response, session: Session) -> None:
        written = self._signer.dumps([session.browser, session.owner, self._clock() + LASTS])
        response.set_cookie(
            self._name,
            str(written),
            max_age=LASTS,
            path="/",
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )
