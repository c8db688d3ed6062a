"""What SQLite says about statements: every column that a result depends on, and no other."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from askback.guards.sql.engines import Engine
from askback.guards.sql.engines.sqlite import SQLiteEngine
from tests.guards.sql.corpus_harmless import harmless
from tests.guards.sql.corpus_tricks import NOT_READ, tricks
from tests.guards.sql.misses import Misses
from tests.guards.sql.shop import script, tagged

TAGGED = frozenset(tagged("sqlite"))

SEVERAL = "SELECT 1; SELECT email FROM customers"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        for statement in script("sqlite"):
            connection.execute(statement)
        connection.commit()
    return path


@pytest.fixture
def engine(file: Path) -> SQLiteEngine:
    return SQLiteEngine(file)


async def test_it_is_an_engine(engine: SQLiteEngine) -> None:
    assert isinstance(engine, Engine) and engine.name == "SQLite"


async def test_harmless_statements_read_nothing_tagged_and_leave_no_doubt(engine: SQLiteEngine) -> None:
    for statement in harmless("sqlite"):
        inspection = await engine.inspect(statement)
        assert not inspection.columns & TAGGED and not inspection.doubts, statement
        assert inspection.is_query, statement
        assert inspection.can_be_planned != statement.startswith("EXPLAIN"), statement


async def test_tricks_are_told_by_the_column_they_read(engine: SQLiteEngine) -> None:
    for column, statement in tricks("sqlite"):
        inspection = await engine.inspect(statement)
        if column == "?" or statement == SEVERAL:
            assert inspection.doubts or inspection.writes or inspection.columns & TAGGED, statement
        elif statement not in NOT_READ["sqlite"]:
            assert column in {name.rpartition(".")[2] for name in inspection.columns & TAGGED}, statement


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c",
        "SELECT $x('), email FROM customers --')",
    ],
)
async def test_statements_that_a_second_parser_missed(engine: SQLiteEngine, statement: str) -> None:
    assert "main.customers.email" in (await engine.inspect(statement)).columns


async def test_the_columns_of_a_join_are_found_of_which_the_authorizer_is_not_told(
    engine: SQLiteEngine,
) -> None:
    for join in ("JOIN customers b USING (email)", "NATURAL JOIN people b"):
        inspection = await engine.inspect(f"SELECT a.id FROM customers a {join}")
        assert "main.customers.email" in inspection.columns and not inspection.doubts


async def test_all_columns_of_a_full_text_search_count_wherever_it_is_read(
    engine: SQLiteEngine, file: Path
) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE VIRTUAL TABLE letters USING fts5 (sender, body)")
    inspection = await engine.inspect("SELECT sender FROM letters")
    assert inspection.columns >= {"main.letters.sender", "main.letters.body"} and not inspection.doubts
    assert inspection.is_query and not inspection.writes


async def test_parameters_are_inspected_as_nulls(engine: SQLiteEngine) -> None:
    misses = Misses()
    for parameters in ["?", "?, ?2", ":a, :b", "@a, $b", "$x::y(z)", "?1, ?1"]:
        with misses.of(parameters):
            inspection = await engine.inspect(f"SELECT email, {parameters} FROM customers WHERE id = 1")
            assert "main.customers.email" in inspection.columns or inspection.doubts
            plain = await engine.inspect("SELECT email FROM customers WHERE id = ?")
            assert plain.columns == {"main.customers.id", "main.customers.email"} and not plain.doubts
    misses.require_none()


async def test_changes_are_told_in_words_with_what_they_read(engine: SQLiteEngine) -> None:
    inspection = await engine.inspect("UPDATE orders SET status = (SELECT max(email) FROM customers)")
    assert inspection.writes == ("update main.orders",)
    assert "main.customers.email" in inspection.columns
    assert not inspection.is_query and inspection.can_be_planned and not inspection.doubts
    made = await engine.inspect("CREATE TABLE copied AS SELECT name FROM customers")
    assert made.writes == ("create table main.copied",) and "main.customers.name" in made.columns


async def test_what_is_neither_read_nor_simple_change_is_a_doubt_and_never_planned(
    engine: SQLiteEngine,
) -> None:
    misses = Misses()
    for statement, word in [
        ("PRAGMA case_sensitive_like = 1", "pragma"),
        ("EXPLAIN PRAGMA case_sensitive_like = 1", "pragma"),
        ("ATTACH ':memory:' AS other", "attach"),
        ("BEGIN", "transaction"),
        ("SAVEPOINT x", "savepoint"),
        ("VACUUM", "vacuum"),
        ("ANALYZE", "analyze"),
        ("REINDEX", "reindex"),
        ("DROP TABLE orders", "drop table"),
        ("ALTER TABLE orders RENAME TO x", "alter table"),
        ("CREATE VIEW x AS SELECT email FROM customers", "create view"),
        ("CREATE TEMP VIEW orders AS SELECT email FROM customers", "create view"),
        ("CREATE TRIGGER x AFTER INSERT ON orders BEGIN SELECT 1; END", "create trigger"),
    ]:
        with misses.of(statement):
            inspection = await engine.inspect(statement)
            assert inspection.doubts and not inspection.can_be_planned and not inspection.is_query
            assert any(write.startswith(word) for write in inspection.writes)
    misses.require_none()


async def test_what_cannot_be_told_is_a_doubt(engine: SQLiteEngine) -> None:
    misses = Misses()
    for statement in [
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT * FROM dbstat",
        "SELECT c.id FROM customers c JOIN dbstat USING (name)",
        "SELECT * FROM pragma_user_version",
        "SELECT * FROM pragma_optimize",
        "SELECT 1; DROP TABLE orders",
        "SELECT 1;; ",
        ";SELECT email FROM customers",
        "EXPLAIN EXPLAIN SELECT 1",
        "QUERY PLAN SELECT email FROM customers",
        "EXPLAIN",
        "",
        " -- nothing",
        "SELECT",
        "SELECT '\0', email FROM customers",
        "SELECT '\ud800' FROM customers",
        "SELECT ?, :a FROM customers",
    ]:
        with misses.of(statement):
            inspection = await engine.inspect(statement)
            assert inspection.doubts and not (
                inspection.can_be_planned and "it calls" in inspection.doubts[0]
            )
    misses.require_none()


async def test_no_doubt_quotes_an_error_of_sqlite(engine: SQLiteEngine) -> None:
    for statement in ("SELECT secret_word FROM customers", "SELECT * FROM secret_word", "secret_word"):
        assert not any("secret_word" in doubt for doubt in (await engine.inspect(statement)).doubts)


async def test_what_is_deep_or_huge_is_a_doubt(engine: SQLiteEngine) -> None:
    misses = Misses()
    for statement in [
        "SELECT " + "(" * 10_000 + "1" + ")" * 10_000,
        "SELECT " + "NOT " * 10_000 + "1",
        "SELECT " + "-" * 9_999 + "1",
        "SELECT " + "CASE WHEN 1 THEN " * 5_000 + "1" + " END" * 5_000,
        "SELECT * FROM " + "(SELECT * FROM " * 3_000 + "orders" + ")" * 3_000,
        "SELECT '" + "x" * 1_000_000 + "'",
        "SELECT " + "1," * 100_000 + "1",
        "SELECT " + "[" * 100_000,
        "/*" * 90_000,
        "'" * 100_001,
        "SELECT 1" + " UNION SELECT 1" * 10_000,
        "SELECT 1 FROM orders a" + "".join(f" NATURAL JOIN orders a{number}" for number in range(60)),
        "WITH c0 AS (SELECT 1)"
        + "".join(f", c{n} AS (SELECT 1 FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 40))
        + " SELECT 1 FROM c39",
        "WITH c0 AS (SELECT id AS a FROM orders)"
        + "".join(f", c{n} AS (SELECT a+a AS a FROM c{n - 1})" for n in range(1, 40))
        + " SELECT a FROM c39",
        "WITH " + ", ".join(f"c{n} AS (SELECT * FROM c{n + 1})" for n in range(2_000)) + " SELECT 1",
        "SELECT a30 FROM "
        + "".join(f"(SELECT a{n - 1}+a{n - 1} AS a{n} FROM " for n in range(30, 0, -1))
        + "(SELECT id AS a0 FROM orders)"
        + ")" * 30,
    ]:
        with misses.of(statement):
            assert (await engine.inspect(statement)).doubts
    misses.require_none()


async def test_a_long_list_is_not_too_complex(engine: SQLiteEngine) -> None:
    listed = ", ".join(str(number) for number in range(20_000))
    inspection = await engine.inspect(f"SELECT id FROM orders WHERE customer_id IN ({listed})")
    assert not inspection.doubts and inspection.is_query


async def test_an_inspection_leaves_the_file_as_it_was(file: Path, engine: SQLiteEngine) -> None:
    before = await anyio.Path(file).read_bytes()
    for _, statement in tricks("sqlite"):
        await engine.inspect(statement)
    assert await anyio.Path(file).read_bytes() == before
    assert [path.name async for path in anyio.Path(file.parent).iterdir()] == ["shop.db"]
