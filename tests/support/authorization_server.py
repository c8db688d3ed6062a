"""A small authorization server that does whatever a test has it do, and writes down who came."""

from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.oauth import Provider
from askback.pages.loopback_server import bind_loopback, serve_app

Answer = Callable[[Request], Awaitable[Response]]

METADATA = "/.well-known/openid-configuration"
OAUTH_METADATA = "/.well-known/oauth-authorization-server"

KEY = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
"""Made once: it takes a tenth of a second."""


class Asked(NamedTuple):
    """One request that came in."""

    path: str
    form: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass(slots=True)
class Authority:
    """One that runs. It is honest until something is changed in it."""

    issuer: str
    metadata: dict[str, Any]
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    """By path."""
    asked: list[Asked] = field(default_factory=list[Asked])

    @property
    def codes(self) -> list[str]:
        """Those that were sent to its token endpoint."""
        return [str(asked.form["code"]) for asked in self.asked if "code" in asked.form]

    def provider(self, name: str, **more: Any) -> Provider:
        return Provider(name=name, client_id="ours", issuer=self.issuer, **more)

    def says(self, path: str, said: Any, status: int = 200, **headers: str) -> None:
        """From now on this is what is at `path`: JSON, or bytes as they are."""
        self.answers[path] = _saying(said, status, headers)

    def gives(self, **tokens: Any) -> None:
        """What its token endpoint gives; what is None is left out."""
        given = {"access_token": "for-use", "token_type": "Bearer", **tokens}
        self.says("/token", {name: value for name, value in given.items() if value is not None})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        form = dict(await request.form()) if request.method == "POST" else {}
        self.asked.append(Asked(request.url.path, form, dict(request.headers)))
        answer = self.answers.get(request.url.path, _saying("", 404, {}))
        await (await answer(request))(scope, receive, send)


def _saying(said: Any, status: int, headers: Mapping[str, str]) -> Answer:
    async def say(_: Request) -> Response:
        if isinstance(said, bytes):
            return Response(said, status, headers, media_type="application/json")
        return JSONResponse(said, status, headers)

    return say


def signed(claims: Mapping[str, Any], *, key: Any = KEY, **header: Any) -> str:
    """An ID token; with RS256 and the authority's own key, if nothing else is said."""
    full = {"alg": "RS256", "kid": "first", **header}
    return jwt.encode(full, dict(claims), key, algorithms=[full["alg"]])


def put_together(header: Any, claims: Any, sign: Callable[[bytes], bytes]) -> str:
    """A token that no library would make."""
    parts = [part if isinstance(part, bytes) else to_json(part) for part in (header, claims)]
    body = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    return (body + b"." + urlsafe_b64encode(sign(body)).rstrip(b"=")).decode()


def by_own_key(body: bytes) -> bytes:
    """As RS256 has it."""
    key = KEY.private_key
    assert key is not None
    return key.sign(body, PKCS1v15(), SHA256())


@asynccontextmanager
async def authority(**metadata: Any) -> AsyncGenerator[Authority]:
    """For the length of the block, with this in its metadata beside the usual; {issuer} stands for its own address."""
    with bind_loopback(0, who="A test's authority") as listener:
        issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        usual = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "jwks_uri": f"{issuer}/keys",
        }
        said = {name: _filled(value, issuer) for name, value in {**usual, **metadata}.items()}
        one = Authority(issuer, said)
        one.says(METADATA, said)
        one.says("/keys", KeySet([KEY]).as_dict(private=False))
        one.gives()
        app: ASGIApp = one
        async with serve_app(app, listener, before_end=lambda: None):
            yield one


def _filled(value: Any, issuer: str) -> Any:
    return value.replace("{issuer}", issuer) if isinstance(value, str) else value


def port_of(url: str) -> int:
    return urlsplit(url).port or 0
