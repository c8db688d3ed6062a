"""The gate before the desk: only our own page gets answers, and no answer is of use anywhere else.

Knows headers and one-time codes. Each refusal is one sentence; which check failed goes to the log.
"""

import hmac
import logging
import secrets
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askback.client.limits import Clock

CODE_SECONDS = 60
"""A browser that has to be started first takes some; somebody who finds the code later comes too late."""


class OneTimeCodes:
    """Each is taken once, and only while it is fresh."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def make(self) -> str:
        now = self._clock()
        self._until = {code: until for code, until in self._until.items() if until > now}
        code = secrets.token_urlsafe(32)
        self._until[code] = now + CODE_SECONDS
        return code

    def take(self, given: str) -> bool:
        """Whether it is good; from here on it is not."""
        found = next(
            (code for code in self._until if hmac.compare_digest(code.encode(), given.encode())), None
        )
        return found is not None and self._until.pop(found) > self._clock()


logger = logging.getLogger(__name__)

REFUSED = "This desk answers only the page that its own link opened; open that link again."

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""The last two take away every way to turn text into markup, from our own script as well."""

HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=(), payment=(), usb=()",
}


class Gate:
    """Lets through what names our own address, comes from our own page and carries the token.

    The page's own files hold nothing of anybody's and are given without the token: it travels in the link's fragment,
    which a browser never sends, so only the page itself can present it. A cookie would go to every port of this
    machine, also to the web server of an asking program. Where a code is exchanged for the token, the page has
    none yet.
    """

    def __init__(
        self, app: ASGIApp, *, authority: str, token: str, files: Collection[str], exchange: str
    ) -> None:
        self._app, self._files, self._exchange = app, files, exchange
        self._authority, self._origin = authority, f"http://{authority}"
        self._credential = f"Bearer {token}".encode()
        self._told: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        objection = self._objection(scope["method"], scope["path"], Headers(scope=scope))
        if objection is None:
            await self._app(scope, receive, guarded)
        else:
            # The first of its kind is told, so that a page elsewhere cannot fill the person's terminal.
            logger.log(
                logging.DEBUG if objection in self._told else logging.WARNING,
                "refused %s: %s",
                scope["method"],
                objection,
            )
            self._told.add(objection)
            await PlainTextResponse(REFUSED, 403)(scope, receive, guarded)

    def _objection(self, method: str, path: str, headers: Headers) -> str | None:
        if headers.getlist("host") != [self._authority]:
            return "Host is not the address of this desk"
        is_reading = method in {"GET", "HEAD"}
        if is_reading and path in self._files:
            return None
        if headers.getlist("sec-fetch-site") not in ([], ["same-origin"]):
            return "Sec-Fetch-Site is not same-origin"
        if headers.getlist("origin") not in ([[], [self._origin]] if is_reading else [[self._origin]]):
            return "Origin is not this desk"
        is_exchange = method == "POST" and path == self._exchange
        given = headers.getlist("authorization")
        is_ours = len(given) == 1 and hmac.compare_digest(given[0].encode("latin-1"), self._credential)
        if not is_exchange and not is_ours:
            return "no token, or not the one of this launch"
        return None
