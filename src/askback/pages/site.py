"""What the pages of one address work with."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from askback.errors import VisitUnknown
from askback.model.events import PageAudit
from askback.model.store import Store
from askback.model.visit import Ending, StoredVisit, VisitAborted, VisitDeclined, VisitSettled
from askback.pages.settings import ROOT, Brand
from askback.runtime.visits import VisitStore, digest_of
from askback.vault.vault import Vault

if TYPE_CHECKING:
    from askback.oauth.connector import Connector


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The same pages at two addresses, from outside and on this machine, are two of these."""

    server: str
    base: str
    """The address of all pages, such as https://tools.example/askback."""
    brand: Brand
    visits: VisitStore
    end: Callable[[str, Ending], Awaitable[Ending]]
    vault: Vault
    store: Store
    connectors: "Mapping[str, Connector]"
    key: bytes
    clock: Callable[[], float]
    gatekeeper: Callable[[], PageAudit | None] = lambda: None
    """Who is told what happens here, if anybody is."""

    async def find(self, id: str) -> StoredVisit | None:
        """The visit whose page is here; None where there never was one, its time is over, or it leads elsewhere."""
        found = await self.visits.find(id)
        is_here = found is not None and found.kind != "elsewhere" and found.server == self.server
        return found if is_here else None

    async def tell_shown(self, visiting: StoredVisit) -> None:
        """Its page is before the one it is for."""
        if (gatekeeper := self.gatekeeper()) is not None:
            await gatekeeper.record_page_opened(visiting)

    async def tell_turned_away(self, visiting: StoredVisit, owner: str) -> None:
        """Somebody else was there."""
        if (gatekeeper := self.gatekeeper()) is not None:
            await gatekeeper.record_page_refused(visiting, owner=owner)

    async def settle(self, visiting: StoredVisit) -> bool:
        """What it was to bring is there: it is done, and so is whatever else waits for the same. Whether it was."""
        stands = await self.end(digest_of(visiting.id), VisitSettled())
        for name in await self.visits.alike(visiting) if stands == VisitSettled() else ():
            with suppress(VisitUnknown):  # its time was over just now
                await self.end(name, VisitSettled())
            await self.visits.forget_alike(visiting, name)  # not before: what fails here is done by the next
        return stands == VisitSettled()

    async def turn_down(self, visiting: StoredVisit, ending: VisitDeclined | VisitAborted) -> None:
        """It brings nothing; others that wait for the same go on waiting."""
        await self.end(digest_of(visiting.id), ending)

    @property
    def registered(self) -> str:
        """The address that providers know: without what one launch puts after it."""
        return self.base[: self.base.rindex(ROOT) + len(ROOT)]

    @property
    def origin(self) -> str:
        """As a browser writes it."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_secure(self) -> bool:
        return self.base.startswith("https:")
