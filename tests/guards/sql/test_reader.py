"""A reading, fact by fact: what is named, what is not, and what is said where nothing can be told."""

from typing import Any

import pytest

from askback.errors import AuthorError
from askback.guards.sql import Dialect, SQLReading, read
from tests.guards.sql.misses import Misses
from tests.guards.sql.shop import look, personal

TABLES = {
    "main.people": {"id": "INTEGER", "email": "VARCHAR"},
    "main.pets": {"id": "INTEGER", "owner": "INTEGER"},
}
TAGGED = {"main.people.email": "contact"}


def duck(statement: str) -> SQLReading:
    return read(statement, dialect="duckdb", tables=TABLES, tagged=TAGGED)


def test_columns_are_named_in_full_and_tagged_ones_with_their_tag() -> None:
    reading = duck("SELECT * FROM people WHERE id = 3")
    assert reading.columns == {"main.people.id", "main.people.email"}
    assert reading.personal == {"main.people.email": "contact"}
    assert not reading.writes and not reading.unresolved and not reading.is_clear


def test_a_column_that_is_passed_along_and_not_used_is_not_named() -> None:
    assert duck("SELECT id FROM (SELECT * FROM people)").columns == {"main.people.id"}
    assert duck("SELECT count(*) FROM people").is_clear


def test_what_is_computed_counts_though_nobody_uses_it_for_its_error_would_tell() -> None:
    assert duck("SELECT id FROM (SELECT id, CAST(email AS INTEGER) AS n FROM people)").personal


def test_what_a_statement_changes_is_said() -> None:
    misses = Misses()
    for statement, writes in [
        ("INSERT INTO pets SELECT id, id FROM people", "insert into main.pets"),
        ("UPDATE pets SET owner = 1", "update main.pets"),
        ("DELETE FROM pets", "delete from main.pets"),
        ("DROP TABLE pets", "drop table pets"),
        ("TRUNCATE pets", "truncate pets"),
        ("CREATE TABLE x AS SELECT id FROM pets", "create table"),
        ("CREATE VIEW x AS SELECT id FROM pets", "create view"),
        ("ALTER TABLE pets ADD COLUMN x INTEGER", "alter"),
        ("COPY pets TO 'pets.csv'", "copy"),
        ("COPY pets FROM 'pets.csv'", "copy"),
        ("ATTACH 'x.db' AS x", "attach"),
        ("SET threads = 1", "set"),
        ("COMMIT", "commit"),
    ]:
        with misses.of(statement):
            assert any(written.startswith(writes) for written in duck(statement).writes), duck(statement)
    misses.require_none()


def test_the_left_side_of_an_assignment_is_written_and_not_read() -> None:
    assert not duck("UPDATE people SET email = 'x' WHERE id = 1").personal


def test_a_change_makes_the_names_of_later_statements_doubtful() -> None:
    assert duck("DROP VIEW x; SELECT id FROM pets").unresolved
    assert duck("SELECT 1; SELECT id FROM pets").is_clear


def test_a_broken_statement_is_unresolved_and_raises_nothing() -> None:
    misses = Misses()
    for statement in [
        "",
        ";",
        "--",
        "SELEC id FROM pets",
        "SELECT FROM WHERE",
        "SELECT 'open",
        "SELECT (1",
        "SELECT id FROM pets WHERE",
        "\0",
    ]:
        with misses.of(statement):
            assert duck(statement).unresolved
    misses.require_none()


def test_what_is_too_deep_or_too_much_is_unresolved() -> None:
    misses = Misses()
    for statement in [
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT " + "NOT " * 5000 + "TRUE",
        "SELECT " + "CASE WHEN TRUE THEN " * 2000 + "1" + " END" * 2000,
        "SELECT id FROM " + "(SELECT * FROM " * 2000 + "pets" + ")" * 2000,
        "SELECT 1 FROM pets a " + "JOIN pets b " * 3000 + "ON TRUE " * 3000,
        "EXPLAIN " * 10_000 + "SELECT 1",
        "SELECT '" + "x" * 300_000 + "'",
    ]:
        with misses.of(statement):
            assert duck(statement).unresolved
    misses.require_none()


def test_what_was_not_understood_is_quoted() -> None:
    assert duck("SELECT reveal(id) FROM pets").unresolved == ("a function of which nothing is known: reveal",)
    assert duck("SELECT * FROM nowhere").unresolved == ("not in the catalogue: nowhere",)
    assert duck("SELECT nothing FROM pets").unresolved == ("no such column: nothing",)


def test_what_is_not_understood_names_the_tagged_columns_in_its_text() -> None:
    for statement in ("SELECT email FROM ONLY (customers)", "CREATE INDEX i ON customers (Email)", "EMAIL ("):
        reading = look(statement, "postgres")
        assert reading.unresolved and personal(reading) == {"email"}, statement
    assert personal(look('LOAD "Full Name"', "duckdb")) == {"Full Name"}


def test_a_view_that_is_no_query_is_told_where_it_is_used_and_changes_nothing() -> None:
    tables, views = {"main.t": {"a": "INTEGER"}}, {"main.v": "selec a ("}
    assert read("SELECT a FROM t", dialect="duckdb", tables=tables, views=views).is_clear
    used = read("SELECT a FROM v", dialect="duckdb", tables=tables, views=views)
    assert used.unresolved and not used.writes


def test_a_tag_that_the_tables_lack_may_stand_anywhere_among_the_columns() -> None:
    tables, tagged = {"main.t": {"a": "INTEGER"}}, {"main.t.b": "secret"}
    reading = read("SELECT x FROM t AS t(x)", dialect="duckdb", tables=tables, tagged=tagged)
    assert dict(reading.personal) == tagged


def test_readings_can_be_compared_and_kept_in_sets() -> None:
    assert {
        look("SELECT email FROM customers", "duckdb"),
        look("SELECT  email FROM customers", "duckdb"),
    } == {look("SELECT email FROM customers c", "duckdb")}


@pytest.mark.parametrize("statement", [None, 5, b"SELECT 1"])
def test_a_statement_is_a_text(statement: Any) -> None:
    with pytest.raises(AuthorError, match="text"):
        look(statement, "duckdb")


@pytest.mark.parametrize("tables", [None, {"main.t": ["a", "b"]}, [("main.t", "a")]])
def test_a_catalogue_of_another_form_is_the_authors_mistake(tables: Any) -> None:
    with pytest.raises(AuthorError, match="form"):
        read("SELECT 1", dialect="duckdb", tables=tables)


def test_a_name_that_two_schemas_have_is_not_guessed() -> None:
    both = {"main.people": {"id": "INTEGER"}, "hr.people": {"id": "INTEGER", "pay": "INTEGER"}}
    assert read("SELECT id FROM people", dialect="duckdb", tables=both).unresolved
    assert read("SELECT id FROM hr.people", dialect="duckdb", tables=both).columns == {"hr.people.id"}


def test_each_engine_folds_names_its_own_way() -> None:
    odd = {"public.people": {"Email": "text", "email": "text"}}
    tagged = {"public.people.Email": "contact"}
    assert read('SELECT "Email" FROM people', dialect="postgres", tables=odd, tagged=tagged).personal
    assert read("SELECT Email FROM PEOPLE", dialect="postgres", tables=odd, tagged=tagged).is_clear
    assert read('SELECT "Email" FROM "People"', dialect="postgres", tables=odd, tagged=tagged).unresolved
    for dialect in ("duckdb", "sqlite", "trino"):
        one = {"public.people": {"Email": "text"}}
        assert read('SELECT "eMAIL" FROM "PEOPLE"', dialect=dialect, tables=one, tagged=tagged).personal


def test_postgres_cuts_long_names_and_so_do_we() -> None:
    name = "e" * 63
    tables = {"public.people": {name: "text"}}
    assert read(f"SELECT {name}xyz FROM people", dialect="postgres", tables=tables).columns == {
        f"public.people.{name}"
    }


def test_a_tag_tells_of_a_column_that_the_list_of_tables_has_missed() -> None:
    stale = {"main.people": {"id": "INTEGER"}}
    assert read("SELECT * FROM people", dialect="duckdb", tables=stale, tagged=TAGGED).personal == TAGGED


def test_a_view_reveals_what_it_is_made_from_and_only_where_it_is_used() -> None:
    assert personal(look("SELECT reach FROM contacts", "duckdb")) == {"email"}
    assert look("SELECT id FROM contacts", "duckdb").is_clear
    assert personal(look("SELECT id FROM grown", "duckdb")) == {"born"}


def test_a_view_may_be_given_as_it_was_created_and_may_carry_tags_itself() -> None:
    views = {"main.seen": "CREATE VIEW seen AS SELECT id, email AS address FROM people;"}
    reading = read("SELECT address FROM seen", dialect="duckdb", tables=TABLES, views=views, tagged=TAGGED)
    assert reading.personal == TAGGED and not reading.writes and not reading.unresolved
    own = read(
        "SELECT id FROM seen", dialect="duckdb", tables=TABLES, views=views, tagged={"main.seen.id": "number"}
    )
    assert own.personal == {"main.seen.id": "number"}


def test_views_that_name_each_other_are_unresolved() -> None:
    views = {"main.a": "SELECT * FROM b", "main.b": "SELECT * FROM a"}
    assert read("SELECT * FROM a", dialect="duckdb", tables=TABLES, views=views).unresolved


def test_the_row_number_of_sqlite_is_its_integer_key() -> None:
    tagged = {"main.people.id": "number"}
    for name in ("rowid", "oid", "_rowid_"):
        assert (
            read(f"SELECT {name} FROM people", dialect="sqlite", tables=TABLES, tagged=tagged).personal
            == tagged
        )


def test_a_change_of_the_catalogue_is_another_reading() -> None:
    tables = {"main.people": {"id": "INTEGER", "email": "VARCHAR"}}
    assert read("SELECT * FROM people", dialect="duckdb", tables=tables).is_clear
    tables["main.people"]["phone"] = "VARCHAR"
    assert "main.people.phone" in read("SELECT * FROM people", dialect="duckdb", tables=tables).columns
    assert read("SELECT * FROM people", dialect="duckdb", tables=tables, tagged=TAGGED).personal


def test_a_column_that_is_renamed_by_its_place_may_be_any_of_its_table() -> None:
    assert duck("SELECT y FROM (SELECT * FROM people) AS q(x, y)").personal == TAGGED
    assert duck("SELECT x FROM (SELECT * FROM people) AS q(x, y)").personal == TAGGED


def test_columns_that_double_at_each_step_are_read_once() -> None:
    steps = ", ".join(f"c{n + 1} AS (SELECT *, * FROM c{n})" for n in range(64))
    reading = duck(f"WITH c0 AS (SELECT * FROM pets), {steps} SELECT * FROM c64")
    assert reading.columns == {"main.pets.id", "main.pets.owner"} and reading.is_clear


def test_a_dialect_that_is_not_read_is_the_authors_mistake() -> None:
    with pytest.raises(AuthorError, match="duckdb"):
        read("SELECT 1", dialect="mysql", tables={})  # type: ignore[arg-type] # authors err


def test_a_tag_without_a_table_is_the_authors_mistake_and_not_passed_over() -> None:
    with pytest.raises(AuthorError, match=r"schema\.table\.column"):
        read("SELECT 1", dialect="duckdb", tables=TABLES, tagged={"email": "contact"})


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite", "trino"])
def test_where_engine_and_parser_may_part_words_differently_it_is_said(dialect: Dialect) -> None:
    for statement in (
        "SELECT 1 {# , email #}",
        "SELECT 1 --\r, 2",
        "SELECT\u00a01",
        "SELECT /*+ ' */ 1 -- '",
        "SELECT 1e'x'",
    ):
        assert look(statement, dialect).unresolved, statement


def test_every_space_but_the_common_four_is_doubtful() -> None:
    spaces = {chr(code) for code in range(0x110000) if chr(code).isspace()} - set(" \t\n\r")
    for space in {*spaces, "\0", "\x1b", "\x7f", "\u200b", "\u200e", "\ufeff"}:
        assert duck(f"SELECT{space}1").unresolved, hex(ord(space))


def test_where_two_tables_have_a_name_the_tagged_columns_of_both_are_named() -> None:
    tables = {"main.people": {"id": "INTEGER", "email": "VARCHAR"}, "hr.people": {"pay": "INTEGER"}}
    tagged = {"main.people.email": "contact", "hr.people.pay": "money"}
    views = {"old.people": "SELECT email AS reach FROM main.people"}
    every = read("SELECT * FROM people", dialect="duckdb", tables=tables, views=views, tagged=tagged)
    assert every.personal == tagged and every.unresolved
    for column, name in {
        "email": "main.people.email",
        "pay": "hr.people.pay",
        "reach": "main.people.email",
    }.items():
        reading = read(
            f"SELECT {column} FROM people", dialect="duckdb", tables=tables, views=views, tagged=tagged
        )
        assert set(reading.personal) == {name}


def test_a_tagged_column_of_a_table_that_is_not_in_the_catalogue_is_named() -> None:
    tagged = {"hr.Staff.Pay": "money"}
    for statement in ("SELECT pay FROM staff", "SELECT * FROM hr.staff", "SELECT s.PAY FROM HR.STAFF s"):
        reading = read(statement, dialect="duckdb", tables=TABLES, tagged=tagged)
        assert reading.personal == tagged and reading.unresolved, statement
