"""Where catalogues come from: a file, a function, a live database; what they say, and what they cannot."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from askback.errors import AuthorError, OperatorError
from askback.guards.sql import SQLCatalogue, TOMLSource, read
from askback.guards.sql.sources import Catalogued, source_of
from askback.guards.sql.sources.duckdb import DuckDBSource
from askback.guards.sql.sources.sqlite import SQLiteSource
from tests.guards.sql.misses import Misses

pytestmark = pytest.mark.anyio

FILE = """
[columns]
"main.customers.email" = "contact"
main.customers.born = "birth"

[tags.contact]
title = "contact details"
example = "ada@example.org"

[tables]
"main.customers" = ["id", "email", "born"]
"main.orders" = { id = "INTEGER", total = "DOUBLE" }

[views]
"main.people" = "SELECT * FROM customers"
"""


@pytest.fixture
def database() -> Generator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("""
            CREATE TABLE customers (id INTEGER, email VARCHAR, born DATE);
            COMMENT ON COLUMN customers.email IS 'For receipts. @personal:contact';
            COMMENT ON COLUMN customers.born IS '@Personal';
            CREATE VIEW people (number, address) AS SELECT id, email FROM customers;
            CREATE TABLE marked (name VARCHAR, tag VARCHAR, example VARCHAR);
            INSERT INTO marked VALUES ('main.customers.id', 'number', '12');
        """)
        yield connection


async def test_a_file_tells_tables_views_tags_and_what_they_look_like(tmp_path: Path) -> None:
    path = tmp_path / "personal.toml"
    path.write_text(FILE)
    known = await source_of(path).load()
    assert known.tagged == {"main.customers.email": "contact", "main.customers.born": "birth"}
    assert known.tables["main.orders"] == {"id": "INTEGER", "total": "DOUBLE"}
    assert list(known.tables["main.customers"]) == ["id", "email", "born"]
    assert known.views == {"main.people": "SELECT * FROM customers"}
    assert known.examples == {"contact": "ada@example.org"} and known.titles == {"contact": "contact details"}


async def test_a_file_counts_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "personal.toml"
    path.write_text(FILE)
    source = TOMLSource(path)
    before = await source.load()
    path.write_text(FILE.replace('"contact"', '"mail"'))
    assert (await source.load()).digest != before.digest


async def test_a_file_with_a_slip_in_it_is_refused_as_a_whole(tmp_path: Path) -> None:
    misses = Misses()
    for text, problem in [
        ("[column]\n'a.b.c' = 'x'", r"\[column\] is no section"),
        ("[columns]\n'a.b.c' = 3", "not a text"),
        ("[columns]\n'a.b.c' = ''", "not a text"),
        ("[tags]\ncontact = 'ada@example.org'", r"\[tags.contact\]"),
        ("[tags.contact]\nexampel = 'x'", "exampel means nothing"),
        ("[tables]\n'a.b' = 'c'", "neither a list"),
        ("[columns", "no TOML"),
    ]:
        with misses.of(text):
            (tmp_path / "slip.toml").write_text(text)
            with pytest.raises(OperatorError, match=problem):
                await TOMLSource(tmp_path / "slip.toml").load()
    misses.require_none()


async def test_a_function_may_tell_at_once_or_later() -> None:
    async def later() -> SQLCatalogue:
        return SQLCatalogue(tagged={"a.b.c": "x"})

    assert (
        await source_of(later).load() == await source_of(lambda: SQLCatalogue(tagged={"a.b.c": "x"})).load()
    )
    with pytest.raises(AuthorError, match="dict"):
        await source_of(dict).load()  # pyright: ignore[reportArgumentType] # authors err


@pytest.mark.parametrize("nothing", [None, [], 3])
def test_what_tells_of_no_tables_is_the_authors_mistake(nothing: Catalogued) -> None:
    with pytest.raises(AuthorError, match="TOML"):
        source_of(nothing)


async def test_duckdb_tells_its_tables_its_views_and_its_comments(
    database: duckdb.DuckDBPyConnection,
) -> None:
    known = await DuckDBSource(database).load()
    assert known.tables["main.customers"] == {"id": "INTEGER", "email": "VARCHAR", "born": "DATE"}
    assert known.tagged == {"main.customers.email": "contact", "main.customers.born": "personal"}
    reading = read(
        "SELECT address FROM people",
        dialect="duckdb",
        tables=known.tables,
        views=known.views,
        tagged=known.tagged,
    )
    assert reading.personal == {"main.customers.email": "contact"} and not reading.unresolved


async def test_tags_may_be_rows_of_a_table_or_lines_of_a_file_beside_the_database(
    database: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    known = await DuckDBSource(lambda: database, comments=False, tag_table="main.marked").load()
    assert known.tagged == {"main.customers.id": "number"} and known.examples == {"number": "12"}
    (tmp_path / "personal.toml").write_text("[columns]\n'main.customers.email' = 'mail'")
    both = await source_of([DuckDBSource(database), tmp_path / "personal.toml"]).load()
    assert both.tagged == {"main.customers.email": "mail", "main.customers.born": "personal"}
    assert "main.customers" in both.tables


async def test_a_table_of_tags_of_another_shape_is_said_to_be_so(database: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(OperatorError, match="no column 'name'"):
        await DuckDBSource(database, tag_table="customers").load()
    database.execute("INSERT INTO marked VALUES (NULL, 'x', NULL)")
    with pytest.raises(OperatorError, match="without a name"):
        await DuckDBSource(database, tag_table="marked").load()


async def test_attached_databases_go_by_their_full_names_and_no_name_is_guessed(
    database: duckdb.DuckDBPyConnection,
) -> None:
    database.execute("ATTACH ':memory:' AS other")
    database.execute("CREATE TABLE other.customers (id INTEGER, phone VARCHAR)")
    known = await DuckDBSource(database).load()
    assert {"main.customers", "other.main.customers"} <= known.tables.keys()
    tagged = {**known.tagged, "other.main.customers.phone": "contact"}
    look = {"tables": known.tables, "views": known.views, "tagged": tagged}
    reading = read("SELECT * FROM customers", dialect="duckdb", **look)  # pyright: ignore[reportArgumentType]
    assert (
        reading.unresolved
        and {"main.customers.email", "other.main.customers.phone"} <= reading.personal.keys()
    )
    reading = read("SELECT phone FROM other.customers", dialect="duckdb", **look)  # pyright: ignore[reportArgumentType]
    assert reading.personal == {"other.main.customers.phone": "contact"} and not reading.unresolved


async def test_what_has_a_dot_in_its_name_is_left_out_and_so_asked_about(
    database: duckdb.DuckDBPyConnection,
) -> None:
    database.execute('CREATE TABLE "a.b" (x INTEGER); CREATE TABLE odd ("x.y" INTEGER, z INTEGER)')
    database.execute("COMMENT ON COLUMN odd.\"x.y\" IS '@personal'")
    known = await DuckDBSource(database).load()
    look = {"tables": known.tables, "views": known.views, "tagged": known.tagged}
    for statement in ('SELECT x FROM "a.b"', "SELECT z FROM odd"):
        assert read(statement, dialect="duckdb", **look).unresolved  # pyright: ignore[reportArgumentType]


async def test_a_duckdb_file_is_opened_for_reading(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "shop.duckdb") as made:
        made.execute("CREATE TABLE t (a INTEGER)")
    assert (await DuckDBSource(tmp_path / "shop.duckdb").load()).tables == {"main.t": {"a": "INTEGER"}}
    with pytest.raises(duckdb.Error):
        await DuckDBSource(tmp_path / "nowhere.duckdb").load()


async def test_sqlite_tells_its_tables_and_views_and_takes_tags_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("""
            CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT, small TEXT AS (lower(email)));
            CREATE VIEW people (number, address) AS SELECT id, email FROM customers;
            CREATE TABLE marked (Name TEXT, Tag TEXT);
            INSERT INTO marked VALUES ('main.customers.email', 'contact');
        """)
    known = await SQLiteSource(path, tag_table="marked").load()
    assert list(known.tables["main.customers"]) == ["id", "email", "small"]
    assert known.tagged == {"main.customers.email": "contact"}
    reading = read(
        "SELECT address FROM people",
        dialect="sqlite",
        tables=known.tables,
        views=known.views,
        tagged=known.tagged,
    )
    assert reading.personal == known.tagged and not reading.unresolved
    with pytest.raises(sqlite3.Error):
        await SQLiteSource(tmp_path / "nowhere.db").load()


async def test_sqlite_reads_a_connection_with_what_is_attached_to_it() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript("CREATE TABLE a (x); ATTACH ':memory:' AS aux2; CREATE TABLE aux2.b (y);")
        known = await SQLiteSource(connection).load()
        assert known.tables.keys() == {"main.a", "aux2.b"}
    made = await SQLiteSource(lambda: sqlite3.connect(":memory:")).load()
    assert made == SQLCatalogue()


def test_sqlite_has_no_comments_and_says_so() -> None:
    with pytest.raises(AuthorError, match="no comments"):
        SQLiteSource(":memory:", comments=True)


def test_the_order_of_tables_is_no_other_catalogue_and_that_of_columns_is() -> None:
    one = SQLCatalogue(tables={"a.b": {"x": "", "y": ""}, "a.c": {"z": ""}})
    assert one.digest == SQLCatalogue(tables={"a.c": {"z": ""}, "a.b": {"x": "", "y": ""}}).digest
    assert one.digest != SQLCatalogue(tables={"a.b": {"y": "", "x": ""}, "a.c": {"z": ""}}).digest
    assert one.digest != SQLCatalogue(tables=one.tables, tagged={"a.b.x": "t"}).digest


def test_tags_that_no_table_has_are_found_whatever_case_they_are_in() -> None:
    known = SQLCatalogue(
        tables={"main.People": {"Email": ""}},
        views={"main.seen": "SELECT 1"},
        tagged={
            "main.people.email": "a",
            "people.EMAIL": "a",
            "main.seen.x": "a",
            "main.people.phone": "a",
            "hr.pay.sum": "a",
        },
    )
    assert known.find_strays() == ("main.people.phone", "hr.pay.sum")


def test_relatives_share_their_tags() -> None:
    families = frozenset({frozenset({"s.all", "s.part"}), frozenset({"s.part", "s.piece"})})
    known = SQLCatalogue(families=families, tagged={"s.part.email": "contact", "s.other.x": "y"})
    assert known.spread_tags() == {
        "s.all.email": "contact",
        "s.part.email": "contact",
        "s.piece.email": "contact",
        "s.other.x": "y",
    }
