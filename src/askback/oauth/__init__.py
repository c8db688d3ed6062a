"""The server as a client of somebody else's authorization server: sign-ins, tokens, refreshing, giving back."""

from askback.oauth.provider import Provider

__all__ = ["Provider"]
