"""An external authorization server, as the operator describes it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import Url

from askback.errors import OperatorError
from askback.schema.links import is_loopback

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service that people can be connected with.

    Give its issuer, whose metadata names the endpoints, or the endpoints themselves.

    Args:
        name: what `connect(name, ...)` calls it, and the end of its callback: /askback/callback/NAME.
        client_id: how this server is registered there.
        client_secret: for confidential clients; PKCE is used either way.
        auth_method: how the secret is sent, if the metadata does not say it, or if this client has to do otherwise.
        issuer: the issuer identifier, exactly as the provider writes it.
        authorization_endpoint: with `token_endpoint`, for a provider without discovery.
        token_endpoint: where codes are exchanged.
        revocation_endpoint: where tokens are revoked, if there is one.
        title: what the pages call it.
        extra: further parameters that this provider needs, such as {"access_type": "offline"}; None removes a parameter
            that would be sent.
    """

    name: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    issuer: str | None = None
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    revocation_endpoint: str | None = None
    auth_method: Literal["client_secret_basic", "client_secret_post"] | None = None
    title: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise OperatorError(
                f"Provider(name={self.name!r}) goes into a URL: use up to 50 small letters, digits and dashes."
            )
        if self.issuer is None and not (self.authorization_endpoint and self.token_endpoint):
            raise OperatorError(
                f"Provider({self.name!r}) does not say where it is: give issuer=, or both authorization_endpoint= and "
                "token_endpoint=."
            )
        for url in (self.issuer, self.authorization_endpoint, self.token_endpoint, self.revocation_endpoint):
            if url is not None:
                require_safe(url, f"Provider({self.name!r})")

    @property
    def identity(self) -> str:
        """Stored with tokens, so that tokens of one provider are never sent to another of the same name."""
        return json.dumps([self.issuer, self.token_endpoint, self.client_id])


def require_safe(url: str, what: str) -> None:
    """Refuse an address to which codes and tokens cannot be sent: only https, or this machine."""
    try:
        parsed = Url(url)
    except (ValidationError, ValueError, TypeError) as error:
        raise OperatorError(
            f"{what}: {url!r:.200} is no URL. Give a complete one: https://login.example."
        ) from error
    is_here = parsed.scheme == "http" and is_loopback(parsed.host or "")
    if not (parsed.scheme == "https" or is_here) or not parsed.host or parsed.username or parsed.fragment:
        raise OperatorError(
            f"{what}: {url!r:.200} cannot be trusted with codes and tokens. Use https, without a name or a fragment; "
            "plain http is for this machine alone."
        )
