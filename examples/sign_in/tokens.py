"""The access tokens that callers of the MCP server bring: JWTs of one issuer, made for this server and no other."""

from typing import Any

import jwt
from anyio import to_thread
from mcp.server.auth.provider import AccessToken

CLAIMS = ["iss", "sub", "aud", "exp", "client_id"]
"""Without these a token does not say enough."""


class Tokens:
    """Looks at signature, issuer, audience and time."""

    def __init__(self, *, issuer: str, jwks: str, resource: str) -> None:
        self.issuer, self.resource = issuer, resource
        self._keys = jwt.PyJWKClient(jwks)

    async def verify_token(self, token: str) -> AccessToken | None:
        """What the token says, or None if it is not to be believed."""
        try:
            claims = await to_thread.run_sync(self._decode, token)
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=str(claims.get("scope", "")).split(),
            expires_at=int(claims["exp"]),
            resource=self.resource,
            subject=claims["sub"],
            claims=claims,
        )

    def _decode(self, token: str) -> dict[str, Any]:
        """In a thread, for it may fetch the issuer's keys."""
        return jwt.decode(
            token,
            self._keys.get_signing_key_from_jwt(token),
            algorithms=["RS256", "ES256"],
            issuer=self.issuer,
            audience=self.resource,
            options={"require": CLAIMS},
        )
