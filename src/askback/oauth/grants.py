"""Tokens as the vault stores them: for which scopes, and until when."""

from dataclasses import dataclass
from typing import Self

from askback.oauth.exchange import TokenResponse
from askback.oauth.provider import Provider
from askback.vault.vault import VaultEntry

AHEAD = 60.0
"""Seconds before its end at which a token is refreshed, so that it does not expire while a body uses it."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Grant:
    """The tokens of one owner. It has no `repr`, because it holds them."""

    access_token: str
    refresh_token: str | None
    expires_at: float | None
    granted_at: float
    scopes: frozenset[str]

    @classmethod
    def read(cls, entry: VaultEntry) -> Self:
        values = entry.values
        return cls(
            access_token=values["access_token"],
            refresh_token=values.get("refresh_token"),
            expires_at=float(values["expires_at"]) if "expires_at" in values else None,
            granted_at=entry.put_at,
            scopes=frozenset(values["scopes"].split()),
        )

    def is_over(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_good(self, now: float) -> bool:
        """Whether it is valid now and for a while after, or for a quarter of its life if that is short."""
        if self.expires_at is None:
            return True
        return now < self.expires_at - min(AHEAD, max(self.expires_at - self.granted_at, 0.0) / 4)


def grant_values(granted: TokenResponse, provider: Provider, now: float) -> dict[str, str]:
    """What the vault is to store of an answer."""
    values = {
        "provider": provider.identity,
        "access_token": granted.access_token,
        "scopes": " ".join(granted.scopes),
    }
    if granted.refresh_token is not None:
        values["refresh_token"] = granted.refresh_token
    if granted.lasts is not None:
        values["expires_at"] = repr(now + granted.lasts)
    return values


def expired_values(entry: VaultEntry) -> dict[str, str]:
    """What the vault stores, with an end in the past."""
    return {**entry.values, "expires_at": repr(0.0)}
