"""Codes and refresh tokens for tokens, by Authlib; and what its answers mean here."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import AsyncOAuth2Client

from askback.errors import ProviderUnavailable
from askback.oauth.fetching import OPTIONS, Bounded
from askback.oauth.metadata import Metadata
from askback.oauth.provider import Provider

VERIFIER_CHARACTERS = 64
"""Of PKCE; between 43 and 128."""

LONGEST = 10 * 365 * 86_400
"""Seconds: a token that says it lasts longer does not say."""


class Begun(NamedTuple):
    """A sign-in on its way out."""

    url: str
    verifier: str


class Granted(NamedTuple):
    """What an authorization server gave."""

    access_token: str
    refresh_token: str | None
    lasts: float | None
    """Seconds from now; None where it did not say."""
    scopes: tuple[str, ...]
    id_token: str | None = None

    def __repr__(self) -> str:
        return f"<Granted {self.scopes}, hidden>"


class Refused(Exception):
    """The authorization server said no: `code` is its word for it, such as invalid_grant."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def begin(
    provider: Provider,
    metadata: Metadata,
    *,
    redirect_uri: str,
    scopes: Sequence[str],
    state: str,
    **more: str,
) -> Begun:
    """Where to send the person; with PKCE S256 always (R85)."""
    verifier = generate_token(VERIFIER_CHARACTERS)
    client = _client(provider, metadata)
    url, _ = client.create_authorization_url(
        metadata.authorization_endpoint,
        state=state,
        code_verifier=verifier,
        redirect_uri=redirect_uri,
        scope=" ".join(scopes) or None,
        **{**provider.extra, **more},
    )
    return Begun(str(url), verifier)


async def redeem(
    provider: Provider,
    metadata: Metadata,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
    scopes: Sequence[str],
) -> Granted:
    """The tokens for a code; raises `Refused` or `ProviderUnavailable`."""
    async with _client(provider, metadata) as client:
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
    return _granted(provider, given, scopes)


async def refresh(
    provider: Provider, metadata: Metadata, *, refresh_token: str, scopes: Sequence[str]
) -> Granted:
    """New tokens for a refresh token, which may be spent with it."""
    async with _client(provider, metadata) as client:
        try:
            given = await client.refresh_token(metadata.token_endpoint, refresh_token=refresh_token)
        except (AuthlibBaseError, httpx2.HTTPError, ValueError) as error:
            _explain(provider, error)
    return _granted(provider, given, scopes)


async def revoke(provider: Provider, metadata: Metadata, *, token: str) -> None:
    """Give a token back, where that can be done; raises `ProviderUnavailable`."""
    if metadata.revocation_endpoint is None:
        return
    async with _client(provider, metadata) as client:
        try:
            response = await client.revoke_token(metadata.revocation_endpoint, token=token)
            response.raise_for_status()
        except (AuthlibBaseError, httpx2.HTTPError, ValueError) as error:
            raise ProviderUnavailable(
                provider.name, f"it did not take a token back ({type(error).__name__})"
            ) from None


def _client(provider: Provider, metadata: Metadata) -> Any:
    """Authlib has no types, so from here on its client is anything."""
    posts = (
        "client_secret_post" in metadata.auth_methods and "client_secret_basic" not in metadata.auth_methods
    )
    method = ("client_secret_post" if posts else "client_secret_basic") if provider.client_secret else "none"
    make: Any = AsyncOAuth2Client
    return make(
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        code_challenge_method="S256",
        transport=Bounded(),
        **OPTIONS,
    )


def _granted(provider: Provider, given: Mapping[str, Any], scopes: Sequence[str]) -> Granted:
    access_token, lasts, scope = given.get("access_token"), given.get("expires_in"), given.get("scope")
    if not isinstance(access_token, str) or not access_token:
        raise ProviderUnavailable(provider.name, "it gave no access token")
    kind = given.get("token_type", "bearer")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise ProviderUnavailable(provider.name, "it gave a token that is not a bearer token")
    refresh_token, id_token = given.get("refresh_token"), given.get("id_token")
    return Granted(
        access_token=access_token,
        refresh_token=refresh_token if isinstance(refresh_token, str) and refresh_token else None,
        lasts=float(lasts) if isinstance(lasts, int | float) and 0 < lasts < LONGEST else None,
        scopes=tuple(scope.split()) if isinstance(scope, str) else tuple(scopes),
        id_token=id_token if isinstance(id_token, str) else None,
    )


def _explain(provider: Provider, error: Exception) -> NoReturn:
    """Without the words of the other side, which may quote what was sent."""
    if isinstance(error, AuthlibBaseError):
        raise Refused(str(error.error or "refused")) from None
    raise ProviderUnavailable(provider.name, f"it did not answer ({type(error).__name__})") from None
