"""One provider of a server: it begins and finishes sign-ins, and has a valid token for each caller who is connected."""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Self

import anyio

from askback.errors import ProviderUnavailable
from askback.model.store import Granted
from askback.oauth import exchange
from askback.oauth.exchange import AuthorizationRequest, TokenResponse
from askback.oauth.metadata import Metadata, MetadataCache
from askback.oauth.provider import Provider
from askback.runtime.secrets import Token
from askback.vault.vault import ProvisionalEntry, Vault, VaultEntry, VaultItem

logger = logging.getLogger("askback")

MAX_LOOKS = 5
"""How often a token is read again while others refresh it."""

CLAIMED_FOR = 86_400.0
"""Seconds for which it is known that a token was refreshed: no call holds the old one for so long."""

RETRY_AFTER = 10.0
"""Seconds for which a refresh that failed is not tried again, as long as one try may take. Calls in a row would each
wait for it in vain."""


AHEAD = 60.0
"""Seconds before its end at which a token is refreshed, so that it does not expire while a body uses it."""


class MissingScopes(Exception):
    """The person, or the provider, did not grant all scopes that were asked for."""

    def __init__(self, missing: Collection[str]) -> None:
        self.missing = tuple(missing)
        super().__init__(f"without {', '.join(self.missing)}")


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


class Connector:
    """Knows the provider and the vault. `for_owner` adds the caller."""

    def __init__(self, provider: Provider, *, vault: Vault, clock: Callable[[], float]) -> None:
        self.provider = provider
        self.item = VaultItem("connection", provider.name)
        self.vault, self.clock = vault, clock
        self._cache = MetadataCache()
        self._failures: dict[str, tuple[float, str]] = {}

    @property
    def title(self) -> str:
        return self.provider.title or self.provider.name

    def for_owner(self, owner: str) -> "CallerConnection":
        """The connection of one caller."""
        return CallerConnection(connector=self, owner=owner)

    async def metadata(self) -> Metadata:
        return await self._cache.of(self.provider)

    async def begin(self, *, redirect_uri: str, scopes: Sequence[str], state: str) -> AuthorizationRequest:
        """Where to send the person."""
        return exchange.begin(
            self.provider, await self.metadata(), redirect_uri=redirect_uri, scopes=scopes, state=state
        )

    async def finish(
        self, owner: str, *, code: str, verifier: str, redirect_uri: str, scopes: Sequence[str]
    ) -> ProvisionalEntry:
        """Redeem the code and store its tokens for this owner.

        Raises `MissingScopes`, and changes nothing, if not all requested scopes were granted."""
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
            # The tokens are not given back: many providers would then end older grants of this person too.
            raise MissingScopes(missing)
        return await self.vault.put_for_now(owner, self.item, self.written(granted))

    def written(self, granted: TokenResponse) -> dict[str, str]:
        return grant_values(granted, self.provider, self.clock())

    async def refresh(self, grant: Grant, refresh_token: str, version: str) -> TokenResponse | None:
        """New tokens. None if the old ones were revoked or used elsewhere: then the person has to sign in again."""
        self.require_no_failure(version)
        try:
            granted = await exchange.refresh(
                self.provider,
                await self.metadata(),
                refresh_token=refresh_token,
                scopes=sorted(grant.scopes),
            )
        except exchange.TokenRequestRejected as refused:
            if refused.code == "invalid_grant":
                return None
            problem = f"it refuses to refresh a token ({refused.code})"
            raise self._failed(version, ProviderUnavailable(self.provider.name, problem)) from None
        except ProviderUnavailable as error:
            raise self._failed(version, error) from None
        return granted._replace(refresh_token=granted.refresh_token or refresh_token)

    def require_no_failure(self, version: str) -> None:
        """Raise again what was raised a short while ago for this version of the tokens."""
        until, problem = self._failures.get(version, (0.0, ""))
        if until > self.clock():
            raise ProviderUnavailable(self.provider.name, problem)

    def _failed(self, version: str, error: ProviderUnavailable) -> ProviderUnavailable:
        logger.warning("a token was not refreshed: %s", error)
        now = self.clock()
        self._failures = {key: row for key, row in self._failures.items() if row[0] > now}
        self._failures[version] = now + RETRY_AFTER, error.problem
        return error

    async def give_back(self, token: str) -> None:
        """Revoke a token at the provider. If that fails, the tokens are deleted here all the same."""
        try:
            await exchange.revoke(self.provider, await self.metadata(), token=token)
        except ProviderUnavailable as error:
            logger.warning("%s The tokens are forgotten all the same.", error)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerConnection:
    """The connection of one caller with one provider."""

    connector: Connector
    owner: str

    @property
    def title(self) -> str:
        return self.connector.title

    async def token(self, scopes: Collection[str]) -> Token | None:
        """A token for at least these scopes; None if the person has to sign in. It is refreshed before it expires, by
        one of all calls that need it, in whatever process."""
        for _ in range(MAX_LOOKS):
            entry = await self._stored()
            if entry is None:
                return None
            grant = Grant.read(entry)
            if not grant.scopes >= set(scopes):
                return None
            if grant.is_good(self.connector.clock()):
                return self._token(entry, grant)
            try:
                await self._refresh(entry, grant)
            except ProviderUnavailable:
                if grant.is_over(self.connector.clock()):
                    raise
                return self._token(entry, grant)
        raise ProviderUnavailable(
            self.connector.provider.name, "its tokens expire as soon as they are refreshed"
        )

    async def wanted(self, scopes: Collection[str]) -> tuple[str, ...]:
        """These scopes and those that were granted before, so that asking for more takes nothing away. Raises
        `ProviderUnavailable` if nobody can sign in now."""
        await self.connector.metadata()
        entry = await self._stored()
        before = Grant.read(entry).scopes if entry is not None else frozenset[str]()
        return tuple(dict.fromkeys([*scopes, *sorted(before)]))

    async def disconnect(self) -> bool:
        """Delete the tokens, even if the provider does not take them back; whether there were any."""
        entry = await self._stored()
        if entry is not None:
            await self._give_back(entry)
        return await self.connector.vault.forget(self.owner, self.connector.item)

    async def take_back(self, put: ProvisionalEntry) -> None:
        """Undo a sign-in that came too late. What was stored before it is restored."""
        entry = await self._stored()
        if entry is None or not await self.connector.vault.take_back(self.owner, self.connector.item, put):
            return
        if put.former is None:  # else the provider might end the former grant too
            await self._give_back(entry)

    async def _give_back(self, entry: VaultEntry) -> None:
        grant = Grant.read(entry)
        await self.connector.give_back(grant.refresh_token or grant.access_token)

    async def _stored(self) -> VaultEntry | None:
        """The tokens of this very provider. Those that another one gave under the same name are never sent to it."""
        entry = await self.connector.vault.get(self.owner, self.connector.item)
        is_ours = entry is not None and entry.values.get("provider") == self.connector.provider.identity
        return entry if is_ours else None

    def _token(self, entry: VaultEntry, grant: Grant) -> Token:
        async def reject(reason: str) -> None:
            """Refresh the token next time, or ask the person if it cannot be refreshed."""
            vault, item = self.connector.vault, self.connector.item
            if "refresh_token" in entry.values:
                await vault.replace(
                    self.owner, item, {**entry.values, "expires_at": "0.0"}, version=entry.version
                )
            else:
                await vault.forget(self.owner, item, version=entry.version)

        return Token(
            self.connector.provider.name,
            grant.access_token,
            scopes=grant.scopes,
            expires_at=grant.expires_at,
            reject=reject,
        )

    async def _refresh(self, entry: VaultEntry, grant: Grant) -> None:
        """Once for each version of the tokens: if a refresh token is used twice, the provider may end the grant."""
        connector, store = self.connector, self.connector.vault.store
        if grant.refresh_token is None:
            await connector.vault.forget(self.owner, connector.item, version=entry.version)
            return
        connector.require_no_failure(entry.version)
        until = connector.clock() + CLAIMED_FOR
        claim = await store.claim(f"refresh:{entry.version}", until=until)
        if not isinstance(claim, Granted):
            return
        # To the end, even if the call is cancelled: the provider may have invalidated the old token already.
        with anyio.CancelScope(shield=True):
            try:
                await self._renew(entry, grant, grant.refresh_token)
            except BaseException:
                await store.release(claim)
                raise
            await store.record(claim, b"")

    async def _renew(self, entry: VaultEntry, grant: Grant, refresh_token: str) -> None:
        connector, vault, item = self.connector, self.connector.vault, self.connector.item
        granted = await connector.refresh(grant, refresh_token, entry.version)
        if granted is None:
            await vault.forget(self.owner, item, version=entry.version)
            return
        new = connector.written(granted)
        is_stored = await vault.replace(self.owner, item, new, version=entry.version)
        if not is_stored and not await self._stored():
            # The caller has disconnected meanwhile, so the new tokens are given back as well.
            await connector.give_back(granted.refresh_token or granted.access_token)


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
