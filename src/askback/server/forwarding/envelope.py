"""A request as one worker hands it to another: whole, as it came in, with the session and the worker it is for."""

import json
from typing import Any, NamedTuple

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.types import Message, Receive, Scope

from askback.errors import AskbackError
from askback.server.delivery import HEADER

HEAD = 4
"""Bytes before the head that tell how long it is; what comes behind it is the body."""

TEXTS = ("method", "path", "root_path", "scheme", "http_version")
BYTES = ("raw_path", "query_string")
ENDS = ("client", "server")
"""Of a scope: what the request itself said, and none of what was made of it here."""

HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"expect",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""About one connection, not about the request (RFC 9110, 7.6.1)."""

DROPPED_REQUEST_HEADERS = HOP_BY_HOP | {b"accept-encoding", HEADER.encode()}
"""Whoever talks to the client compresses, if anybody; and what is delivered twice to a session is known by itself."""

DROPPED_RESPONSE_HEADERS = HOP_BY_HOP | {b"date", b"server"}
"""Whoever talks to the client says these."""

Headers = list[tuple[bytes, bytes]]


UNKNOWN_USER = (
    "The application around this server lets in users of the class {class}, which cannot be passed on to the worker "
    "that has the session. Wrap that application on all workers: app = askback.wrap(app)."
)


class BodyTooLong(AskbackError):
    """More than a worker takes from another."""


class Envelope(NamedTuple):
    """One request for another worker; without a session it only asks who is there."""

    to: str
    until: float
    """By the clock of the worker it is for: afterwards it may not be begun."""
    session: str
    scope: dict[str, Any]
    user: dict[str, Any] | None
    """The caller whom the first worker verified; None if it verified nobody."""
    body: bytes

    def pack(self) -> bytes:
        head = json.dumps([self.to, self.until, self.session, self.scope, self.user]).encode()
        return len(head).to_bytes(HEAD, "big") + head + self.body

    @classmethod
    def unpack(cls, text: bytes) -> "Envelope":
        end = HEAD + int.from_bytes(text[:HEAD], "big")
        to, until, session, scope, user = json.loads(text[HEAD:end])
        return cls(to=to, until=until, session=session, scope=scope, user=user, body=text[end:])


PROBE = Envelope(to="", until=0.0, session="", scope={}, user=None, body=b"")


def pack_scope(scope: Scope) -> dict[str, Any]:
    """What travels of a request."""
    told: dict[str, Any] = {name: scope[name] for name in TEXTS if name in scope}
    told |= {name: scope[name].decode("latin-1") for name in BYTES if scope.get(name) is not None}
    told |= {name: list(scope[name]) for name in ENDS if scope.get(name)}
    return told | {"headers": encode_headers(drop_headers(scope["headers"], DROPPED_REQUEST_HEADERS))}


def unpack_scope(told: dict[str, Any]) -> Scope:
    """The request, to be let in again."""
    scope: Scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, **told}
    scope |= {name: told[name].encode("latin-1") for name in BYTES if name in told}
    scope |= {name: tuple(told[name]) if name in told else None for name in ENDS}
    return scope | {"headers": decode_headers(told["headers"])}


def pack_user(scope: Scope) -> dict[str, Any] | None:
    """What travels of a verified caller."""
    user = scope.get("user")
    if user is None or not getattr(user, "is_authenticated", True):
        return None
    scopes = [*getattr(scope.get("auth"), "scopes", ())]
    if isinstance(user, AuthenticatedUser):
        return {"token": user.access_token.model_dump(mode="json"), "scopes": scopes}
    if type(user) is SimpleUser:
        return {"name": user.username, "scopes": scopes}
    return {"class": f"{type(user).__module__}.{type(user).__qualname__}"}


def can_travel(user: dict[str, Any] | None) -> bool:
    """Whether another worker can make the same user of it."""
    return user is None or "class" not in user


def unpack_user(packed: dict[str, Any] | None) -> Scope:
    """The verified caller as a scope has it; raises `AskbackError` for a user that cannot travel."""
    if packed is None:
        return {}
    if not can_travel(packed):
        raise AskbackError(UNKNOWN_USER.format(**packed))
    token = packed.get("token")
    user = AuthenticatedUser(AccessToken(**token)) if token is not None else SimpleUser(packed["name"])
    return {"user": user, "auth": AuthCredentials(packed["scopes"])}


def drop_headers(headers: Any, names: frozenset[bytes]) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in names]


def encode_headers(headers: Headers) -> list[list[str]]:
    return [[name.decode("latin-1"), value.decode("latin-1")] for name, value in headers]


def decode_headers(written: list[list[str]]) -> Headers:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in written]


async def read_body(receive: Receive, *, most: float = float("inf")) -> bytes | None:
    """The whole body; None if whoever sent it went away."""
    body, is_whole = bytearray(), False
    while not is_whole:
        message: Message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            raise BodyTooLong("A worker was sent more than it takes.")
        is_whole = not message.get("more_body", False)
    return bytes(body)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """The body at once, and afterwards whether whoever sent it is still there."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def bring() -> Message:
        return messages.pop() if messages else await receive()

    return bring
