"""The sites a person has consented to, by server: what makes a new one stand out. In a file, or in a store."""

import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from askback.errors import StoreUnavailable
from askback.model.store import Store

if sys.platform != "win32":
    import fcntl

logger = logging.getLogger(__name__)

MAX_SERVERS: Final = 500
MAX_DOMAINS: Final = 50
"""Per server, and MAX_SERVERS in all: a person's habits fit, and a server cannot fill a disk. The oldest go first."""
MAX_FILE_BYTES: Final = 2_000_000
"""Bytes; a file of ours cannot be larger, so one that is was not written by us."""

MAX_LOCK_TRIES, LOCK_PAUSE_SECONDS = 200, 0.01
"""How often and after how many seconds a held lock is tried again; holding it takes a millisecond."""

DomainsByServer = dict[str, list[str]]


class _File(TypedDict):
    sites: DomainsByServer


_FILE: Final = TypeAdapter(_File)


class KnownSites:
    """Registrable domains by server, in a file for its owner's eyes alone or, without one, in memory.

    A driver names its server by a digest of the command or address, and where it has neither by the label.

    Several programs may share the file: each change is made under a lock to what the file says then, and replaces it
    whole. A file that cannot be read or written is said in the log and costs nothing but the memory of it.
    """

    def __init__(self, path: Path | None = None) -> None:
        # Behind a link that the person has made, so that it is the file that is replaced and not their link.
        self._path = None if path is None else Path(os.path.realpath(path))
        self._sites: DomainsByServer = {}

    def before(self, server: str) -> frozenset[str]:
        """The domains that this server was allowed to send the person to."""
        return frozenset(self._read().get(server, ()))

    def remember(self, server: str, domain: str) -> None:
        """The person has consented to a link there."""
        if not domain or domain in self.before(server):
            return
        with self._locked():
            sites = self._read()
            # The newest last: the oldest domains and servers go first.
            domains = [*sites.pop(server, ()), domain][-MAX_DOMAINS:]
            self._sites = dict(list({**sites, server: domains}.items())[-MAX_SERVERS:])
            self._write()

    def _read(self) -> DomainsByServer:
        if self._path is None:
            return self._sites
        try:
            text = self._path.read_bytes()
            if len(text) > MAX_FILE_BYTES:
                raise ValueError("too large")
            self._sites = _FILE.validate_json(text, strict=True)["sites"]
        except FileNotFoundError:
            self._sites = {}
        except OSError as error:
            logger.warning("%s cannot be read, so known sites count as new: %s", self._path, error)
        except ValueError:
            self._sites = {}
            aside = self._path.with_suffix(".broken")
            logger.warning(
                "%s is no list of sites. It is kept as %s, and a new one is begun.", self._path, aside.name
            )
            try:
                os.replace(self._path, aside)
            except OSError as error:
                logger.warning("%s cannot be moved: %s", self._path, error)
        return self._sites

    def _write(self) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._path, json.dumps({"sites": self._sites}, indent=1))
        except OSError as error:
            logger.warning("%s cannot be written, so this site will count as new: %s", self._path, error)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Alone among the programs that use this file, where the system has such locks; without one the last wins."""
        if self._path is None or sys.platform == "win32":
            yield
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            yield
            return
        try:
            # Bounded: a program that was stopped while it held the lock must not stop this one.
            for _ in range(MAX_LOCK_TRIES):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(LOCK_PAUSE_SECONDS)
            else:
                logger.warning(
                    "Another program holds the lock of known sites; they are written all the same."
                )
            yield
        finally:
            os.close(lock)


def replace_file(path: Path, text: str) -> None:
    """In one step, by a file that is made for its owner alone."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        try:
            file.write(text)
            file.close()
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise


def path_of_user(environment: Mapping[str, str] = os.environ) -> Path:
    """Where this user's known sites are kept, as the system has it for what programs remember."""
    if sys.platform == "win32":
        name, usual = "LOCALAPPDATA", ("AppData", "Local")
    else:
        name, usual = "XDG_STATE_HOME", (".local", "state")
    state = environment.get(name, "")
    # A relative one is ignored, as the XDG specification says: it would lie in a folder that somebody else wrote.
    return (Path(state) if os.path.isabs(state) else Path.home().joinpath(*usual)) / "askback" / "sites.json"


OWNER: Final = "askback/sites/"
"""Begins the owner of every row; behind it stands a digest of the person's name and nothing that can be read back."""

SITES_LIFE: Final = timedelta(days=400)
"""For which a server's sites are remembered after the last new one: what comes once a year is still known."""

MAX_REPLACE_TRIES: Final = 10
"""How often a change is tried again after another process was quicker; each time that one has written its own."""

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
        life: timedelta = SITES_LIFE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`person` names whose sites they are, where a store has those of several."""
        self._store, self._clock, self._life = store, clock, life.total_seconds()
        self._owner = OWNER + _digest(person)

    async def before(self, server: str) -> frozenset[str]:
        """The domains that this server was allowed to send the person to."""
        try:
            return frozenset(_read_domains(await self._store.get(self._owner, _digest(server))))
        except StoreUnavailable as error:
            logger.warning("known sites count as new: %s", error)
            return frozenset()

    async def remember(self, server: str, domain: str) -> None:
        """The person has consented to a link there."""
        try:
            for _ in range(MAX_REPLACE_TRIES):
                if not domain or await self._is_added(_digest(server), domain):
                    return
            logger.warning("this site will count as new: others keep changing the list of them")
        except StoreUnavailable as error:
            logger.warning("this site will count as new: %s", error)

    async def _is_added(self, name: str, domain: str) -> bool:
        """False where another process was ahead of us."""
        former = await self._store.get(self._owner, name)
        domains = _read_domains(former)
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


def _read_domains(value: bytes | None) -> list[str]:
    try:
        return [] if value is None else _DOMAINS.validate_json(value, strict=True)
    except ValidationError:
        return []  # not ours: it is replaced


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
