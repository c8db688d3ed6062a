"""Whether a post comes from a page of ours, in the browser it was made for (T03)."""

from collections.abc import Callable

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request

FIELD = "token"

SAME = ["same-origin"]

HIDDEN = ["null"]
"""The Origin that browsers write on a page with `no-referrer`, as all of ours are: there Sec-Fetch-Site must say it."""


class CSRFTokens:
    """Tokens are bound to browser, person and page, and good for as long as the session: two tabs have two of them."""

    def __init__(
        self, *, origin: str, base: str, key: bytes, clock: Callable[[], float], lasts: float
    ) -> None:
        self._origin = origin
        self._signer = URLSafeSerializer(key, salt=f"askback form {base}")
        self._clock, self._lasts = clock, lasts

    def token(self, browser: str, visitor: str, page: str) -> str:
        return str(self._signer.dumps([browser, visitor, page, self._clock() + self._lasts]))

    def objection_to_headers(self, request: Request) -> str | None:
        """Why a post is refused before it is read, for the log. A browser says where a post comes from; one that says
        nothing, or elsewhere, gets nothing."""
        origin, site = request.headers.getlist("origin"), request.headers.getlist("sec-fetch-site")
        if site not in ([], SAME):
            return "Sec-Fetch-Site is not same-origin"
        if origin != [self._origin] and not (origin == HIDDEN and site == SAME):
            return "Origin is not this address"
        return None

    def objection_to_token(self, token: str, browser: str, visitor: str, page: str) -> str | None:
        """The same once it was read."""
        try:
            for_browser, for_visitor, for_page, until = self._signer.loads(token)
        except (BadSignature, ValueError, TypeError):
            return "no token, or not one of ours"
        if (for_browser, for_visitor, for_page) != (browser, visitor, page):
            return "a token of another browser, person or page"
        return None if until > self._clock() else "a token whose time is over"
