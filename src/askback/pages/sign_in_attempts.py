"""Sign-ins at the door that are under way, in a cookie of the browser that is sent there. Nobody is known yet who
begins one, so nothing is written down here: anybody could fill the store."""

from collections.abc import Callable
from hashlib import sha256
from secrets import compare_digest
from typing import NamedTuple

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

from askback.pages.oauth_states import LASTS
from askback.pages.sessions import cookie_name

MAX_ATTEMPTS = 4
"""Windows in which one browser signs in at once; as many as fit in a cookie."""


class SignInAttempt(NamedTuple):
    """One sign-in: bound to a state and a browser, and good for ten minutes."""

    state: str
    browser: str
    verifier: str
    nonce: str
    back: str
    """The path of the page that was wanted, below the address of all."""
    until: float = 0.0


class SignInAttempts:
    """Reads and writes that cookie, for one address."""

    def __init__(self, base: str, key: bytes, *, clock: Callable[[], float]) -> None:
        self._is_secure, self._name = base.startswith("https:"), f"{cookie_name(base)}-errands"
        self._signer = URLSafeSerializer(key, salt=f"askback errands {base}")
        self._clock = clock

    def begin(self, request: Request, response: Response, errand: SignInAttempt) -> None:
        kept = [*self._read(request), errand._replace(until=self._clock() + LASTS)]
        self._write(response, kept[-MAX_ATTEMPTS:])

    def look(self, request: Request, state: str, browser: str) -> SignInAttempt | None:
        """What it was begun with, in this very browser."""
        found = (errand for errand in self._read(request) if errand.state == state)
        return next((errand for errand in found if _is_alike(errand.browser, browser)), None)

    def finish(self, request: Request, response: Response, state: str) -> Response:
        """However it ended."""
        self._write(response, [errand for errand in self._read(request) if errand.state != state])
        return response

    def _read(self, request: Request) -> list[SignInAttempt]:
        try:
            errands = [SignInAttempt(*row) for row in self._signer.loads(request.cookies.get(self._name, ""))]
        except (BadSignature, ValueError, TypeError):
            return []
        return [errand for errand in errands if errand.until > self._clock()]

    def _write(self, response: Response, errands: list[SignInAttempt]) -> None:
        response.set_cookie(
            self._name,
            str(self._signer.dumps(errands)),
            max_age=int(LASTS) if errands else 0,
            path="/",
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )


def spend_key(state: str) -> str:
    """The name of a state that has let somebody in."""
    return f"errand:{sha256(state.encode()).hexdigest()}"


def _is_alike(one: str, other: str) -> bool:
    return compare_digest(one.encode(), other.encode())
