"""The endpoints of an authorization server: fetched from its issuer, and valid only for this issuer."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit, urlunsplit

import httpx2
from pydantic_core import Url

from askback.errors import OperatorError, ProviderUnavailable
from askback.oauth.provider import Provider, require_safe
from askback.oauth.transport import BoundedTransport, fetch_json
from askback.oauth.zones import Zone, zone_of
from askback.schema.links import is_loopback

KEPT = 600.0
"""Seconds for which metadata is cached; endpoints rarely move."""

ENDPOINTS = ("authorization_endpoint", "token_endpoint", "revocation_endpoint", "jwks_uri")
WRITTEN = ENDPOINTS[:3]
"""Endpoints that an operator can set in Provider(...)."""


class Metadata(NamedTuple):
    """The metadata of an authorization server."""

    issuer: str | None
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str | None = None
    jwks_uri: str | None = None
    names_itself: bool = False
    """Whether every answer of its authorization endpoint carries `iss`."""
    auth_methods: tuple[str, ...] = ()
    deepest: Zone = Zone.RESERVED
    """How far inside our network its endpoints may be: no further than the issuer, if they come from there."""
    written: frozenset[str] = frozenset()
    """Endpoints that the operator has set; they may be anywhere."""

    def reach(self, endpoint: str) -> Zone:
        """How far inside our network this endpoint may be."""
        return Zone.RESERVED if endpoint in self.written else self.deepest


class IssuerMismatch(Exception):
    """An answer that names another authorization server than the one that was asked (T22)."""


def require_issuer(metadata: Metadata, said: str | None) -> None:
    """Raise `IssuerMismatch` if an answer of the authorization endpoint is not from the server that was asked (R85)."""
    if said is None and not metadata.names_itself:
        return
    if metadata.issuer is not None and said != metadata.issuer:
        raise IssuerMismatch(f"the answer names {said!r:.200}")


class MetadataCache:
    """Metadata by issuer, cached for ten minutes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, Metadata]] = {}

    async def of(self, provider: Provider) -> Metadata:
        """The metadata of a provider. Endpoints that the operator has set come first."""
        if provider.issuer is None or (provider.authorization_endpoint and provider.token_endpoint):
            return Metadata(
                provider.issuer,
                provider.authorization_endpoint or "",
                provider.token_endpoint or "",
                provider.revocation_endpoint,
            )
        found = await self.at(provider.issuer, provider.name)
        written = {name: url for name in WRITTEN if (url := getattr(provider, name)) is not None}
        return found._replace(**written, written=frozenset(written))

    async def at(self, issuer: str, name: str) -> Metadata:
        """The metadata of an issuer."""
        until, known = self._known.get(issuer, (0.0, None))
        if known is not None and until > self._clock():
            return known
        metadata = await discover(issuer, name)
        self._known[issuer] = self._clock() + KEPT, metadata
        return metadata


async def discover(issuer: str, name: str) -> Metadata:
    """Fetch the metadata from OpenID Connect's well-known address, or else from OAuth's."""
    problem = ""
    for url in _places(issuer):
        transport = BoundedTransport()
        try:
            found = await fetch_json(url, transport)
        except (httpx2.HTTPError, ValueError) as error:
            problem = problem or f"{url} gave no metadata ({type(error).__name__})"
            continue
        return parse_metadata(found, issuer, name, deepest=transport.came_to)
    raise ProviderUnavailable(name, problem)


def _places(issuer: str) -> tuple[str, str]:
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    openid = f"{path}/.well-known/openid-configuration"
    oauth = f"/.well-known/oauth-authorization-server{path}"
    return urlunsplit(parts._replace(path=openid)), urlunsplit(parts._replace(path=oauth))


def parse_metadata(found: Any, issuer: str, name: str, *, deepest: Zone) -> Metadata:
    """Check the metadata of an issuer whose address is in this zone; raises `ProviderUnavailable`."""
    said: Mapping[str, Any] = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if said.get("issuer") != issuer:
        raise ProviderUnavailable(
            name, f"{issuer} says that it is {said.get('issuer')!r:.200}, so its word does not count"
        )
    places = {key: _place(said[key], name, deepest) for key in ENDPOINTS if said.get(key) is not None}
    if not {"authorization_endpoint", "token_endpoint"} <= places.keys():
        raise ProviderUnavailable(name, f"{issuer} does not say where its endpoints are")
    methods = said.get("token_endpoint_auth_methods_supported")
    return Metadata(
        issuer=issuer,
        names_itself=said.get("authorization_response_iss_parameter_supported") is True,
        auth_methods=tuple(map(str, cast("list[Any]", methods))) if isinstance(methods, list) else (),
        deepest=deepest,
        written=frozenset(),
        **places,
    )


def _place(url: Any, name: str, deepest: Zone) -> str:
    try:
        require_safe(str(url), f"Provider({name!r})")
    except OperatorError as error:
        raise ProviderUnavailable(name, str(error)) from error
    if _written_zone(Url(str(url)).host or "") > deepest:
        raise ProviderUnavailable(
            name,
            f"it names the endpoint {url!r:.200}, which is further inside than the issuer itself; if that is meant, "
            "write its endpoints into Provider(...)",
        )
    return str(url)


def _written_zone(host: str) -> Zone:
    """The zone of a literal address. A name is resolved and checked when a request goes there."""
    if is_loopback(host):
        return Zone.THIS_MACHINE
    try:
        return zone_of(host.strip("[]"))
    except ValueError:
        return Zone.PUBLIC
