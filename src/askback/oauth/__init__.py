"""The server as a client of other authorization servers: sign-ins, tokens, refreshing, revoking."""

from askback.oauth.provider import Provider

__all__ = ["Provider"]
