"""What the pages of one address work with."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from askback.pages.settings import Brand
from askback.stores.protocol import Store
from askback.vault.vault import Vault
from askback.visits import Ending, Visits

if TYPE_CHECKING:
    from askback.oauth.connector import Connector


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The same pages at two addresses, from outside and on this machine, are two of these."""

    server: str
    base: str
    """The address of all pages, such as https://tools.example/askback."""
    brand: Brand
    visits: Visits
    end: Callable[[str, Ending], Awaitable[Ending]]
    vault: Vault
    store: Store
    connectors: "Mapping[str, Connector]"
    key: bytes
    clock: Callable[[], float]

    @property
    def origin(self) -> str:
        """As a browser writes it."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_secure(self) -> bool:
        return self.base.startswith("https:")
