"""Whether a post comes from a page of ours, in the browser it was made for (T03)."""

from collections.abc import Callable

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request

FIELD = "token"


class Forgery:
    """Tokens are bound to browser, person and page, and good for as long as the session: two tabs have two of them."""

    def __init__(
        self, *, origin: str, base: str, key: bytes, clock: Callable[[], float], lasts: float
    ) -> None:
        self._origin = origin
        self._signer = URLSafeSerializer(key, salt=f"askback form {base}")
        self._clock, self._lasts = clock, lasts

    def token(self, browser: str, visitor: str, page: str) -> str:
        return str(self._signer.dumps([browser, visitor, page, self._clock() + self._lasts]))

    def objection(self, request: Request, token: str, browser: str, visitor: str, page: str) -> str | None:
        """Why a post is refused; for the log."""
        return self.objection_to_headers(request) or self._objection_to(token, browser, visitor, page)

    def objection_to_headers(self, request: Request) -> str | None:
        """A browser says where a post comes from; one that says nothing, or elsewhere, gets nothing."""
        headers = request.headers
        if headers.getlist("origin") != [self._origin]:
            return "Origin is not this address"
        if headers.getlist("sec-fetch-site") not in ([], ["same-origin"]):
            return "Sec-Fetch-Site is not same-origin"
        return None

    def _objection_to(self, token: str, browser: str, visitor: str, page: str) -> str | None:
        try:
            for_browser, for_visitor, for_page, until = self._signer.loads(token)
        except (BadSignature, ValueError, TypeError):
            return "no token, or not one of ours"
        if (for_browser, for_visitor, for_page) != (browser, visitor, page):
            return "a token of another browser, person or page"
        return None if until > self._clock() else "a token whose time is over"
