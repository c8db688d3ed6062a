"""A request as one worker forwards it to another: complete, with the session and the worker that it is for."""

import json
from typing import Any, NamedTuple

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.types import Scope

from askback.errors import AskbackError
from askback.server.delivery import HEADER

LENGTH_BYTES = 4
"""Bytes at the beginning that give the length of the head. The body follows the head."""

TEXTS = ("method", "path", "root_path", "scheme", "http_version")
BYTES = ("raw_path", "query_string")
ENDS = ("client", "server")
"""The parts of a scope that are forwarded: what the request itself said, and nothing that was added here."""

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
"""Headers about one connection, not about the request (RFC 9110, 7.6.1)."""

DROPPED_REQUEST_HEADERS = HOP_BY_HOP | {b"accept-encoding", HEADER.encode()}
"""Only the worker that talks to the client compresses. The dedupe of a session needs no delivery id."""

DROPPED_RESPONSE_HEADERS = HOP_BY_HOP | {b"date", b"server"}
"""The worker that talks to the client sets these."""

Headers = list[tuple[bytes, bytes]]

UNKNOWN_USER = (
    "The application around this server lets in users of the class {class}, which cannot be passed on to the worker "
    "that has the session. Wrap that application on all workers: app = askback.wrap(app)."
)


class Envelope(NamedTuple):
    """One request for another worker."""

    session: str
    scope: dict[str, Any]
    user: dict[str, Any] | None
    """The caller that the first worker verified. None if it verified nobody."""
    body: bytes
    worker: str = ""
    until: float = 0.0
    """On the clock of the other worker: it does not begin the request after this time."""

    def pack(self) -> bytes:
        head = json.dumps([self.worker, self.until, self.session, self.scope, self.user]).encode()
        return len(head).to_bytes(LENGTH_BYTES, "big") + head + self.body

    @classmethod
    def unpack(cls, text: bytes) -> "Envelope":
        end = LENGTH_BYTES + int.from_bytes(text[:LENGTH_BYTES], "big")
        worker, until, session, scope, user = json.loads(text[LENGTH_BYTES:end])
        return cls(session=session, scope=scope, user=user, body=text[end:], worker=worker, until=until)


def pack_scope(scope: Scope) -> dict[str, Any]:
    """The parts of a scope that are forwarded."""
    packed: dict[str, Any] = {name: scope[name] for name in TEXTS if name in scope}
    packed |= {name: scope[name].decode("latin-1") for name in BYTES if scope.get(name) is not None}
    packed |= {name: list(scope[name]) for name in ENDS if scope.get(name)}
    return packed | {"headers": encode_headers(scope["headers"], DROPPED_REQUEST_HEADERS)}


def unpack_scope(packed: dict[str, Any]) -> Scope:
    """A scope with which the request can be served again."""
    scope: Scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, **packed}
    scope |= {name: packed[name].encode("latin-1") for name in BYTES if name in packed}
    scope |= {name: tuple(packed[name]) if name in packed else None for name in ENDS}
    return scope | {"headers": decode_headers(packed["headers"])}


def pack_user(scope: Scope) -> dict[str, Any] | None:
    """The verified caller; of a user that cannot be forwarded, only the name of its class."""
    user = scope.get("user")
    if user is None or not getattr(user, "is_authenticated", True):
        return None
    scopes = [*getattr(scope.get("auth"), "scopes", ())]
    if isinstance(user, AuthenticatedUser):
        return {"token": user.access_token.model_dump(mode="json"), "scopes": scopes}
    if type(user) is SimpleUser:
        return {"name": user.username, "scopes": scopes}
    return {"class": f"{type(user).__module__}.{type(user).__qualname__}"}


def can_forward(user: dict[str, Any] | None) -> bool:
    """Whether another worker can make an equal user from what `pack_user` gave."""
    return user is None or "class" not in user


def unpack_user(packed: dict[str, Any] | None) -> Scope:
    """The verified caller as a scope has it. Raises `AskbackError` for a user that cannot be forwarded."""
    if packed is None:
        return {}
    if not can_forward(packed):
        raise AskbackError(UNKNOWN_USER.format(**packed))
    token = packed.get("token")
    user = AuthenticatedUser(AccessToken(**token)) if token is not None else SimpleUser(packed["name"])
    return {"user": user, "auth": AuthCredentials(packed["scopes"])}


def drop_headers(headers: Any, names: frozenset[bytes]) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in names]


def encode_headers(headers: Any, dropped: frozenset[bytes]) -> list[list[str]]:
    return [
        [name.decode("latin-1"), value.decode("latin-1")] for name, value in drop_headers(headers, dropped)
    ]


def decode_headers(encoded: list[list[str]]) -> Headers:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in encoded]
