"""`read`: statements read against a catalogue, each once.

What is short and shallow is read at once. The rest is read by a worker process, within limits of time and memory.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple, TypeVar, get_args

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from askback.errors import AuthorError
from askback.guards.sql.catalogue import CatalogueIndex, digest_of
from askback.guards.sql.names import Dialect
from askback.guards.sql.outlines import Outline, lay_out
from askback.guards.sql.pool import BUSY, MAX_WORKERS, POOL, WorkerFailed
from askback.guards.sql.readings import SQLReading, reading_of
from askback.guards.sql.statements import Statements
from askback.guards.sql.text import UnreadableStatement
from askback.guards.sql.tokens import depth_of, tokenize

T = TypeVar("T")

MAX_READINGS = 512
"""For each catalogue. An agent repeats itself within an hour, not within a year."""

MAX_CATALOGUES = 16
"""Databases that one server guards, and a few versions of each."""

TRIVIAL_LENGTH, TRIVIAL_TOKENS, TRIVIAL_DEPTH, TRIVIAL_DOUBLING = 300, 100, 5, 1
"""Characters, tokens, and levels of nesting, up to which a statement takes less than 5 ms to read."""

TRIVIAL_VIEWS, TRIVIAL_TABLES = 2_000, 200
"""Characters of all views, and number of tables, up to which the same holds for a catalogue."""


class CatalogueInput(NamedTuple):
    """A catalogue as the caller gives it; compared part by part, which is quicker than a digest."""

    dialect: Dialect
    tables: Mapping[str, Mapping[str, str]]
    views: Mapping[str, str]
    tagged: Mapping[str, str]

    def copied(self) -> "CatalogueInput":
        tables = {name: dict(columns) for name, columns in self.tables.items()}
        return CatalogueInput(self.dialect, tables, dict(self.views), dict(self.tagged))

    @property
    def is_trivial(self) -> bool:
        return len(self.tables) <= TRIVIAL_TABLES and sum(map(len, self.views.values())) <= TRIVIAL_VIEWS


class StatementReader:
    """Reads statements against one catalogue, each once."""

    def __init__(self, given: CatalogueInput) -> None:
        self.given = given.copied()
        self._key = digest_of(*self.given)
        self._catalogue = CatalogueIndex(**self.given._asdict())
        self._statements = Statements(self._catalogue)
        self._is_trivial = self.given.is_trivial
        self._known: OrderedDict[bytes, SQLReading] = OrderedDict()
        self._lock = Lock()

    def read_trivial(self, statement: str) -> SQLReading | None:
        """What is known already or can be read at once; else None."""
        if len(statement) > TRIVIAL_LENGTH:
            return self._recall(statement)
        reading = self._recall(statement)
        if reading is None and self._is_trivial and is_trivial(statement, self.given.dialect):
            with self._lock:
                reading = self._statements.read(statement)
            self._keep(statement, reading)
        return reading

    def read(self, statement: str) -> SQLReading:
        reading = self.read_trivial(statement)
        if reading is not None:
            return reading
        tags = self._catalogue.tags
        try:
            columns, writes, unresolved = POOL.read(statement, self._key, self.given._asdict())
            reading = reading_of(columns, writes, unresolved, tags)
        except WorkerFailed as failed:
            reading = reading_of(self._catalogue.mentioned(statement), (), (str(failed),), tags)
            if not failed.is_final:
                return reading
        self._keep(statement, reading)
        return reading

    def _recall(self, statement: str) -> SQLReading | None:
        with self._lock:
            digest = digest_statement(statement)
            if digest in self._known:
                self._known.move_to_end(digest)
            return self._known.get(digest)

    def _keep(self, statement: str, reading: SQLReading) -> None:
        with self._lock:
            self._known[digest_statement(statement)] = reading
            if len(self._known) > MAX_READINGS:
                self._known.popitem(last=False)


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


class StatementReaders:
    """One for each of the catalogues seen lately. They hold digests of statements, and no statement."""

    def __init__(self) -> None:
        self._known: list[StatementReader] = []
        self._lock = Lock()

    def find(self, given: CatalogueInput) -> StatementReader | None:
        return next((reader for reader in self._known if reader.given == given), None)

    def reader(self, given: CatalogueInput) -> StatementReader:
        with self._lock:
            reader = self.find(given) or make_reader(given)
            self._known = [reader, *(other for other in self._known if other is not reader)][:MAX_CATALOGUES]
            return reader


def make_reader(given: CatalogueInput) -> StatementReader:
    if wrong := [name for name in given.tagged if not all(name.rpartition(".")[::2])]:
        raise AuthorError(
            f"tagged[{wrong[0]!r}] names no column of a table. Write it as schema.table.column."
        )
    try:
        return StatementReader(given)
    except (TypeError, ValueError, AttributeError) as error:
        raise AuthorError(
            'The catalogue is not of the form tables={"schema.table": {"column": "type"}}, '
            'views={"schema.view": "select …"}, tagged={"schema.table.column": "tag"}.'
        ) from error


PATIENCE = 6.0
"""Seconds in which an event loop gets an answer, if only that there is none."""

_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("askback_sql_threads")

NONE: Mapping[str, str] = MappingProxyType({})
READERS = StatementReaders()


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
    return READERS.reader(_checked(statement, dialect, tables, views, tagged)).read(statement)


async def read_async(
    statement: str,
    *,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str] = NONE,
    tagged: Mapping[str, str] = NONE,
) -> SQLReading:
    """What `read` returns, without blocking the event loop."""
    given = _checked(statement, dialect, tables, views, tagged)
    reader = READERS.find(given) if len(tables) <= TRIVIAL_TABLES else None
    reading = None if reader is None else reader.read_trivial(statement)
    if reading is not None:
        return reading
    reading = await _aside(partial(read, statement, **given._asdict()))
    return reading or reading_of((), (), (BUSY,), tagged)


async def lay_out_async(statement: str, *, dialect: Dialect, most: int | None) -> Outline:
    """The kinds of the statements in a text, and the same query for at most so many rows."""
    if is_trivial(statement, dialect):
        return lay_out(statement, dialect, most)
    return await anyio.to_thread.run_sync(lay_out, statement, dialect, most)


async def _aside(work: partial[T]) -> T | None:
    """In a thread that may wait for a worker process; None where too many wait already."""
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MAX_WORKERS)
        _LIMITER.set(limiter)
    with anyio.move_on_after(PATIENCE):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
    return None


def _checked(
    statement: str,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str],
    tagged: Mapping[str, str],
) -> CatalogueInput:
    if not isinstance(statement, str):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise AuthorError(f"A statement is a text, and {type(statement).__name__} is none.")
    if dialect not in get_args(Dialect):
        raise AuthorError(
            f"dialect={dialect!r} is not one that Askback reads. Give one of {get_args(Dialect)}."
        )
    return CatalogueInput(dialect, tables, views, tagged)
