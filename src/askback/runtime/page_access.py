"""What a call needs of its server's pages: whose they are, where they are, and what is kept behind them."""

from collections.abc import Collection
from typing import Protocol

from askback.model.secrets import Token
from askback.vault.vault import Vault


class Connection(Protocol):
    """One caller's standing with one provider."""

    @property
    def title(self) -> str:
        """What the provider is called on the page."""
        ...

    async def token(self, scopes: Collection[str]) -> Token | None:
        """A token that is good now for at least these scopes, refreshed if need be; None if a person must be asked."""
        ...

    async def wanted(self, scopes: Collection[str]) -> tuple[str, ...]:
        """The scopes to ask the person for: these, and what they agreed to before. Raises `ProviderUnavailable` where
        it would be in vain."""
        ...

    async def disconnect(self) -> bool:
        """Give the tokens back and forget them; whether there were any."""
        ...


class Premises(Protocol):
    """The pages as one caller may use them."""

    @property
    def owner(self) -> str: ...

    @property
    def vault(self) -> Vault: ...

    async def link(self, id: str) -> str:
        """Where the page of a visit is."""
        ...

    def connection(self, provider: str) -> Connection:
        """Raises `AuthorError` for a provider that the server was not given."""
        ...
