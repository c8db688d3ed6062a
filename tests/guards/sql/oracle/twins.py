"""The two databases of an engine, live: they run a statement and tell what came of it, in bounded time."""

import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import duckdb

from tests.guards.sql.oracle.relations import Dialect
from tests.guards.sql.oracle.shop_postgres import READER
from tests.guards.sql.oracle.shops import SHOPS, Shop

if TYPE_CHECKING:
    Session: TypeAlias = asyncpg.Connection[asyncpg.Record]

MAX_ROWS = 2_000
"""The tables hold a handful of rows each; a join of all of them would hold too many."""

MAX_SECONDS = 2.0
"""For one statement. What takes longer is left out."""

STEPS = 100_000
"""How many instructions SQLite runs between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement came to on one database: names and rows, or an error."""

    names: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    arrival: tuple[str, ...] = field(default=(), compare=False)
    """The rows in the order in which they came, which a statement without ORDER BY does not promise."""
    error: str | None = None
    is_accepted: bool = True
    """Whether the engine took the statement, even where a value made it fail later."""
    is_stopped: bool = False
    """Whether it took too long, or broke the engine. Nothing follows from that."""


class Twins(Protocol):
    """Two databases that differ only in the values of tagged columns."""

    shop: Shop

    async def run(self, statement: str, *, on_twin: bool = False) -> Outcome:
        """Run a statement on the first database or on its twin. Nothing it does stays."""
        ...


def make_outcome(names: tuple[str, ...], rows: list[tuple[Any, ...]], statement: str) -> Outcome:
    """Rows as text that can be compared: without noise in floats, and in an order only where one was asked for."""
    texts = [repr(tuple(map(settle, row))) for row in rows[:MAX_ROWS]]
    is_ordered = "order by" in " ".join(statement.lower().split())
    return Outcome(names, tuple(texts if is_ordered else sorted(texts)), tuple(texts))


def settle(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return [settle(item) for item in cast("list[Any]", value)]
    return value


class SQLiteTwins:
    """Two files, read without locks by connections of our own."""

    def __init__(self, folder: Path) -> None:
        self.shop = SHOPS["sqlite"]
        self.files = (folder / "first.db", folder / "twin.db")
        for file, is_twin in zip(self.files, (False, True), strict=True):
            with closing(sqlite3.connect(file)) as connection:
                connection.executescript(";\n".join(self.shop.script(is_twin=is_twin)))
        self._connections = [self._open(file) for file in self.files]
        self._deadline = 0.0

    def _open(self, file: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, isolation_level=None)
        connection.set_progress_handler(lambda: time.monotonic() > self._deadline, STEPS)
        return connection

    async def run(self, statement: str, *, on_twin: bool = False) -> Outcome:
        self._deadline = time.monotonic() + MAX_SECONDS
        try:
            with closing(self._connections[on_twin].execute(statement, Nulls())) as cursor:
                names = tuple(column[0] for column in cursor.description or ())
                return make_outcome(names, cursor.fetchmany(MAX_ROWS), statement)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            text = str(error)
            return Outcome(
                error=text, is_accepted=not is_refused_by_sqlite(text), is_stopped=text == "interrupted"
            )

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


class Nulls(dict[str, None]):
    """NULL for every parameter."""

    def __missing__(self, key: str) -> None:
        return None


SQLITE_DATA_ERRORS = (
    "malformed JSON", "integer overflow", "datatype mismatch", "bad JSON path", "interrupted", "LIKE", "too big",
)  # fmt: skip


def is_refused_by_sqlite(text: str) -> bool:
    """SQLite has one code for almost everything, so the few errors that values can make are known by their words."""
    return not any(words in text for words in SQLITE_DATA_ERRORS)


class DuckDBTwins:
    """Two databases in memory. A thread interrupts what takes too long; a database that DuckDB gave up is made anew."""

    def __init__(self) -> None:
        self.shop = SHOPS["duckdb"]
        self._databases = [self._open(is_twin) for is_twin in (False, True)]
        self._runners = [database.cursor() for database in self._databases]
        self._watch = Watch()

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The first database, as it is at the moment."""
        return self._databases[0]

    def _open(self, is_twin: bool) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(":memory:", config={"threads": 1})
        for statement in self.shop.script(is_twin=is_twin):
            connection.execute(statement)
        return connection

    def _reopen(self, on_twin: bool) -> None:
        self._runners[on_twin].close()
        self._databases[on_twin].close()
        self._databases[on_twin] = self._open(on_twin)
        self._runners[on_twin] = self._databases[on_twin].cursor()

    async def run(self, statement: str, *, on_twin: bool = False) -> Outcome:
        runner = self._runners[on_twin]
        try:
            with self._watch.limit(runner.interrupt):
                found = runner.execute(statement)
                rows = found.fetchmany(MAX_ROWS)
            names = tuple(str(column[0]) for column in found.description or ())
            return make_outcome(names, rows, statement)
        except (
            duckdb.FatalException,
            duckdb.InternalException,
        ) as error:  # after both, it takes nothing any more
            self._reopen(on_twin)
            return Outcome(error=str(error), is_stopped=True)
        except (duckdb.Error, ValueError, OverflowError) as error:
            return Outcome(
                error=f"{type(error).__name__}: {error}",
                is_accepted=not isinstance(error, DUCKDB_REFUSALS),
                is_stopped=isinstance(error, duckdb.InterruptException),
            )

    def close(self) -> None:
        self._watch.end()
        for connection in (*self._runners, *self._databases):
            connection.close()


DUCKDB_REFUSALS = (
    duckdb.BinderException,
    duckdb.ParserException,
    duckdb.CatalogException,
    duckdb.SyntaxException,
    duckdb.NotImplementedException,
)


class Watch:
    """Calls a function where a block takes too long. One thread for many blocks, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._stop: Callable[[], None] | None = None
        self._deadline = 0.0
        self._is_over = False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    @contextmanager
    def limit(self, stop: Callable[[], None]) -> Generator[None]:
        with self._lock:
            self._stop, self._deadline = stop, time.monotonic() + MAX_SECONDS
        try:
            yield
        finally:
            with self._lock:
                self._stop = None

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            self._lock.notify()
        self._thread.join()

    def _look(self) -> None:
        with self._lock:
            while not self._is_over:
                self._lock.wait(MAX_SECONDS / 4)
                if self._stop and time.monotonic() > self._deadline:
                    self._stop()


DATABASES = ("oracle_first", "oracle_twin")

SETTINGS = {"default_transaction_read_only": "on", "statement_timeout": f"{MAX_SECONDS:.0f}s", "jit": "off"}


async def create_databases(url: str) -> None:
    """Make both databases on a Postgres server, anew, and the role that reads them."""
    shop = SHOPS["postgres"]
    server: Session = await asyncpg.connect(url)
    try:
        for name in DATABASES:
            await server.execute(f"DROP DATABASE IF EXISTS {name}")
            await server.execute(f"CREATE DATABASE {name}")
        if not await server.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", READER):
            await server.execute(f"CREATE ROLE {READER} LOGIN")
    finally:
        await server.close()
    for name in DATABASES:
        connection: Session = await asyncpg.connect(place(url, name))
        try:
            await connection.execute(";\n".join(shop.script(is_twin=name == DATABASES[1])))
        finally:
            await connection.close()


def place(url: str, database: str, role: str | None = None) -> str:
    """The same server's URL for another database, and another role."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(path=f"/{database}", netloc=f"{role}@{host}" if role else parts.netloc))


class PostgresTwins:
    """Two databases of one server, read by a role that is no superuser."""

    def __init__(self, url: str, sessions: "tuple[Session, Session]") -> None:
        self.shop = SHOPS["postgres"]
        self.url = place(url, DATABASES[0], READER)
        self._sessions = sessions

    async def run(self, statement: str, *, on_twin: bool = False) -> Outcome:
        try:
            prepared = await self._sessions[on_twin].prepare(statement)
            nulls = [None] * len(prepared.get_parameters())
            names = tuple(column.name for column in prepared.get_attributes())
            return make_outcome(names, [tuple(row) for row in await prepared.fetch(*nulls)], statement)
        except asyncpg.PostgresError as error:
            return Outcome(
                error=f"{error.sqlstate}: {error} {error.detail or ''}",
                is_accepted=not (error.sqlstate or "").startswith(("42", "0A", "25")),
                is_stopped=isinstance(error, asyncpg.QueryCanceledError),
            )
        except (asyncpg.InterfaceError, asyncpg.InternalClientError, ValueError, OverflowError) as error:
            return Outcome(error=f"{type(error).__name__}: {error}", is_accepted=False)


@asynccontextmanager
async def open_twins(dialect: Dialect, folder: Path, url: str | None) -> "AsyncGenerator[AnyTwins]":
    """The two databases for the length of the block. Postgres needs the URL of a server that has them."""
    if dialect == "postgres":
        assert url, "Postgres needs a URL"
        opened: list[Session] = []
        try:
            for name in DATABASES:
                opened.append(  # noqa: PERF401 # those that are open are closed where the next one fails
                    await asyncpg.connect(
                        place(url, name, READER), server_settings=SETTINGS, statement_cache_size=0
                    )
                )
            yield PostgresTwins(url, (opened[0], opened[1]))
        finally:
            for session in opened:
                await session.close()
        return
    twins = SQLiteTwins(folder) if dialect == "sqlite" else DuckDBTwins()
    with closing(twins):
        yield twins


AnyTwins: TypeAlias = SQLiteTwins | DuckDBTwins | PostgresTwins
