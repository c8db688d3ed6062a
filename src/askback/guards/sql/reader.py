"""`read`: finds out what a statement touches from its text and a catalogue.

What is short and shallow is read at once. The rest is read by a process of its own, within limits of time and memory.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple, get_args

import anyio

from askback.errors import AuthorError
from askback.guards.sql.index import CatalogueIndex
from askback.guards.sql.names import Dialect
from askback.guards.sql.readings import SQLReading, make_reading
from askback.guards.sql.statements import StatementReader
from askback.guards.sql.threads import run_in_thread
from askback.guards.sql.tokens import UnreadableStatement, measure_depth, tokenize
from askback.guards.sql.worker import LONG_LENGTH, WorkerFailed, read_in_process

MAX_READINGS = 512
"""For each catalogue. An agent repeats itself within an hour, not within a year."""

MAX_CATALOGUES = 16
"""Databases that one server guards, and a few versions of each."""

TRIVIAL_LENGTH, TRIVIAL_TOKENS, TRIVIAL_DEPTH, TRIVIAL_DOUBLING = 1_000, 300, 8, 3
"""Characters, tokens, and levels of nesting, up to which a statement takes some 20 ms to read at most."""

TRIVIAL_VIEWS, TRIVIAL_TABLES = 2_000, 200
"""Characters of all views, and number of tables, up to which the same holds for a catalogue."""

LOOP_TIMEOUT = 6.0
"""Seconds in which an event loop gets an answer, which may be a doubt."""

BUSY = "too much is being read at once"

NONE: Mapping[str, str] = MappingProxyType({})


class CatalogueInput(NamedTuple):
    """A catalogue as the caller gives it."""

    dialect: Dialect
    tables: Mapping[str, Mapping[str, str]]
    views: Mapping[str, str]
    tagged: Mapping[str, str]


class CatalogueReader:
    """Reads statements against one catalogue, and keeps the last readings."""

    def __init__(self, given: CatalogueInput) -> None:
        tables = {name: dict(columns) for name, columns in given.tables.items()}
        # Copies, since the author may change the originals.
        self.given = CatalogueInput(given.dialect, tables, dict(given.views), dict(given.tagged))
        self._index = CatalogueIndex(**self.given._asdict())
        self._statements = StatementReader(self._index)
        views = sum(map(len, given.views.values()))
        self._is_trivial = len(tables) <= TRIVIAL_TABLES and views <= TRIVIAL_VIEWS
        self._lock = Lock()
        self._recall = lru_cache(MAX_READINGS)(self._read)

    def read(self, statement: str) -> SQLReading:
        """The reading of any statement. Blocks for a second or so where it is long."""
        try:
            return self._recall(statement)
        except WorkerFailed as failed:
            mentioned = self._index.find_mentions(statement)
            return make_reading(mentioned, (), (str(failed),), self._index.tags)

    def _read(self, statement: str) -> SQLReading:
        """Read here what takes some 20 ms at most, and the rest in a process of its own."""
        if self._is_trivial and is_trivial(statement, self.given.dialect):
            with self._lock:
                return self._statements.read(statement)
        return make_reading(*read_in_process(statement, self.given._asdict()), self._index.tags)


def is_trivial(statement: str, dialect: Dialect) -> bool:
    """Whether it is so short and shallow that to read it takes some 20 ms at most."""
    if len(statement) > LONG_LENGTH or not statement.isascii():
        return False
    try:
        tokens = tokenize(statement, dialect)
    except UnreadableStatement:
        return True  # which is all there is to be read
    depth = measure_depth(tokens)
    return (
        len(statement) <= TRIVIAL_LENGTH
        and len(tokens) <= TRIVIAL_TOKENS
        and depth.levels <= TRIVIAL_DEPTH
        and depth.doubling <= TRIVIAL_DOUBLING
    )


_readers: list[CatalogueReader] = []
"""Readers of the catalogues that were used last, the newest first. Replaced and never changed."""


def find_reader(given: CatalogueInput) -> CatalogueReader:
    """The reader of a catalogue, made when it is first used. Raises AuthorError for any other value."""
    global _readers
    reader = next((reader for reader in _readers if reader.given == given), None) or make_reader(given)
    _readers = [reader, *(other for other in _readers if other is not reader)][:MAX_CATALOGUES]
    return reader


def make_reader(given: CatalogueInput) -> CatalogueReader:
    """A reader for a catalogue, which is checked first."""
    if wrong := [name for name in given.tagged if not all(name.rpartition(".")[::2])]:
        raise AuthorError(
            f"tagged[{wrong[0]!r}] names no column of a table. Write it as schema.table.column."
        )
    try:
        return CatalogueReader(given)
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
    """Find out what one or more statements touch. No text makes it raise: a broken one is `unresolved`.

    Names in `tables` (`schema.table` to its columns and their types), `views` (`schema.view` to its query) and `tagged`
    (`schema.table.column` to its tag) are spelled as the engine keeps them. It blocks for as long as a process takes
    to read a long statement, a second or so; on an event loop use `read_async`.
    """
    if not isinstance(statement, str):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise AuthorError(f"A statement is a text (str), and this is {type(statement).__name__}.")
    if dialect not in get_args(Dialect):
        raise AuthorError(
            f"dialect={dialect!r} is not one that Askback reads. Give one of {get_args(Dialect)}."
        )
    return find_reader(CatalogueInput(dialect, tables, views, tagged)).read(statement)


async def read_async(
    statement: str,
    *,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str] = NONE,
    tagged: Mapping[str, str] = NONE,
) -> SQLReading:
    """Do the same as `read` without blocking the event loop."""
    work = partial(read, statement, dialect=dialect, tables=tables, views=views, tagged=tagged)
    with anyio.move_on_after(LOOP_TIMEOUT):
        return await run_in_thread(work)
    return make_reading((), (), (BUSY,), tagged)
