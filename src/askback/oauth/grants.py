"""Tokens as they are kept: until when they are good, and for what."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from askback.oauth.exchange import TokenResponse
from askback.oauth.provider import Provider
from askback.vault.vault import VaultEntry

AHEAD = 60.0
"""Seconds before its end at which a token is refreshed: a body should not be left with one that dies in its hands."""

OVER = 0.0
"""A time at which nothing is good any more."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Grant:
    """Without a `repr`: it holds the tokens."""

    access_token: str
    refresh_token: str | None
    expires_at: float | None
    granted_at: float
    scopes: frozenset[str]

    @classmethod
    def read(cls, kept: VaultEntry) -> Self:
        values = kept.values
        return cls(
            access_token=values["access_token"],
            refresh_token=values.get("refresh_token"),
            expires_at=float(values["expires_at"]) if "expires_at" in values else None,
            granted_at=kept.put_at,
            scopes=frozenset(values["scopes"].split()),
        )

    def is_over(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_good(self, now: float) -> bool:
        """Also for a while after now, where it lasts long enough for that."""
        if self.expires_at is None:
            return True
        ahead = min(AHEAD, max(self.expires_at - self.granted_at, 0.0) / 4)
        return now < self.expires_at - ahead


def is_from(kept: VaultEntry, provider: Provider) -> bool:
    """Whether it was got from this very provider: what another gave is shown to nobody but that one."""
    return kept.values.get("provider") == provider.identity


def grant_values(granted: TokenResponse, provider: Provider, now: float) -> Mapping[str, str]:
    """What is to be kept of it."""
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


def expired_values(kept: VaultEntry) -> Mapping[str, str]:
    """The same, as if its time were over."""
    return {**kept.values, "expires_at": repr(OVER)}
