"""Exchanges codes and refresh tokens for tokens, with Authlib, and checks the answers."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, cast

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import AsyncOAuth2Client

from askback.errors import ProviderUnavailable
from askback.oauth.metadata import Metadata
from askback.oauth.provider import Provider
from askback.oauth.transport import OPTIONS, BoundedTransport, json_in

OPENID, OFFLINE = "openid", "offline_access"
"""Some providers do not list these among the granted scopes; an ID token and a refresh token show them."""

SAME: Mapping[str, str] = {
    "https://www.googleapis.com/auth/userinfo.email": "email",
    "https://www.googleapis.com/auth/userinfo.profile": "profile",
}
"""Google's names for scopes of OpenID Connect."""


def granted_scopes(said: str | None, wanted: Collection[str], *, implied: Collection[str]) -> tuple[str, ...]:
    """The granted scopes: all that were asked for, if the answer names none (RFC 6749, 5.1)."""
    if said is None:
        return tuple(wanted)
    # GitHub and others write commas between them.
    words = said.split() if said in wanted else said.replace(",", " ").split()
    also = [SAME[word] for word in words if word in SAME]
    return tuple(dict.fromkeys([*words, *also, *(scope for scope in implied if scope in wanted)]))


VERIFIER_CHARACTERS = 64
"""The length of the PKCE verifier; between 43 and 128."""

TEXTS = ("access_token", "refresh_token", "id_token", "token_type", "scope")
"""The members of an answer that we read, beside `expires_in`."""

SERVER_ERROR = 500

MAX_TOKEN_LIFETIME = 10 * 365 * 86_400
"""Seconds: a longer lifetime is ignored."""

_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,50}")
"""The shape of an OAuth error code. Anything else is free text of the other side, and is not logged."""


class AuthorizationRequest(NamedTuple):
    """Where to send a person, and the PKCE verifier for the code that comes back."""

    url: str
    verifier: str


class TokenResponse(NamedTuple):
    """The tokens that an authorization server gave."""

    access_token: str
    refresh_token: str | None
    lasts: float | None
    """Seconds from now; None if it did not say."""
    scopes: tuple[str, ...]
    id_token: str | None = None

    def __repr__(self) -> str:
        return f"<Granted {self.scopes}, hidden>"


class TokenRequestRejected(Exception):
    """The authorization server refused; `code` is its error code, such as invalid_grant."""

    def __init__(self, code: str) -> None:
        self.code = code if _CODE.fullmatch(code) else "refused"
        super().__init__(self.code)


def begin(
    provider: Provider,
    metadata: Metadata,
    *,
    redirect_uri: str,
    scopes: Sequence[str],
    state: str,
    **more: str,
) -> AuthorizationRequest:
    """The address to send the person to, always with PKCE S256 (R85)."""
    verifier = generate_token(VERIFIER_CHARACTERS)
    # A provider ignores offline_access unless the person is asked (OpenID Connect Core, 11).
    usual = {"prompt": "consent"} if OFFLINE in scopes else {}
    wanted = {**usual, **provider.extra, **more}
    client = _client(provider, metadata, "authorization_endpoint")
    url, _ = client.create_authorization_url(
        metadata.authorization_endpoint,
        state=state,
        code_verifier=verifier,
        redirect_uri=redirect_uri,
        scope=" ".join(scopes) or None,
        **{name: value for name, value in wanted.items() if value is not None},
    )
    return AuthorizationRequest(str(url), verifier)


async def redeem(
    provider: Provider,
    metadata: Metadata,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
    scopes: Sequence[str],
) -> TokenResponse:
    """The tokens for a code; raises `TokenRequestRejected` or `ProviderUnavailable`."""
    async with _client(provider, metadata, "token_endpoint") as client:
        try:
            given = await client.fetch_token(
                metadata.token_endpoint,
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
                redirect_uri=redirect_uri,
            )
        except (AuthlibBaseError, httpx2.HTTPError, ValueError) as error:
            _explain(provider, error)
    said = {OPENID: "id_token", OFFLINE: "refresh_token"}
    implied = [scope for scope, token in said.items() if given.get(token)]
    return _granted(provider, given, scopes, implied=implied)


async def refresh(
    provider: Provider, metadata: Metadata, *, refresh_token: str, scopes: Sequence[str]
) -> TokenResponse:
    """New tokens for a refresh token, which may be invalid afterwards."""
    async with _client(provider, metadata, "token_endpoint") as client:
        try:
            given = await client.refresh_token(metadata.token_endpoint, refresh_token=refresh_token)
        except (AuthlibBaseError, httpx2.HTTPError, ValueError) as error:
            _explain(provider, error)
    return _granted(provider, given, scopes, implied=(OPENID, OFFLINE))


async def revoke(provider: Provider, metadata: Metadata, *, token: str) -> None:
    """Revoke a token if the provider can do that; raises `ProviderUnavailable`."""
    if metadata.revocation_endpoint is None:
        return
    async with _client(provider, metadata, "revocation_endpoint") as client:
        try:
            response = await client.revoke_token(metadata.revocation_endpoint, token=token)
            response.raise_for_status()
        except (AuthlibBaseError, httpx2.HTTPError, ValueError) as error:
            raise ProviderUnavailable(
                provider.name, f"it did not take a token back ({type(error).__name__})"
            ) from None


def _client(provider: Provider, metadata: Metadata, endpoint: str) -> Any:
    """Authlib's client. Authlib has no types, so it is `Any`."""
    method = _auth_method(provider, metadata)
    make: Any = AsyncOAuth2Client
    client = make(
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        code_challenge_method="S256",
        transport=BoundedTransport(metadata.reach(endpoint)),
        **OPTIONS,
    )
    for kind in ("access_token_response", "refresh_token_response"):
        client.register_compliance_hook(kind, _plain)
    return client


def _auth_method(provider: Provider, metadata: Metadata) -> str:
    """The operator's choice, or else one that the provider supports."""
    if provider.client_secret is None:
        return "none"
    posts = "client_secret_post" in metadata.auth_methods
    return provider.auth_method or (
        "client_secret_post"
        if posts and "client_secret_basic" not in metadata.auth_methods
        else "client_secret_basic"
    )


def _plain(response: httpx2.Response) -> httpx2.Response:
    """An answer with only the members that we read, checked for type: Authlib does not check the shape of an answer."""
    if response.status_code >= SERVER_ERROR:
        response.raise_for_status()
    said = json_in(response)
    if not isinstance(said, dict):
        raise ValueError("no JSON object")
    given = {name: value for name, value in cast("dict[str, Any]", said).items() if value is not None}
    if "error" in given:
        return httpx2.Response(400, json={"error": str(given["error"])})
    response.raise_for_status()
    if not all(isinstance(given.get(name, ""), str) for name in TEXTS):
        raise ValueError("not a text where there should be one")
    plain = {name: given[name] for name in TEXTS if name in given}
    lasts = _lasts(given.get("expires_in"))
    return httpx2.Response(200, json=plain if lasts is None else {**plain, "expires_in": lasts})


def _lasts(said: Any) -> float | None:
    """Seconds, also if they are written as a text; None if they make no sense."""
    try:
        seconds = float(said)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < MAX_TOKEN_LIFETIME else None


def _granted(
    provider: Provider, given: Mapping[str, Any], scopes: Sequence[str], *, implied: Collection[str]
) -> TokenResponse:
    access_token, scope = given.get("access_token", ""), given.get("scope")
    if not access_token or not (access_token.isascii() and access_token.isprintable()):
        raise ProviderUnavailable(provider.name, "it gave no access token that could be used")
    if given.get("token_type", "bearer").lower() != "bearer":
        raise ProviderUnavailable(provider.name, "it gave a token that is not a bearer token")
    return TokenResponse(
        access_token=access_token,
        refresh_token=given.get("refresh_token") or None,
        lasts=given.get("expires_in"),
        scopes=granted_scopes(scope, scopes, implied=implied),
        id_token=given.get("id_token"),
    )


def _explain(provider: Provider, error: Exception) -> NoReturn:
    """Raise an error of ours. The texts of the other side are left out: they may quote what was sent."""
    if isinstance(error, AuthlibBaseError):
        raise TokenRequestRejected(str(error.error or "refused")) from None
    raise ProviderUnavailable(provider.name, f"it did not answer ({type(error).__name__})") from None
