"""Values that SQLite reads and throws away: no question is asked about those, and about all others one is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.engines.sqlite.discards import MAX_FIELDS, MAX_FOLLOWED, find_discarded
from tests.guards.sql.misses import Misses

SCRIPT = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, email TEXT,
  short TEXT AS (lower(email)), loud TEXT AS (upper(name)), size AS (abs(email)));
CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer INTEGER, note TEXT);
CREATE VIEW buyers AS SELECT p.id, name, email, note FROM people p LEFT JOIN orders o ON o.buyer = p.id;
CREATE VIEW shortened AS SELECT id, short, loud FROM people;
CREATE VIEW sized AS SELECT id, size, loud FROM people;
CREATE VIEW reached AS SELECT id, lower(email) AS reach, trim(name) AS name FROM people;
INSERT INTO people VALUES (1, 'a', 'short'), (2, 'b', 'b@example.org');
INSERT INTO orders VALUES (10, 1, 'x'), (11, 2, 'y');
"""

EMAIL = "main.people.email"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    return path


@pytest.fixture
def engine(file: Path) -> SQLiteEngine:
    return SQLiteEngine(file)


def joined(view: str, *, columns: str = "o.id", ending: str = "") -> str:
    """A statement for which SQLite works out all columns of a view."""
    return f"SELECT {columns} FROM orders o LEFT JOIN {view} x ON x.id = o.buyer {ending}"


DISCARDED = [
    joined("buyers"),
    joined("buyers", columns="o.id, x.name, x.note"),
    joined("buyers", columns="count(x.note)"),
    joined("buyers", columns="DISTINCT x.name"),
    joined("buyers", ending="ORDER BY x.note DESC, x.name LIMIT 3"),
    joined(
        "(SELECT p.id, email, 1 AS one, 'x' AS two, NULL AS three FROM people p LEFT JOIN orders USING (id))"
    ),
    "SELECT o.id FROM orders o FULL JOIN reached x ON x.id = o.buyer",
    "SELECT x.note FROM buyers x RIGHT JOIN orders o ON x.id = o.buyer",
    "SELECT DISTINCT o.note FROM orders o NATURAL LEFT JOIN shortened",
    "SELECT o.id, x.loud FROM orders o RIGHT JOIN shortened x ON x.loud = o.note",
    "SELECT x.note FROM (SELECT value FROM json_each('[1, 2]')) o RIGHT JOIN buyers x ON x.id = o.value",
]


async def test_what_is_read_and_thrown_away_is_not_told(engine: SQLiteEngine) -> None:
    misses = Misses()
    for statement in DISCARDED:
        with misses.of(statement):
            inspection = await engine.inspect(statement)
            assert EMAIL not in inspection.columns and not inspection.doubts
    misses.require_none()


def test_sqlite_does_read_it(file: Path) -> None:
    """Otherwise the test above would show nothing."""
    misses = Misses()
    for statement in DISCARDED:
        with misses.of(statement):
            with closing(sqlite3.connect(file)) as connection:
                (root,) = connection.execute(
                    "SELECT rootpage FROM sqlite_master WHERE name = 'people'"
                ).fetchone()
                rows = connection.execute(f"EXPLAIN {statement}").fetchall()
            cursors = {row[2] for row in rows if row[1] == "OpenRead" and row[3] == root}
            reads = {row[0] for row in rows if row[1] == "Column" and row[2] in cursors and row[3] == 2}
            assert reads <= find_discarded(rows)
            assert reads or sqlite3.sqlite_version_info >= (3, 41)  # which may leave out what nobody needs
    misses.require_none()


INNER = "FROM people p LEFT JOIN orders q ON q.buyer = p.id"
USED = [
    joined("buyers", columns="x.email"),
    joined("buyers", columns="o.id, count(x.email)"),
    joined("buyers", ending="WHERE x.email > 'b'"),
    joined("buyers", ending="ORDER BY x.email"),
    joined("buyers", ending="GROUP BY x.email"),
    joined("buyers", ending="LIMIT (SELECT length(email) FROM people)"),
    joined("buyers", columns="(SELECT x.email)"),
    joined("buyers", columns="lag(x.email) OVER (ORDER BY o.id)"),
    joined(f"(SELECT DISTINCT p.id, email {INNER})"),
    joined(f"(SELECT p.id, email {INNER} ORDER BY email LIMIT 1)"),
    joined(f"(SELECT p.id, email {INNER} UNION SELECT 1, 'a')"),
    joined(f"(SELECT p.id, max(email) AS email {INNER} GROUP BY p.name)"),
    joined(f"(SELECT p.id, count(*) OVER (PARTITION BY email) AS n {INNER})", columns="x.n"),
    joined(f"(SELECT p.id, json(email) AS j {INNER})"),
    joined(f"(SELECT p.id, abs(email) AS a {INNER})"),
    joined(f"(SELECT p.id, json(lower(email)) AS j {INNER})"),
    "SELECT o.id FROM orders o RIGHT JOIN sized x ON x.loud = o.note",
    "SELECT o.id, x.short FROM orders o RIGHT JOIN shortened x ON x.loud = o.note",
    "SELECT x.note FROM (SELECT value FROM json_each('[1, 2]', (SELECT '$' || email FROM people))) o "
    "RIGHT JOIN buyers x ON x.id = o.value",
    joined(f"(SELECT p.id, email || zeroblob(999999985) AS z {INNER})"),
    "WITH RECURSIVE r(n, e) AS (SELECT 1, email FROM people UNION SELECT n + 1, e FROM r WHERE n < 3) "
    "SELECT o.id FROM orders o LEFT JOIN r ON r.n = o.buyer",
]


async def test_what_decides_anything_is_told(engine: SQLiteEngine) -> None:
    misses = Misses()
    for statement in USED:
        with misses.of(statement):
            assert EMAIL in (await engine.inspect(statement)).columns
    misses.require_none()


async def test_a_value_beside_a_large_one_is_told_since_an_error_tells_its_length(
    engine: SQLiteEngine, file: Path
) -> None:
    misses = Misses()
    for view in [
        f"(SELECT p.id, name, email, zeroblob(999999985) AS z {INNER})",
        f"(SELECT p.id, lower(email) AS e, zeroblob(999999985) AS z {INNER})",
        "(SELECT p.id, name, email, zeroblob(999999985) AS z FROM people p JOIN orders q ON q.buyer = p.id)",
        "(SELECT id, name, email, zeroblob(999999985) AS z FROM people UNION ALL SELECT 1, 2, 3, 4)",
        f"(SELECT y.id, y.email, z FROM (SELECT p.id, zeroblob(999999985) AS z {INNER}) w JOIN people y)",
    ]:
        with misses.of(view):
            statement = joined(view)
            assert EMAIL in (await engine.inspect(statement)).columns
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("UPDATE people SET email = ?", ["x" * 60])
                with pytest.raises(sqlite3.DataError, match="too big"):
                    connection.execute(statement).fetchall()
    misses.require_none()


async def test_a_record_of_very_many_values_may_become_too_big(engine: SQLiteEngine) -> None:
    for count, is_told in ((MAX_FIELDS - 1, False), (MAX_FIELDS, True)):
        emails = ", ".join(f"email AS e{number}" for number in range(count))
        inspection = await engine.inspect(joined(f"(SELECT p.id, {emails} {INNER})"))
        assert (EMAIL in inspection.columns) == is_told


def test_nothing_is_discarded_by_a_program_that_is_not_known_in_full(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute(f"EXPLAIN {joined('buyers')}").fetchall()
    assert find_discarded(rows)
    assert not find_discarded([*rows, (len(rows), "NewOpcode", 0, 0, 0, None, 0, None)])
    ending = [(address, "Noop", 0, 0, 0, None, 0, None) for address in range(len(rows), MAX_FOLLOWED + 1)]
    assert not find_discarded([*rows, *ending])
