"""One provider of a server: sign-ins begun and finished, and for each caller a token that is good now."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import anyio

from askback.errors import ProviderUnavailable
from askback.model.store import Granted
from askback.oauth import exchange
from askback.oauth.exchange import AuthorizationRequest, TokenResponse
from askback.oauth.grants import Grant, expired_values, grant_values, is_from
from askback.oauth.metadata import Metadata, MetadataCache
from askback.oauth.outages import Outages
from askback.oauth.provider import Provider
from askback.runtime.secrets import Token
from askback.vault.vault import ProvisionalEntry, Vault, VaultEntry, VaultItem

logger = logging.getLogger("askback")

MAX_LOOKS = 5
"""At a token that others are refreshing; whoever looks in vain so often gives up."""

CLAIMED_FOR = 86_400.0
"""Seconds for which it is known that a token was refreshed: whoever read the old one has long gone."""


class MissingScopes(Exception):
    """The person, or the provider, did not grant all that was asked for."""

    def __init__(self, missing: Collection[str]) -> None:
        self.missing = tuple(missing)
        super().__init__(f"without {', '.join(self.missing)}")


class Connector:
    """Knows the provider and the vault; whose the tokens are is said with each call."""

    def __init__(
        self,
        provider: Provider,
        *,
        vault: Vault,
        clock: Callable[[], float],
        directory: MetadataCache | None = None,
    ) -> None:
        self.provider = provider
        self.item = VaultItem("connection", provider.name)
        self.vault, self.clock = vault, clock
        self.outages = Outages(provider.name, clock)
        self._directory = directory or MetadataCache()

    @property
    def title(self) -> str:
        return self.provider.called

    def for_owner(self, owner: str) -> "CallerConnection":
        """The same for one caller."""
        return CallerConnection(connector=self, owner=owner)

    async def metadata(self) -> Metadata:
        return await self._directory.of(self.provider)

    async def begin(self, *, redirect_uri: str, scopes: Sequence[str], state: str) -> AuthorizationRequest:
        """Where to send the person."""
        return exchange.begin(
            self.provider, await self.metadata(), redirect_uri=redirect_uri, scopes=scopes, state=state
        )

    async def finish(
        self, owner: str, *, code: str, verifier: str, redirect_uri: str, scopes: Sequence[str]
    ) -> ProvisionalEntry:
        """Redeem the code and keep its tokens for this owner.

        Raises `MissingScopes`, and keeps what was there, if not all requested scopes were granted."""
        granted = await exchange.redeem(
            self.provider,
            await self.metadata(),
            code=code,
            verifier=verifier,
            redirect_uri=redirect_uri,
            scopes=scopes,
        )
        missing = [scope for scope in scopes if scope not in granted.scopes]
        if missing:
            # Not given back: many providers would end with it what was granted before.
            raise MissingScopes(missing)
        return await self.vault.put_for_now(owner, self.item, self.written(granted))

    def written(self, granted: TokenResponse) -> Mapping[str, str]:
        return grant_values(granted, self.provider, self.clock())

    async def refresh(self, grant: Grant, refresh_token: str) -> TokenResponse | None:
        """New tokens; None where the old ones were revoked, or spent elsewhere: only the person can mend that."""
        metadata, scopes = await self.metadata(), sorted(grant.scopes)
        try:
            granted = await exchange.refresh(
                self.provider, metadata, refresh_token=refresh_token, scopes=scopes
            )
        except exchange.TokenRequestRejected as refused:
            if refused.code == "invalid_grant":
                return None
            raise ProviderUnavailable(
                self.provider.name, f"it refuses to refresh a token ({refused.code})"
            ) from None
        return granted._replace(refresh_token=granted.refresh_token or refresh_token)

    async def give_back(self, token: str) -> None:
        """At the provider; it is forgotten here in any case."""
        try:
            await exchange.revoke(self.provider, await self.metadata(), token=token)
        except ProviderUnavailable as error:
            logger.warning("%s The tokens are forgotten all the same.", error)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerConnection:
    """One caller's standing with one provider."""

    connector: Connector
    owner: str

    @property
    def title(self) -> str:
        return self.connector.title

    async def token(self, scopes: Collection[str]) -> Token | None:
        """Refreshed before it ends, by one of all who look at it, in whatever process."""
        for _ in range(MAX_LOOKS):
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
        await self.connector.metadata()  # nobody is sent to a provider that is not there
        kept = await self._kept()
        before = Grant.read(kept).scopes if kept is not None else frozenset[str]()
        return tuple(dict.fromkeys([*scopes, *sorted(before)]))

    async def disconnect(self) -> bool:
        """Forgotten even where the provider does not take them back."""
        kept = await self._kept()
        if kept is not None:
            await self._give_back(kept)
        return await self.connector.vault.forget(self.owner, self.connector.item)

    async def take_back(self, put: ProvisionalEntry) -> None:
        """A sign-in that came too late leaves nothing; what was there before it stays good."""
        kept = await self._kept()
        if kept is None or not await self.connector.vault.take_back(self.owner, self.connector.item, put):
            return
        if put.former is None:  # else a provider might end that too
            await self._give_back(kept)

    async def _give_back(self, kept: VaultEntry) -> None:
        grant = Grant.read(kept)
        await self.connector.give_back(grant.refresh_token or grant.access_token)

    async def _kept(self) -> VaultEntry | None:
        """What this very provider gave; what another gave under the same name is as good as nothing."""
        kept = await self.connector.vault.get(self.owner, self.connector.item)
        return kept if kept is not None and is_from(kept, self.connector.provider) else None

    def _handed_out(self, kept: VaultEntry, grant: Grant) -> Token:
        async def reject(reason: str) -> None:
            await self._distrust(kept)

        return Token(
            self.connector.provider.name,
            grant.access_token,
            scopes=grant.scopes,
            expires_at=grant.expires_at,
            reject=reject,
        )

    async def _distrust(self, kept: VaultEntry) -> None:
        """Refresh it next time, whatever it says of its end; where that cannot be, the person is asked."""
        vault, item = self.connector.vault, self.connector.item
        if "refresh_token" in kept.values:
            await vault.replace(self.owner, item, expired_values(kept), version=kept.version)
        else:
            await vault.forget(self.owner, item, version=kept.version)

    async def _refresh(self, kept: VaultEntry, grant: Grant) -> None:
        """Once for each version of the tokens: a refresh token that is used twice may end the whole connection."""
        connector, store = self.connector, self.connector.vault.store
        if grant.refresh_token is None:
            await connector.vault.forget(self.owner, connector.item, version=kept.version)
            return
        connector.outages.require_none(kept.version)
        until = connector.clock() + CLAIMED_FOR
        claim = await store.claim(f"refresh:{kept.version}", until=until)
        if not isinstance(claim, Granted):
            return
        # To the end, even if the call is cancelled: the provider may have taken the old token already.
        with anyio.CancelScope(shield=True):
            try:
                with connector.outages.record_failure(kept.version):
                    await self._renew(kept, grant, grant.refresh_token)
            except BaseException:
                await store.release(claim)
                raise
            await store.record(claim, b"")

    async def _renew(self, kept: VaultEntry, grant: Grant, refresh_token: str) -> None:
        connector, vault, item = self.connector, self.connector.vault, self.connector.item
        granted = await connector.refresh(grant, refresh_token)
        if granted is None:
            await vault.forget(self.owner, item, version=kept.version)
            return
        new = connector.written(granted)
        if not await vault.replace(self.owner, item, new, version=kept.version) and not await self._kept():
            # Disconnected meanwhile; what came too late for that goes the same way.
            await connector.give_back(granted.refresh_token or granted.access_token)
