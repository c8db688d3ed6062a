"""One provider of a server: sign-ins begun and finished, and for each caller a token that is good now."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from askback.errors import ProviderUnavailable
from askback.oauth import exchange
from askback.oauth.exchange import Begun, Granted
from askback.oauth.metadata import Directory, Metadata
from askback.oauth.provider import Provider
from askback.stores.protocol import Mine
from askback.vault.secret import Token
from askback.vault.vault import Item, Kept, Vault

logger = logging.getLogger("askback")

AHEAD = 60.0
"""Seconds before its end at which a token is refreshed: a body should not be left with one that dies in its hands."""

MOST_LOOKS = 5
"""At a token that others are refreshing; whoever looks in vain so often gives up."""

CLAIMED_FOR = 86_400.0
"""Seconds for which it is known that a token was refreshed: whoever read the old one has long gone."""

OVER = 0.0
"""A time at which nothing is good any more."""


class Connector:
    """Knows the provider and the vault; whose the tokens are is said with each call."""

    def __init__(
        self,
        provider: Provider,
        *,
        vault: Vault,
        clock: Callable[[], float],
        directory: Directory | None = None,
    ) -> None:
        self.provider = provider
        self.item = Item("connection", provider.name)
        self.vault, self.clock = vault, clock
        self._directory = directory or Directory()

    @property
    def title(self) -> str:
        return self.provider.called

    def of(self, owner: str) -> "Connected":
        """The same for one caller."""
        return Connected(connector=self, owner=owner)

    async def metadata(self) -> Metadata:
        return await self._directory.of(self.provider)

    async def begin(self, *, redirect_uri: str, scopes: Sequence[str], state: str) -> Begun:
        """Where to send the person."""
        return exchange.begin(
            self.provider, await self.metadata(), redirect_uri=redirect_uri, scopes=scopes, state=state
        )

    async def finish(
        self, owner: str, *, code: str, verifier: str, redirect_uri: str, scopes: Sequence[str]
    ) -> frozenset[str]:
        """Keep what the code is good for, for this owner; gives the scopes that were granted."""
        granted = await exchange.redeem(
            self.provider,
            await self.metadata(),
            code=code,
            verifier=verifier,
            redirect_uri=redirect_uri,
            scopes=scopes,
        )
        await self.keep(owner, granted)
        return frozenset(granted.scopes)

    async def keep(self, owner: str, granted: Granted) -> None:
        """In place of what was there."""
        await self.vault.put(owner, self.item, _written(granted, self.clock()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """One caller's standing with one provider."""

    connector: Connector
    owner: str

    @property
    def title(self) -> str:
        return self.connector.title

    async def token(self, scopes: Collection[str]) -> Token | None:
        """Refreshed before it ends, by one of all who look at it, in whatever process."""
        for _ in range(MOST_LOOKS):
            kept = await self._kept()
            if kept is None:
                return None
            grant = Grant.read(kept)
            if not grant.scopes >= set(scopes):
                return None
            if grant.is_good(self.connector.clock()):
                return self._handed_out(kept, grant)
            try:
                await self._refresh(kept, grant)
            except ProviderUnavailable:
                if grant.is_over(self.connector.clock()):
                    raise
                return self._handed_out(kept, grant)
        raise ProviderUnavailable(
            self.connector.provider.name, "its tokens are no sooner refreshed than over"
        )

    async def wanted(self, scopes: Collection[str]) -> tuple[str, ...]:
        """Also what they agreed to before, so that nothing is taken away by asking for more."""
        kept = await self._kept()
        before = Grant.read(kept).scopes if kept is not None else frozenset[str]()
        return tuple(dict.fromkeys([*scopes, *sorted(before)]))

    async def disconnect(self) -> bool:
        """Forgotten even where the provider does not take them back."""
        kept = await self._kept()
        if kept is None:
            return False
        grant, connector = Grant.read(kept), self.connector
        try:
            await exchange.revoke(
                connector.provider,
                await connector.metadata(),
                token=grant.refresh_token or grant.access_token,
            )
        except ProviderUnavailable as error:
            logger.warning("%s The tokens are forgotten all the same.", error)
        return await connector.vault.forget(self.owner, connector.item)

    async def _kept(self) -> Kept | None:
        return await self.connector.vault.get(self.owner, self.connector.item)

    def _handed_out(self, kept: Kept, grant: "Grant") -> Token:
        async def reject(reason: str) -> None:
            await self._distrust(kept)

        return Token(
            self.connector.provider.name,
            grant.access_token,
            scopes=grant.scopes,
            expires_at=grant.expires_at,
            reject=reject,
        )

    async def _distrust(self, kept: Kept) -> None:
        """Refresh it next time, whatever it says of its end; if that fails, the person is asked."""
        now = await self._kept()
        if now is None or now.version != kept.version:
            return
        connector = self.connector
        if "refresh_token" not in kept.values:
            await connector.vault.forget(self.owner, connector.item, version=kept.version)
        else:
            await connector.vault.put(self.owner, connector.item, {**kept.values, "expires_at": str(OVER)})

    async def _refresh(self, kept: Kept, grant: "Grant") -> None:
        """Once for each version of the tokens: a refresh token that is used twice may end the whole connection."""
        connector = self.connector
        if grant.refresh_token is None:
            await connector.vault.forget(self.owner, connector.item, version=kept.version)
            return
        until = connector.clock() + CLAIMED_FOR
        claim = await connector.vault.store.claim(f"refresh:{kept.version}", until=until)
        if not isinstance(claim, Mine):
            return
        try:
            await self._refresh_now(kept, grant, grant.refresh_token)
        except BaseException:
            await connector.vault.store.release(claim)
            raise
        await connector.vault.store.record(claim, b"")

    async def _refresh_now(self, kept: Kept, grant: "Grant", refresh_token: str) -> None:
        connector = self.connector
        try:
            granted = await exchange.refresh(
                connector.provider,
                await connector.metadata(),
                refresh_token=refresh_token,
                scopes=sorted(grant.scopes),
            )
        except exchange.Refused as refused:
            if refused.code != "invalid_grant":
                raise ProviderUnavailable(
                    connector.provider.name, f"it refuses to refresh a token ({refused.code:.50})"
                ) from None
            # Revoked, or spent elsewhere: only the person can mend that.
            await connector.vault.forget(self.owner, connector.item, version=kept.version)
            return
        await connector.keep(
            self.owner, granted._replace(refresh_token=granted.refresh_token or refresh_token)
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Grant:
    """Tokens as they are kept."""

    access_token: str
    refresh_token: str | None
    expires_at: float | None
    granted_at: float
    scopes: frozenset[str]

    @classmethod
    def read(cls, kept: Kept) -> "Grant":
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


def _written(granted: Granted, now: float) -> Mapping[str, str]:
    values = {"access_token": granted.access_token, "scopes": " ".join(granted.scopes)}
    if granted.refresh_token is not None:
        values["refresh_token"] = granted.refresh_token
    if granted.lasts is not None:
        values["expires_at"] = repr(now + granted.lasts)
    return values
