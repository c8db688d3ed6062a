"""What the pages of one address have to work with: stores, the vault, providers, keys and the clock."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from askback.errors import VisitUnknown
from askback.model.store import Store
from askback.model.visit import Ending, StoredVisit, VisitSettled
from askback.pages.settings import ROOT, Brand
from askback.runtime.visits import VisitStore, digest_of
from askback.server.audit import Audit
from askback.vault.vault import Vault

if TYPE_CHECKING:
    from askback.oauth.connector import Connector


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One address of the pages. A server has up to two: one for visitors from outside, one on this machine."""

    server: str
    base: str
    """The address below which all pages are, such as https://tools.example/askback."""
    brand: Brand
    visits: VisitStore
    end: Callable[[str, Ending], Awaitable[Ending]]
    vault: Vault
    store: Store
    connectors: "Mapping[str, Connector]"
    key: bytes
    clock: Callable[[], float]
    audit: Callable[[], Audit | None] = lambda: None
    """The audit to which visits of pages are reported, if there is one."""

    async def find(self, id: str) -> StoredVisit | None:
        """The visit whose page is here. None if there never was one, if it has expired, or if its page is elsewhere."""
        found = await self.visits.find(id)
        is_here = found is not None and found.kind != "elsewhere" and found.server == self.server
        return found if is_here else None

    async def settle(self, visit: StoredVisit) -> bool:
        """End a visit as done, and with it all others of this owner for the same thing. False if another end came
        first, or if the visit expired just now."""
        try:
            if await self.end(digest_of(visit.id), VisitSettled()) != VisitSettled():
                return False
        except VisitUnknown:
            return False
        for name in await self.visits.alike(visit):
            with suppress(VisitUnknown):
                await self.end(name, VisitSettled())
            await self.visits.forget_alike(visit, name)  # only now: what fails here is done by the next one
        return True

    async def decline(self, visit: StoredVisit, ending: Ending) -> None:
        """End a visit without a result. Others for the same thing go on waiting."""
        with suppress(VisitUnknown):  # it expired just now
            await self.end(digest_of(visit.id), ending)

    @property
    def registered(self) -> str:
        """The address that providers know: without the path of one launch."""
        return self.base[: self.base.rindex(ROOT) + len(ROOT)]

    @property
    def origin(self) -> str:
        """Scheme and host, as a browser writes them."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_secure(self) -> bool:
        return self.base.startswith("https:")
