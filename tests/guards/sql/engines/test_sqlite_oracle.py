"""Databases that differ only in tagged values: what gives other rows or another error on them must be reported."""

# ruff: noqa: E501 # a statement is one line, however long

import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from askback.guards.sql.engines.sqlite import SQLiteEngine

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, born DATE);
CREATE INDEX people_age ON people (age, email);
CREATE INDEX people_born ON people (born);
CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer INTEGER, total REAL, name TEXT);
CREATE INDEX orders_buyer ON orders (buyer);
CREATE TABLE mails (email TEXT PRIMARY KEY, age INTEGER, note TEXT) WITHOUT ROWID;
CREATE TABLE pairs (age INTEGER, note TEXT, email TEXT, name TEXT, PRIMARY KEY (name, age)) WITHOUT ROWID;
CREATE TABLE derived (id INTEGER PRIMARY KEY, email TEXT, start TEXT AS (substr(email, 1, 2)), copied TEXT AS (email) STORED, name TEXT, size AS (length(name)));
CREATE INDEX derived_start ON derived (start);
CREATE TABLE partial (id INTEGER PRIMARY KEY, age INTEGER, email TEXT, name TEXT COLLATE NOCASE);
CREATE INDEX partial_age ON partial (age) WHERE email > 'm';
CREATE INDEX partial_lower ON partial (lower(email));
CREATE INDEX partial_name ON partial (name, email);
CREATE TABLE accounts (email TEXT UNIQUE, age INTEGER CHECK (age < 1000), name TEXT);
CREATE TABLE parents (email TEXT PRIMARY KEY, age INTEGER);
CREATE TABLE children (id INTEGER, parent TEXT REFERENCES parents (email));
CREATE TABLE fired (age INTEGER);
CREATE TRIGGER fire AFTER INSERT ON fired WHEN new.age > (SELECT min(length(email)) FROM people) BEGIN SELECT RAISE(ABORT, 'no'); END;
CREATE VIRTUAL TABLE texts USING fts4(name, email);
CREATE VIEW persons AS SELECT * FROM people;
CREATE VIEW latest AS SELECT id, name FROM people ORDER BY email LIMIT 2;
CREATE VIEW tallies AS SELECT age, count(*) AS n, max(email) AS email FROM people GROUP BY age;
CREATE VIEW same AS SELECT a.id FROM people a JOIN mails b USING (email);
ANALYZE;
"""

TABLES = ("people", "mails", "pairs", "derived", "partial", "accounts", "parents", "texts")
TAGGED = frozenset({f"main.{table}.email" for table in TABLES} | {"main.people.born"})

MAILS = (
    ("ada@a", "bob@b", "cy@c", "dee@d", "zoe@z", "moe@m"),
    ("zoe@z", "dee@d", "moe@m", "bob@b", "ada@a", "x"),
    ("m", "zz@zz", "5", "bob@b", "nn", "ada@ada@a"),
)
BORN = (("1990", "1980", None, "2000", "1985", "1970"), (1, 2.5, b"x", "{bad", "a", None), tuple("fedcba"))

DEPENDENT = """
SELECT email FROM people
SELECT a.id FROM people a JOIN mails b USING (email)
SELECT id FROM same
SELECT id FROM people INDEXED BY people_age
SELECT id FROM people INDEXED BY people_born
SELECT id FROM people WHERE age = 30
SELECT group_concat(id) FROM (SELECT id FROM people INDEXED BY people_born)
SELECT age FROM mails
SELECT note FROM mails LIMIT 1
SELECT note, row_number() OVER () FROM mails
SELECT age FROM pairs WHERE email > 'm'
SELECT start FROM derived
SELECT copied FROM derived
SELECT id FROM derived INDEXED BY derived_start
SELECT id FROM partial WHERE age = 30 AND email > 'm'
SELECT count(*) FROM partial INDEXED BY partial_age WHERE email > 'm'
SELECT id FROM partial INDEXED BY partial_lower ORDER BY lower(email)
SELECT name FROM partial INDEXED BY partial_name
SELECT rowid FROM texts WHERE texts MATCH 'ada'
SELECT rowid FROM texts WHERE email MATCH 'zoe'
SELECT c1email FROM texts_content
SELECT id FROM latest
SELECT name FROM latest
SELECT email FROM tallies
SELECT id FROM orders LIMIT (SELECT length(min(email)) FROM people)
SELECT count(*) FROM (SELECT json_extract(born, '$') AS x FROM people LIMIT 3)
SELECT id FROM (SELECT id, abs(born) AS x FROM people ORDER BY x)
SELECT id FROM (SELECT DISTINCT id, json(born) AS x FROM people)
WITH t AS MATERIALIZED (SELECT id, json(born) AS x FROM people) SELECT id FROM t
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY email) AS r FROM people) WHERE r = 1
SELECT sum(x) FROM (SELECT 1 AS x FROM people GROUP BY substr(email, 2))
SELECT o.id FROM orders o LEFT JOIN people p ON p.email > 'm' AND p.age > o.buyer
SELECT (SELECT id FROM people WHERE age > o.buyer) FROM orders o
SELECT id FROM people ORDER BY age
SELECT id FROM people WHERE 1 OR email > 'm'
SELECT max(id) FROM people WHERE email > 'm'
SELECT id FROM people GROUP BY email
VALUES ((SELECT min(email) FROM people))
INSERT INTO accounts VALUES ('ada@a', 1, 'x')
INSERT INTO accounts VALUES ('zz@zz', 1, 'x') ON CONFLICT DO NOTHING RETURNING 1
INSERT INTO mails VALUES ('zz@zz', 1, 'x')
INSERT INTO children VALUES (1, 'zz@zz')
INSERT INTO fired VALUES (4)
UPDATE accounts SET email = 'ada@a' WHERE name = 'cy'
UPDATE people SET name = 'x' WHERE id = 1 RETURNING email
DELETE FROM parents WHERE email = 'zz@zz' RETURNING 1
""".strip().splitlines()

INDEPENDENT = """
SELECT id, name, age FROM people
SELECT count(*) FROM people
SELECT count(*) FROM mails
SELECT age FROM people
SELECT DISTINCT age FROM people
SELECT age, count(*) FROM people GROUP BY age
SELECT max(age) FROM people
SELECT 'x' FROM mails
SELECT size, name FROM derived
SELECT id FROM derived WHERE name = 'ada'
SELECT note, name FROM pairs
SELECT note FROM pairs WHERE name = 'ada'
SELECT name, age FROM persons
SELECT count(*) FROM persons
SELECT id FROM (SELECT * FROM people ORDER BY name)
SELECT o.id, p.name FROM orders o LEFT JOIN persons p ON p.id = o.buyer
SELECT id FROM orders WHERE buyer IN (SELECT id FROM people)
SELECT id FROM orders o WHERE EXISTS (SELECT * FROM people WHERE id = o.buyer)
WITH x AS (SELECT * FROM persons) SELECT x.name FROM x JOIN orders ON orders.buyer = x.id
UPDATE orders SET total = 1 WHERE id = 10 RETURNING id
DELETE FROM orders WHERE buyer IN (SELECT id FROM people) RETURNING id
""".strip().splitlines()


def fill(path: Path, mails: tuple[str, ...], born: tuple[object, ...]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        for place, name in enumerate(["ada", "BOB", "cy", "bob", "zoe", "Bob"]):
            mail, age = mails[place], 30 + place % 3
            connection.execute(
                "INSERT INTO people VALUES (?, ?, ?, ?, ?)", (place, name, mail, age, born[place])
            )
            connection.execute(
                "INSERT INTO orders VALUES (?, ?, ?, ?)", (place + 10, place % 4, place / 2, name)
            )
            connection.execute("INSERT INTO mails VALUES (?, ?, ?)", (mail, place, name))
            connection.execute("INSERT INTO pairs VALUES (?, ?, ?, ?)", (place, f"note {place}", mail, name))
            connection.execute("INSERT INTO derived (id, email, name) VALUES (?, ?, ?)", (place, mail, name))
            connection.execute("INSERT INTO partial VALUES (?, ?, ?, ?)", (place, age, mail, name))
            connection.execute("INSERT INTO accounts VALUES (?, ?, ?)", (mail, age, name))
            connection.execute("INSERT INTO parents VALUES (?, ?)", (mail, age))
            connection.execute("INSERT INTO texts VALUES (?, ?)", (name, mail))
        connection.commit()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made: list[Path] = []
    for number, (mails, born) in enumerate(zip(MAILS, BORN, strict=True)):
        made.append(tmp_path / f"{number}.db")
        fill(made[-1], mails, born)
    return made


@pytest.fixture
def connections(files: list[Path]) -> Generator[list[sqlite3.Connection]]:
    with ExitStack() as stack:
        opened = [stack.enter_context(closing(sqlite3.connect(path, isolation_level=None))) for path in files]
        for connection in opened:
            connection.execute("PRAGMA foreign_keys = ON")
        yield opened


def outcome(connection: sqlite3.Connection, statement: str) -> object:
    connection.execute("BEGIN")
    try:
        return connection.execute(statement).fetchall()
    except sqlite3.Error as error:
        return str(error)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


async def test_what_depends_on_a_tagged_value_is_reported(
    files: list[Path], connections: list[sqlite3.Connection]
) -> None:
    engine, differing = SQLiteEngine(files[0]), 0
    for statement in DEPENDENT:
        inspection = await engine.inspect(statement)
        if len({repr(outcome(connection, statement)) for connection in connections}) > 1:
            differing += 1
            assert inspection.columns & TAGGED or inspection.doubts, statement
    assert differing > len(DEPENDENT) * 0.8, "newer versions of SQLite read less, but not that much less"


async def test_what_does_not_depend_on_a_tagged_value_is_not_asked_about(
    files: list[Path], connections: list[sqlite3.Connection]
) -> None:
    engine = SQLiteEngine(files[0])
    for statement in INDEPENDENT:
        inspection = await engine.inspect(statement)
        assert len({repr(outcome(connection, statement)) for connection in connections}) == 1, statement
        assert not inspection.columns & TAGGED and not inspection.doubts, statement
