"""Which connection a SQLite engine looks at statements on, and what it does to the author's: nothing."""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import pytest

from askback.errors import AuthorError, ChangedSinceApproval
from askback.guards.sql.engines import Inspection
from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.sources.sqlite import SQLiteSource
from tests.guards.sql.engines.approved import run_approved

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, email TEXT);
INSERT INTO people VALUES (1, 'Ada', 'ada@example.org'), (2, 'Bob', 'bob@example.org'), (3, 'Cy', 'cy@example.org');
CREATE VIEW names AS SELECT id, name AS shown FROM people;
"""

EMAIL = "main.people.email"


def make(path: Path, script: str = SCHEMA) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return make(tmp_path / "people.db")


@pytest.fixture
def connection(file: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as connection:
        yield connection


async def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await SQLiteEngine(tmp_path / "nowhere.db").inspect("SELECT 1")
    assert not [path async for path in anyio.Path(tmp_path).iterdir()]


async def test_a_locked_file_is_not_a_doubt_about_the_statement(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as writing:
        writing.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await SQLiteEngine(file, timeout=0.05).inspect("SELECT id FROM people")


async def test_a_function_gives_what_no_file_has(file: Path) -> None:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:")
        connection.text_factory, connection.row_factory = bytes, sqlite3.Row
        connection.executescript(
            SCHEMA + "CREATE TEMP TABLE secrets (word); INSERT INTO secrets VALUES ('x');"
        )
        connection.create_function("shout", 1, str.upper)
        connection.create_function("lower", 1, str.upper)
        return connection

    engine = SQLiteEngine(connect)
    inspection = await engine.inspect("SELECT word FROM secrets")
    assert inspection.columns == {"temp.secrets.word"} and not inspection.doubts
    assert await engine.inspect("SELECT shout(email) FROM people") == Inspection(
        doubts=("it calls shout, which is not known to be harmless",)
    )
    rows = await run_approved(
        engine, "SELECT name, id FROM people", await engine.inspect("SELECT name, id FROM people")
    )
    assert rows.names == ("name", "id") and rows.rows[0] == (b"Ada", 1)


async def test_functions_of_the_author_are_a_doubt_where_only_a_file_is_known(file: Path) -> None:
    assert (await SQLiteEngine(file).inspect("SELECT shout(name) FROM people")).doubts


async def test_a_connection_to_a_file_is_left_as_it_is(connection: sqlite3.Connection) -> None:
    asked: list[int] = []

    def authorize(action: int, *_: object) -> int:
        asked.append(action)
        return sqlite3.SQLITE_OK

    connection.set_authorizer(authorize)
    connection.row_factory = sqlite3.Row
    engine = SQLiteEngine(connection)
    connection.execute("SELECT 1").fetchall()
    for statement in (
        "SELECT email FROM people",
        "SELECT",
        "BEGIN",
        "PRAGMA foreign_keys = ON",
        "CREATE TEMP TABLE x (y)",
    ):
        await engine.inspect(statement)
    assert EMAIL in (await engine.inspect("SELECT email FROM people")).columns
    assert sqlite3.SQLITE_ATTACH not in asked and sqlite3.SQLITE_TRANSACTION not in asked
    asked.clear()
    connection.execute("SELECT id AS again FROM people").fetchall()
    assert sqlite3.SQLITE_READ in asked, "the author's authorizer is still there"
    assert not connection.in_transaction and connection.row_factory is sqlite3.Row
    assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 0
    assert [row["name"] for row in connection.execute("SELECT name FROM sqlite_temp_master")] == []


async def test_a_connection_in_memory_is_a_doubt_and_cannot_run(file: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        engine = SQLiteEngine(connection)
        inspection = await engine.inspect("SELECT 1")
        assert inspection.doubts and not inspection.can_be_planned
        with pytest.raises(AuthorError, match="function"):
            await run_approved(engine, "SELECT 1", inspection)


async def test_temporary_objects_of_a_connection_are_a_doubt(connection: sqlite3.Connection) -> None:
    engine = SQLiteEngine(connection)
    connection.execute("CREATE TEMP VIEW names AS SELECT id, email AS shown FROM main.people")
    connection.commit()
    assert (await engine.inspect("SELECT shown FROM names")).doubts
    assert not (await engine.inspect("SELECT name FROM people")).doubts
    connection.execute("CREATE TEMP TRIGGER seen AFTER UPDATE ON people BEGIN SELECT RAISE(ABORT, 'x'); END")
    connection.commit()
    assert (await engine.inspect("UPDATE people SET name = 'x'")).doubts


async def test_a_temporary_view_is_a_doubt_also_where_no_column_of_it_is_used(
    connection: sqlite3.Connection,
) -> None:
    connection.execute("CREATE TEMP VIEW names AS SELECT id AS shown FROM people WHERE email > 'b'")
    engine = SQLiteEngine(connection)
    for statement in (
        "SELECT count(*) FROM names",
        "SELECT EXISTS (SELECT 1 FROM [Names])",
        "SELECT 1 FROM 'names'",
    ):
        assert (await engine.inspect(statement)).doubts, statement
    assert not (await engine.inspect("SELECT count(*) FROM people")).doubts


async def test_new_statistics_are_noticed(file: Path) -> None:
    """With them, SQLite walks along an index on a tagged column, which decides the order of rows."""
    make(
        file,
        "CREATE TABLE wards (id INTEGER, ill TEXT, ward INTEGER, pad TEXT); CREATE INDEX w ON wards (ill, ward)",
    )
    with closing(sqlite3.connect(file, isolation_level=None)) as writing:
        writing.execute("BEGIN")
        writing.executemany(
            "INSERT INTO wards VALUES (?, ?, ?, ?)", [(n, f"x{n}", n % 50, "p" * 50) for n in range(3_000)]
        )
        writing.execute("COMMIT")
        writing.execute("ANALYZE")
        writing.execute("UPDATE wards SET ill = 'x' || (id % 3)")
        statement = "SELECT id FROM wards WHERE ward = 5 LIMIT 1"
        engine = SQLiteEngine(file)
        before = await engine.inspect(statement)
        writing.execute("ANALYZE")
        after = await engine.inspect(statement)
    assert "main.wards.ill" not in before.columns and "main.wards.ill" in after.columns
    assert after == await SQLiteEngine(file).inspect(statement)


async def test_a_connection_in_a_transaction_is_a_doubt(connection: sqlite3.Connection) -> None:
    engine = SQLiteEngine(connection)
    connection.execute("BEGIN")
    connection.execute("DROP VIEW names")
    connection.execute("CREATE VIEW names AS SELECT id, email AS shown FROM people")
    assert (await engine.inspect("SELECT shown FROM names")).doubts
    assert connection.in_transaction
    connection.rollback()
    assert EMAIL not in (await engine.inspect("SELECT shown FROM names")).columns


async def test_a_connection_of_another_thread_is_a_doubt(file: Path) -> None:
    made: list[sqlite3.Connection] = []
    ready, done = threading.Event(), threading.Event()

    def own() -> None:
        with closing(sqlite3.connect(file)) as connection:
            made.append(connection)
            ready.set()
            done.wait(10)

    thread = threading.Thread(target=own)
    thread.start()
    assert ready.wait(10)
    inspection = await SQLiteEngine(made[0]).inspect("SELECT 1")
    done.set()
    thread.join(10)
    assert inspection.doubts


async def test_a_connection_for_all_threads_is_looked_at(file: Path) -> None:
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        engine = SQLiteEngine(connection)
        assert EMAIL in (await engine.inspect("SELECT * FROM people")).columns


async def test_a_change_of_the_schema_is_noticed(file: Path, connection: sqlite3.Connection) -> None:
    engine = SQLiteEngine(file)
    statement = "SELECT shown FROM names"
    assert EMAIL not in (await engine.inspect(statement)).columns
    connection.executescript("DROP VIEW names; CREATE VIEW names AS SELECT id, email AS shown FROM people;")
    assert EMAIL in (await engine.inspect(statement)).columns


async def test_a_statement_seen_before_is_doubted_once_a_temporary_view_hides_what_it_reads(
    connection: sqlite3.Connection,
) -> None:
    engine = SQLiteEngine(connection)
    statement = "SELECT shown FROM names"
    before = [await engine.inspect(statement) for _ in range(2)]
    connection.execute("CREATE TEMP VIEW names AS SELECT id, email AS shown FROM main.people")
    connection.commit()
    hidden = [await engine.inspect(statement) for _ in range(2)]
    connection.execute("DROP VIEW temp.names")
    connection.commit()
    assert all(found.doubts for found in hidden)
    assert not before[0].doubts and before == [await engine.inspect(statement)] * 2


async def test_a_statement_is_inspected_in_full_each_time(file: Path, connection: sqlite3.Connection) -> None:
    """The driver keeps prepared statements, and SQLite asks its authorizer only where one is prepared."""
    engine = SQLiteEngine(file)
    statement = "SELECT count(email) FROM people"
    before = await engine.inspect(statement)
    connection.execute("CREATE TABLE other (id)")
    await engine.inspect("SELECT id FROM people")
    assert before == await engine.inspect(statement) and EMAIL in before.columns


async def test_many_may_ask_at_once(file: Path) -> None:
    engine = SQLiteEngine(file)
    columns = ["id", "name", "email"] * 10
    found: dict[int, Inspection] = {}

    async def inspect(number: int, column: str) -> None:
        found[number] = await engine.inspect(f"SELECT {column} AS c{number} FROM people")

    async with anyio.create_task_group() as tasks:
        for number, column in enumerate(columns):
            tasks.start_soon(inspect, number, column)
    for number, column in enumerate(columns):
        assert found[number] == await SQLiteEngine(file).inspect(f"SELECT {column} FROM people")
    assert not found[0].doubts and found[0] != found[1]


async def test_a_file_in_the_place_of_another_is_noticed(tmp_path: Path, file: Path) -> None:
    engine = SQLiteEngine(file)
    statement = "SELECT shown FROM names"
    assert EMAIL not in (await engine.inspect(statement)).columns
    other = make(tmp_path / "other.db", SCHEMA.replace("name AS shown", "email AS shown"))
    os.replace(other, file)
    assert EMAIL in (await engine.inspect(statement)).columns


async def test_what_was_approved_runs(file: Path) -> None:
    engine = SQLiteEngine(file)
    statement = "SELECT id, email FROM people ORDER BY id"
    inspection = await engine.inspect(statement)
    rows = await run_approved(engine, statement, inspection, max_rows=2)
    assert rows.names == ("id", "email") and rows.has_more
    assert rows.rows == [(1, "ada@example.org"), (2, "bob@example.org")]
    assert not (await run_approved(engine, statement, inspection, max_rows=3)).has_more


async def test_nothing_runs_when_the_schema_has_changed_since(
    file: Path, connection: sqlite3.Connection
) -> None:
    engine = SQLiteEngine(file, read_only=False)
    read, change = "SELECT shown FROM names", "UPDATE people SET name = (SELECT max(shown) FROM names)"
    inspections = {statement: await engine.inspect(statement) for statement in (read, change)}
    connection.executescript("DROP VIEW names; CREATE VIEW names AS SELECT id, email AS shown FROM people;")
    for statement, inspection in inspections.items():
        with pytest.raises(ChangedSinceApproval):
            await run_approved(engine, statement, inspection)
    assert connection.execute("SELECT name FROM people WHERE id = 1").fetchone() == ("Ada",)


async def test_an_approved_change_is_committed(file: Path, connection: sqlite3.Connection) -> None:
    statement = "UPDATE people SET name = 'Eve' WHERE id = 1 RETURNING id"
    writing = SQLiteEngine(file, read_only=False)
    rows = await run_approved(writing, statement, await writing.inspect(statement))
    assert rows.rows == [(1,)]
    assert connection.execute("SELECT name FROM people WHERE id = 1").fetchone() == ("Eve",)
    reading = SQLiteEngine(file)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await run_approved(reading, statement, await reading.inspect(statement))


async def test_a_run_ends_at_the_timeout(file: Path) -> None:
    engine = SQLiteEngine(file, timeout=0.2)
    endless = "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        await run_approved(engine, endless, await engine.inspect(endless))


async def test_a_source_has_the_engine_of_its_database(file: Path) -> None:
    source = SQLiteSource(file)
    assert source.engine is source.engine
    assert EMAIL in (await source.engine.inspect("SELECT * FROM people")).columns
    called = SQLiteSource(partial(sqlite3.connect, file))
    assert EMAIL in (await called.engine.inspect("SELECT * FROM people")).columns
