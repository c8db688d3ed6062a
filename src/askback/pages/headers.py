"""Security headers of every answer: load nothing from elsewhere, cache nothing, be in no frame."""

import re
from collections.abc import Collection

from pydantic_core import Url
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askback.errors import ProviderUnavailable

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

USUAL_PORTS = {"https": 443, "http": 80}

_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")


def policy(*, may_go_to: Collection[str] = ()) -> str:
    """The content security policy. A form goes to our own address. If its answer redirects to a provider, browsers
    check every further redirect as well, and providers redirect to other hosts: then any https address is allowed."""
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


def origin_of(url: str, name: str) -> str:
    """The origin of a provider's endpoint. Characters that have a meaning in a policy are not allowed in it."""
    parsed = Url(url)
    if not _HOST.fullmatch(parsed.host or ""):
        raise ProviderUnavailable(name, f"{url!r:.200} has a host that no browser would go to")
    port = "" if parsed.port in (None, USUAL_PORTS.get(parsed.scheme)) else f":{parsed.port}"
    return f"{parsed.scheme}://{parsed.host}{port}"


class SecurityHeaders:
    """Adds the headers to every response of an application, errors included."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self._app = app
        self._headers = HEADERS | ({TRANSPORT: f"max-age={YEAR}"} if is_secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                headers.setdefault(POLICY, policy())
            await send(message)

        await self._app(scope, receive, send_with_headers)
