"""Protection against cross-site request forgery: whether a post comes from a page of ours, in the browser it was made
for (T03)."""

from collections.abc import Callable

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request

from askback.pages.sessions import SESSION_SECONDS

FIELD = "token"

SAME = ["same-origin"]

HIDDEN = ["null"]
"""The Origin that browsers send from a page with `no-referrer`, as all of ours are: then Sec-Fetch-Site has to tell."""


class CSRFTokens:
    """A token is bound to browser, person and page. It stays valid for the session, so each of two tabs has its own."""

    def __init__(self, *, origin: str, base: str, key: bytes, clock: Callable[[], float]) -> None:
        self._origin, self._clock = origin, clock
        self._signer = URLSafeSerializer(key, salt=f"askback form {base}")

    def token(self, browser: str, owner: str, page: str) -> str:
        return str(self._signer.dumps([browser, owner, page, self._clock() + SESSION_SECONDS]))

    def objection_to_headers(self, request: Request) -> str | None:
        """Why a post is rejected before it is read, for the log. A browser says where a post comes from; a post that
        says nothing, or another site, is rejected."""
        origin, site = request.headers.getlist("origin"), request.headers.getlist("sec-fetch-site")
        if site not in ([], SAME):
            return "Sec-Fetch-Site is not same-origin"
        if origin != [self._origin] and not (origin == HIDDEN and site == SAME):
            return "Origin is not this address"
        return None

    def objection_to_token(self, token: str, browser: str, owner: str, page: str) -> str | None:
        """Why a post is rejected after it was read, for the log."""
        try:
            *bound_to, until = self._signer.loads(token)
        except (BadSignature, ValueError, TypeError):
            return "no token, or not one of ours"
        if bound_to != [browser, owner, page]:
            return "a token of another browser, person or page"
        return None if until > self._clock() else "an expired token"
