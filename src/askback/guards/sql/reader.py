"""`read`: statements read against a catalogue, each once.

What is short and shallow is read at once. The rest is read by a worker process, within limits of time and memory.
"""

import hashlib
from collections.abc import Mapping
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple, get_args

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from askback.errors import AuthorError
from askback.guards.sql.catalogue import digest_of
from askback.guards.sql.index import CatalogueIndex
from askback.guards.sql.names import Dialect
from askback.guards.sql.pool import BUSY, MAX_WORKERS, POOL, WorkerFailed
from askback.guards.sql.readings import SQLReading, reading_of
from askback.guards.sql.statements import StatementReader
from askback.guards.sql.text import UnreadableStatement
from askback.guards.sql.tokens import depth_of, tokenize

MAX_READINGS = 512
"""For each catalogue. An agent repeats itself within an hour, not within a year."""

MAX_CATALOGUES = 16
"""Databases that one server guards, and a few versions of each."""

TRIVIAL_LENGTH, TRIVIAL_TOKENS, TRIVIAL_DEPTH, TRIVIAL_DOUBLING = 300, 100, 5, 1
"""Characters, tokens, and levels of nesting, up to which a statement takes less than 5 ms to read."""

TRIVIAL_VIEWS, TRIVIAL_TABLES = 2_000, 200
"""Characters of all views, and number of tables, up to which the same holds for a catalogue."""

LOOP_TIMEOUT = 6.0
"""Seconds in which an event loop gets an answer, if only that there is none."""

NONE: Mapping[str, str] = MappingProxyType({})


class CatalogueInput(NamedTuple):
    """A catalogue as the caller gives it; compared part by part, which is quicker than a digest."""

    dialect: Dialect
    tables: Mapping[str, Mapping[str, str]]
    views: Mapping[str, str]
    tagged: Mapping[str, str]


class CachedReader:
    """Reads statements against one catalogue. It keeps digests of statements with their readings, and no statement."""

    def __init__(self, given: CatalogueInput) -> None:
        tables = {name: dict(columns) for name, columns in given.tables.items()}
        # Copies, since the author may change the originals.
        self.given = CatalogueInput(given.dialect, tables, dict(given.views), dict(given.tagged))
        self._key = digest_of(*self.given)
        self._index = CatalogueIndex(**self.given._asdict())
        self._statements = StatementReader(self._index)
        self._is_trivial = (
            len(tables) <= TRIVIAL_TABLES and sum(map(len, given.views.values())) <= TRIVIAL_VIEWS
        )
        self._readings: dict[bytes, SQLReading] = {}
        self._lock = Lock()

    def read_at_once(self, statement: str) -> SQLReading | None:
        """A reading that is known already or takes less than 5 ms; else None."""
        digest = digest_statement(statement)
        with self._lock:
            reading = self._readings.get(digest)
            if reading is None and self._is_trivial and is_trivial(statement, self.given.dialect):
                reading = self._keep(digest, self._statements.read(statement))
        return reading

    def read(self, statement: str) -> SQLReading:
        """The reading of any statement, from a worker process where it may take long."""
        reading = self.read_at_once(statement)
        if reading is not None:
            return reading
        tags = self._index.tags
        try:
            columns, writes, unresolved = POOL.read(statement, self._key, self.given._asdict())
            reading = reading_of(columns, writes, unresolved, tags)
        except WorkerFailed as failed:
            reading = reading_of(self._index.mentioned(statement), (), (str(failed),), tags)
            if not failed.is_final:
                return reading
        with self._lock:
            return self._keep(digest_statement(statement), reading)

    def _keep(self, digest: bytes, reading: SQLReading) -> SQLReading:
        self._readings[digest] = reading
        if len(self._readings) > MAX_READINGS:
            del self._readings[next(iter(self._readings))]
        return reading


def digest_statement(statement: str) -> bytes:
    return hashlib.sha256(statement.encode(errors="surrogatepass")).digest()


def is_trivial(statement: str, dialect: Dialect) -> bool:
    """Whether it is so short and shallow that to read it takes less than 5 ms."""
    if len(statement) > TRIVIAL_LENGTH or not statement.isascii():
        return False
    try:
        tokens = tokenize(statement, dialect)
    except UnreadableStatement:
        return True  # which is all there is to be read
    depth = depth_of(tokens)
    return (
        len(tokens) <= TRIVIAL_TOKENS and depth.levels <= TRIVIAL_DEPTH and depth.doubling <= TRIVIAL_DOUBLING
    )


class ReaderCache:
    """One reader for each of the catalogues seen lately."""

    def __init__(self) -> None:
        self._readers: list[CachedReader] = []
        self._lock = Lock()

    def find(self, given: CatalogueInput) -> CachedReader | None:
        """The reader of a catalogue that was seen before."""
        return next((reader for reader in self._readers if reader.given == given), None)

    def get(self, given: CatalogueInput) -> CachedReader:
        """The reader of a catalogue, made where there is none."""
        with self._lock:
            reader = self.find(given) or make_reader(given)
            others = [other for other in self._readers if other is not reader]
            self._readers = [reader, *others][:MAX_CATALOGUES]
            return reader


READERS = ReaderCache()

_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("askback_sql_threads")
"""Threads that wait for a worker process; a loop has others for other work."""


def make_reader(given: CatalogueInput) -> CachedReader:
    """A reader for a catalogue, which is checked first."""
    if wrong := [name for name in given.tagged if not all(name.rpartition(".")[::2])]:
        raise AuthorError(
            f"tagged[{wrong[0]!r}] names no column of a table. Write it as schema.table.column."
        )
    try:
        return CachedReader(given)
    except (TypeError, ValueError, AttributeError) as error:
        raise AuthorError(
            'The catalogue is not of the form tables={"schema.table": {"column": "type"}}, '
            'views={"schema.view": "select …"}, tagged={"schema.table.column": "tag"}.'
        ) from error


def read(
    statement: str,
    *,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str] = NONE,
    tagged: Mapping[str, str] = NONE,
) -> SQLReading:
    """What this text of one or more statements touches. No text makes it raise: a broken one is `unresolved`.

    Names in `tables` (`schema.table` to its columns and their types), `views` (`schema.view` to its query) and `tagged`
    (`schema.table.column` to its tag) are spelled as the engine keeps them. It blocks for as long as a worker process
    takes, a few seconds at most; on an event loop use `read_async`.
    """
    given = CatalogueInput(dialect, tables, views, tagged)
    require_input(statement, dialect)
    return READERS.get(given).read(statement)


async def read_async(
    statement: str,
    *,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str] = NONE,
    tagged: Mapping[str, str] = NONE,
) -> SQLReading:
    """What `read` returns, without blocking the event loop."""
    given = CatalogueInput(dialect, tables, views, tagged)
    require_input(statement, dialect)
    reader = READERS.find(given) if len(tables) <= TRIVIAL_TABLES else None
    reading = None if reader is None else reader.read_at_once(statement)
    if reading is not None:
        return reading
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MAX_WORKERS)
        _LIMITER.set(limiter)
    with anyio.move_on_after(LOOP_TIMEOUT):
        reading_aside = partial(read, statement, **given._asdict())
        return await anyio.to_thread.run_sync(reading_aside, abandon_on_cancel=True, limiter=limiter)
    return reading_of((), (), (BUSY,), tagged)


def require_input(statement: object, dialect: object) -> None:
    """Refuse what is no statement or no dialect."""
    if not isinstance(statement, str):
        raise AuthorError(f"A statement is a text, and {type(statement).__name__} is none.")
    if dialect not in get_args(Dialect):
        raise AuthorError(
            f"dialect={dialect!r} is not one that Askback reads. Give one of {get_args(Dialect)}."
        )
