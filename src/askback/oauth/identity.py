"""Checks an ID token: signature, issuer, audience, time and nonce. Only then its claims are used."""

from collections.abc import Mapping
from typing import Any, cast

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from askback.errors import ProviderUnavailable
from askback.oauth.metadata import Metadata
from askback.oauth.transport import BoundedTransport, fetch_json

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Signatures with a private key of the issuer: not `none`, and none that a client secret could make."""

LEEWAY = 60
"""Seconds by which two clocks may differ."""


class InvalidIdToken(Exception):
    """An ID token that is not valid."""


async def verify_id_token(
    id_token: str, metadata: Metadata, *, client_id: str, nonce: str, now: float
) -> Mapping[str, Any]:
    """The claims, or `InvalidIdToken`."""
    keys = await _keys(metadata)
    rules = jwt.JWTClaimsRegistry(
        now=int(now),
        leeway=LEEWAY,
        iss={"essential": True, "value": metadata.issuer or ""},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        claims: Any = jwt.decode(id_token, keys, algorithms=ALGORITHMS).claims
        if not isinstance(claims, dict):
            raise InvalidIdToken("claims that are no object")
        found = cast("dict[str, Any]", claims)
        rules.validate(found)
    except (JoseError, ValueError, RecursionError) as error:
        raise InvalidIdToken(type(error).__name__) from None
    # If it has several audiences, `azp` must name this client.
    made_out_to = found.get("azp", client_id if found["aud"] in (client_id, [client_id]) else None)
    if made_out_to != client_id:
        raise InvalidIdToken("made out to another party")
    return found


async def _keys(metadata: Metadata) -> KeySet:
    if metadata.jwks_uri is None:
        raise ProviderUnavailable(metadata.issuer or "", "it does not say where its keys are")
    try:
        given = await fetch_json(metadata.jwks_uri, BoundedTransport(metadata.deepest))
        return KeySet([key for one in given["keys"] if (key := _key(one)) is not None])
    except (httpx2.HTTPError, JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProviderUnavailable(
            metadata.issuer or "", f"its keys cannot be read ({type(error).__name__})"
        ) from None


def _key(given: Any) -> Key | None:
    """None for a kind of key that is not known here; the others are still used."""
    return JWKRegistry.import_key(given) if given["kty"] in JWKRegistry.key_types else None
