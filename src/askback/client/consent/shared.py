"""The sites a person has consented to, in a store: for hosts that serve one person from several processes."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Final

from pydantic import TypeAdapter, ValidationError

from askback.client.consent.sites import MAX_DOMAINS, KnownSites
from askback.errors import StoreUnavailable
from askback.model.store import Store

logger = logging.getLogger(__name__)

OWNER: Final = "askback/sites/"
"""Begins the owner of every row; behind it stands a digest of the person's name and nothing that can be read back."""

LIFE: Final = timedelta(days=400)
"""For which a server's sites are remembered after the last new one: what comes once a year is still known."""

TRIES: Final = 10
"""How often a change is made anew that another process was ahead of; each of those has written one of its own."""

_DOMAINS: Final = TypeAdapter(list[str])


class SharedSites:
    """Registrable domains by server, as `KnownSites` has them in a file.

    A store that cannot be reached is said in the log and costs nothing but the memory of it: known sites count as new.
    """

    def __init__(
        self,
        store: Store,
        *,
        person: str = "",
        life: timedelta = LIFE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`person` names whose sites they are, where a store has those of several."""
        self._store, self._clock, self._life = store, clock, life.total_seconds()
        self._owner = OWNER + _digest(person)

    async def before(self, server: str) -> frozenset[str]:
        """The domains that this server was allowed to send the person to."""
        try:
            return frozenset(_read(await self._store.get(self._owner, _digest(server))))
        except StoreUnavailable as error:
            logger.warning("known sites count as new: %s", error)
            return frozenset()

    async def remember(self, server: str, domain: str) -> None:
        """The person has consented to a link there."""
        try:
            for _ in range(TRIES):
                if not domain or await self._is_added(_digest(server), domain):
                    return
            logger.warning("this site will count as new: others keep changing the list of them")
        except StoreUnavailable as error:
            logger.warning("this site will count as new: %s", error)

    async def _is_added(self, name: str, domain: str) -> bool:
        """False where another process was ahead of us."""
        former = await self._store.get(self._owner, name)
        domains = _read(former)
        if domain in domains:
            return True
        value, until = _DOMAINS.dump_json([*domains, domain][-MAX_DOMAINS:]), self._clock() + self._life
        if former is None:
            await self._store.put(self._owner, name, value, until=until)
            return True
        return await self._store.replace(self._owner, name, former, value, until=until)


Sites = KnownSites | SharedSites
"""What a host remembers consent in: a file of one person, or a store."""


async def sites_before(sites: Sites, server: str) -> frozenset[str]:
    return sites.before(server) if isinstance(sites, KnownSites) else await sites.before(server)


async def remember_site(sites: Sites, server: str, domain: str) -> None:
    if isinstance(sites, KnownSites):
        sites.remember(server, domain)
    else:
        await sites.remember(server, domain)


def _read(value: bytes | None) -> list[str]:
    try:
        return [] if value is None else _DOMAINS.validate_json(value, strict=True)
    except ValidationError:
        return []  # nothing of ours: it is written anew


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
