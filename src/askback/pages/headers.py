"""What every answer of the pages tells the browser: load nothing from elsewhere, keep nothing, be framed by nobody."""

from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=(), payment=(), usb=()",
    "x-robots-tag": "noindex",
}

POLICY = "content-security-policy"

TRANSPORT = "strict-transport-security"

YEAR = 31_536_000


def policy(*, may_go_to: Collection[str] = ()) -> str:
    """A form goes to our own address; where the answer leads on to a provider, browsers want that named as well. They
    hold to it through every redirect, and a provider may send people on to wherever they are known: so then to any
    https address."""
    beyond = ["https:", *may_go_to] if may_go_to else []
    return "; ".join(
        [
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            " ".join(["form-action", "'self'", *beyond]),
            "frame-ancestors 'none'",
        ]
    )


class Guarded:
    """Puts them on whatever the application answers, errors included."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self._app = app
        self._headers = HEADERS | ({TRANSPORT: f"max-age={YEAR}"} if is_secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                headers.setdefault(POLICY, policy())
            await send(message)

        await self._app(scope, receive, guarded)
