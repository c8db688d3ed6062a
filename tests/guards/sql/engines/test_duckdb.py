"""What a real DuckDB says about statements, and what it does not do meanwhile."""

import threading
from collections.abc import Generator
from pathlib import Path

import anyio
import duckdb
import pytest

from askback.errors import ChangedSinceApproval
from askback.guards.sql.engines import Engine, Inspection
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.sources.duckdb import DuckDBSource
from tests.guards.sql.corpus_harmless import harmless
from tests.guards.sql.corpus_tricks import NOT_READ, tricks
from tests.guards.sql.engines.approved import run_approved
from tests.guards.sql.engines.attempts_duckdb import ATTEMPTS, DIFFERENCE, EXTRA, FREE, TAGGED
from tests.guards.sql.misses import Misses
from tests.guards.sql.shop import script, tagged

SHOP = frozenset(tagged("duckdb"))

ISSUE = {
    "SELECT 'x' AS z\u2060UNION\u2060ALL\u2060SELECT\u2060email\u2060FROM\u2060customers",
    "SELECT * EXCLUDE (email, born) FROM (SELECT *, email FROM customers) x",
    "SELECT count(*) FROM (SELECT NULL::UUID AS a UNION ALL SELECT email FROM customers)",
}

Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def connection() -> Generator[Connection]:
    with duckdb.connect() as connection:
        for statement in script("duckdb"):
            connection.execute(statement)
        yield connection


@pytest.fixture
def engine(connection: Connection) -> DuckDBEngine:
    return DuckDBEngine(connection)


@pytest.fixture(scope="module")
def twins() -> Generator[tuple[Connection, Connection]]:
    """Two databases that differ in tagged values alone."""
    with duckdb.connect() as first, duckdb.connect() as second:
        for twin in (first, second):
            for statement in [*script("duckdb"), *EXTRA, "SET threads = 1"]:
                twin.execute(statement)
        for statement in DIFFERENCE:
            second.execute(statement)
        yield first, second


def outcome(connection: Connection, statement: str) -> object:
    try:
        return connection.cursor().execute(statement).fetchall()
    except duckdb.Error as error:
        return f"{type(error).__name__}: {error}"


# What is read


async def test_it_is_an_engine(engine: DuckDBEngine):
    assert isinstance(engine, Engine) and engine.name == "DuckDB"


async def test_harmless_statements_read_no_tagged_column_and_raise_no_doubt(engine: DuckDBEngine):
    for statement in harmless("duckdb"):
        found = await engine.inspect(statement)
        assert (found.columns & SHOP, found.doubts, found.writes) == (set(), (), ()), statement
        assert found.is_query, statement


async def test_tricks_are_found_by_their_column_or_doubted(engine: DuckDBEngine):
    doubted = 0
    for column, statement in tricks("duckdb"):
        if statement in NOT_READ["duckdb"]:
            continue
        found = await engine.inspect(statement)
        names = {name.rpartition(".")[2] for name in found.columns & SHOP}
        assert column in names or found.doubts or (column == "?" and names), statement
        doubted += column != "?" and column not in names
    assert doubted <= 10


async def test_what_got_out_before_is_found(engine: DuckDBEngine):
    misses = Misses()
    for statement in sorted(ISSUE):
        with misses.of(statement):
            assert "main.customers.email" in (await engine.inspect(statement)).columns
    misses.require_none()


async def test_an_argument_of_an_unused_overload_is_found(engine: DuckDBEngine):
    found = await engine.inspect(r"SELECT decode('\xff'::BLOB, (SELECT #3 FROM customers OFFSET 41 LIMIT 1))")
    assert "main.customers.email" in found.columns or found.doubts


async def test_nothing_tells_two_databases_apart_unasked(twins: tuple[Connection, Connection]):
    first, second = twins
    engine = DuckDBEngine(first)
    for statement in ATTEMPTS:
        found = await engine.inspect(statement)
        if not (found.doubts or found.writes or found.columns & (SHOP | TAGGED)):
            assert outcome(first, statement) == outcome(second, statement), statement


async def test_what_does_not_depend_on_tagged_values_is_not_asked_about(twins: tuple[Connection, Connection]):
    misses = Misses()
    for statement in FREE:
        with misses.of(statement):
            found = await DuckDBEngine(twins[0]).inspect(statement)
            assert not found.doubts and not found.columns & (SHOP | TAGGED)
    misses.require_none()


async def test_columns_of_views_count_as_far_as_they_are_named(engine: DuckDBEngine):
    named = (await engine.inspect("SELECT reach FROM contacts")).columns
    assert {"main.contacts.reach", "main.people.email", "main.customers.email"} <= named
    assert "main.contacts.country" not in named
    assert "main.contacts.reach" not in (await engine.inspect("SELECT id FROM contacts")).columns
    assert "main.contacts.reach" in (await engine.inspect("FROM contacts")).columns


async def test_generated_columns_count_with_what_they_are_computed_from(twins: tuple[Connection, Connection]):
    for column in ("low", "mail"):
        found = await DuckDBEngine(twins[0]).inspect(f"SELECT {column} FROM gen")
        assert found.columns == {"main.gen.mail", "main.gen.low"}


async def test_tables_of_attached_databases_have_their_database_in_front(connection: Connection):
    connection.execute(
        "ATTACH ':memory:' AS other; CREATE TABLE other.main.t(a INT); CREATE TABLE \"x.y\"(a INT)"
    )
    engine = DuckDBEngine(connection)
    assert (await engine.inspect("SELECT a FROM other.t")).columns == {"other.main.t.a"}
    assert (await engine.inspect('SELECT a FROM "x.y"')).doubts == ("a name in it has a dot",)


@pytest.mark.parametrize(
    "statement", ["SELECT id FROM customers WHERE email = $1", "SELECT id FROM customers WHERE email = ?"]
)
async def test_parameters_are_values_without_a_name(engine: DuckDBEngine, statement: str):
    found = await engine.inspect(statement)
    assert found.columns == {"main.customers.id", "main.customers.email"} and not found.doubts


@pytest.mark.parametrize("statement", ["SELECT COLUMNS($1) FROM customers", "SELECT * FROM range($1)"])
async def test_a_parameter_that_decides_what_is_read_is_a_doubt(engine: DuckDBEngine, statement: str):
    assert (await engine.inspect(statement)).doubts == ("what it reads depends on a parameter",)


# What is decided before anything is bound


async def test_no_file_is_opened_to_be_inspected(engine: DuckDBEngine, tmp_path: Path):
    misses = Misses()
    for source in [
        "'{file}'",
        '"{file}"',
        "read_csv('{file}')",
        "read_text('{file}')",
        "glob('{file}')",
        "(SELECT * FROM read_csv('{file}'))",
        "customers, '{file}'",
        '(WITH "{file}" AS (SELECT 1) SELECT 1) AS x, "{file}"',
        "query('SELECT 1')",
        "query_table('customers')",
        "duckdb_secrets()",
        "seq_scan('customers')",
    ]:
        with misses.of(source):
            (file := tmp_path / "secret.csv").write_text("a,b\n1,2\n")
            found = await engine.inspect(f"SELECT * FROM {source.format(file=file)}")
            assert found.doubts and not found.can_be_planned and not found.is_query
    misses.require_none()


async def test_a_database_is_not_imported_to_be_inspected(engine: DuckDBEngine, tmp_path: Path):
    (tmp_path / "schema.sql").write_text("CREATE TABLE imported(a INT);")
    found = await engine.inspect(f"IMPORT DATABASE '{tmp_path}'")
    assert found.writes == ("import database",) and found.doubts


@pytest.mark.parametrize(
    "definition",
    [
        "CREATE VIEW hidden AS SELECT 1 AS a FROM customers WHERE 1 = (SELECT count(*) FROM duckdb_secrets())",
        "CREATE MACRO hidden() AS TABLE SELECT current_setting('threads')",
        "CREATE MACRO lcase(x) AS current_setting('threads')",
        "CREATE MACRO \"||\"(a, b) AS current_setting('threads')",
    ],
)
async def test_views_and_macros_are_looked_into(connection: Connection, definition: str):
    engine = DuckDBEngine(connection)
    await engine.inspect("SELECT 1")
    connection.execute(definition)
    use = "hidden()" if "TABLE" in definition else "hidden" if "VIEW" in definition else "customers"
    fresh = engine if use != "customers" else DuckDBEngine(connection)
    found = await fresh.inspect(f"SELECT lcase(country) || 'x' FROM customers, {use} AS h")
    plain = await fresh.inspect(f"SELECT lcase(country || 'x') FROM {use} AS h")
    assert found.doubts and plain.doubts and not found.can_be_planned


async def test_a_macro_cannot_stand_in_for_what_inspects(connection: Connection):
    for name in ("json_serialize_sql", "json_serialize_plan"):
        connection.execute(f"CREATE MACRO {name}(x, optimize := true) AS '{{\"error\": false}}'")
    connection.execute("CREATE MACRO duckdb_views() AS TABLE SELECT 1 AS a")
    found = await DuckDBEngine(connection).inspect("SELECT email FROM people")
    assert "main.customers.email" in found.columns or found.doubts


async def test_what_binding_would_choke_on_is_not_bound(engine: DuckDBEngine):
    misses = Misses()
    for statement in [
        "SELECT len(range(1000000000))",
        "SELECT repeat('x', 1000000000)",
        "SELECT repeat(repeat('x', 9999), 9999)",
        "SELECT repeat('x', 9999 * 9999)",
        "SELECT lpad('x', '999999999'::INT + 1, 'y')",
        "SELECT [range(x) for x in [1000000000]]",
        "SELECT format('{:999999999d}', 1)",
        "SELECT repeat('a', 9999) AS a, repeat(a, 3000) AS b, regexp_matches('x', b)",
        "SELECT 999 AS n, list_aggregate([1], repeat('a', n * n * 2))",
        "SELECT 9999 AS n, strptime('2020', range(n * n * 3)::VARCHAR)",
        "SELECT 'aaaa' AS a, replace(a, 'a', 'bb') AS b FROM customers",
        f"SELECT list_aggregate([1], '{'x' * 90_000}')",
        "SELECT list_aggregate([1], name) FROM customers",
    ]:
        with misses.of(statement):
            with anyio.fail_after(10):
                found = await engine.inspect(statement)
            assert "of any length" in found.doubts[0] and not found.can_be_planned
    misses.require_none()


async def test_calls_that_are_large_together_are_not_bound(engine: DuckDBEngine):
    found = await engine.inspect(f"SELECT regexp_matches('x', {' || '.join(['repeat(9999)'] * 40)})")
    assert found.doubts and not found.can_be_planned


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT replace(country, 'a', 'b') AS country FROM customers",
        "SELECT repeat('-', id) AS line, repeat('=', id) FROM orders",
        "SELECT list_aggregate([1, 2], 'sum')",
        "SELECT lpad(status, 10, ' ') AS status FROM orders",
    ],
)
async def test_calls_of_everyday_length_are_bound(engine: DuckDBEngine, statement: str):
    assert not (await engine.inspect(statement)).doubts


def hexed(text: str) -> str:
    return "hex(" * 32 + text + ")" * 32


HEXED = hexed("'a'")

COSTLY = [
    f"SELECT {HEXED} FROM customers",
    f"SELECT id FROM customers LIMIT length({HEXED})",
    f"SELECT id FROM customers WHERE country = (SELECT {HEXED})",
    f"SELECT hex(CASE WHEN true THEN {HEXED} END) FROM customers",
    f"SELECT * FROM range(length({HEXED}))",
    f"SELECT count(*) FILTER (WHERE country = {HEXED}) FROM customers",
    f"SELECT string_agg(country, ',' ORDER BY {HEXED}) FROM customers",
    f"SELECT count(*) OVER (PARTITION BY {HEXED}) FROM customers",
    f"SELECT (SELECT CASE WHEN {hexed(HEXED)} LIKE '{'%a_' * 12}' THEN 1 END) FROM customers",
    "SELECT 'a' AS b0, " + ", ".join(f"hex(b{n}) AS b{n + 1}" for n in range(32)) + " FROM customers",
    f"SELECT list_transform(['a'], lambda x: {hexed('x')})",
    f"SELECT list_reduce([{', '.join(['1'] * 40)}], lambda x, y: x || x) FROM customers",
    f"SELECT list_transform(['{'a' * 40_000}'], lambda x: levenshtein(x, x))",
    "SELECT json_pretty(repeat('[', 9000) || repeat(']', 9000)) FROM customers",
    f"SELECT levenshtein('{'a' * 49_000}', '{'b' * 49_000}')",
    f"SELECT id FROM customers LIMIT length(array_to_string(string_split('{'a' * 9_000}', ''), '{'b' * 9_000}'))",
    f"SELECT id FROM customers LIMIT ('{'a' * 60}' LIKE '{'%a_' * 12}b')::INT",
    f"SELECT id FROM customers LIMIT ('{'a' * 60}' GLOB '{'*a?' * 12}b')::INT",
]


async def test_what_takes_too_much_to_be_computed_is_not_bound(engine: DuckDBEngine):
    misses = Misses()
    for statement in COSTLY:
        with misses.of(statement):
            with anyio.fail_after(10):
                found = await engine.inspect(statement)
            assert (
                found.doubts == ("DuckDB would compute too much before it runs",) and not found.can_be_planned
            )
    misses.require_none()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT strftime(date_trunc('month', today() - INTERVAL 3 MONTH), '%Y-%m'), trim(replace('a', 'a', 'b'))",
        "SELECT id FROM orders WHERE status LIKE '%a%b%c%' AND upper(trim(lower(status))) NOT LIKE '%\\_%' ESCAPE '\\'",
        f"SELECT list_contains([{', '.join(['1'] * 900)}], id), concat('a', 'b', 'c', 'd'), md5('abc') FROM orders",
        f"SELECT coalesce(lower(status), '{'x' * 5_000}'), hex(status), bin(hex(hex(hex(status)))) FROM orders",
    ],
)
async def test_what_is_computed_of_constants_every_day_is_bound(engine: DuckDBEngine, statement: str):
    assert not (await engine.inspect(statement)).doubts


@pytest.mark.parametrize(
    "statement", ["SELECT '::1'::INET", "SELECT inet '::1'", "SELECT NULL::STRUCT(a INET[])"]
)
async def test_no_extension_is_fetched_for_a_type(engine: DuckDBEngine, statement: str):
    found = await engine.inspect(statement)
    assert found.doubts == ("there is no type inet",) and not found.can_be_planned


async def test_types_of_the_author_are_known(connection: Connection):
    connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    statement = (
        "SELECT 'sad'::mood, 1::BIGINT, now()::TIMESTAMP WITH TIME ZONE, '1'::JSON, NULL::MAP(INT, TEXT)"
    )
    assert not (await DuckDBEngine(connection).inspect(statement)).doubts


async def test_what_a_pivot_has_left_behind_is_a_doubt(engine: DuckDBEngine):
    """DuckDB keeps the values of a column that was pivoted as a type."""
    assert (await engine.inspect("SELECT labels FROM duckdb_types()")).doubts


async def test_other_statements_are_changes_by_their_kind_and_a_doubt(engine: DuckDBEngine):
    misses = Misses()
    for statement, word in [
        ("DROP TABLE customers", "drop table"),
        ("create or replace temp macro m() as 1", "create macro"),
        ("/* x */ -- y\n SET threads = 1", "set"),
        ("PRAGMA table_info('customers')", "pragma"),
        ("ATTACH ':memory:' AS other", "attach"),
        ("COPY customers TO 'x.csv'", "copy"),
        ("CALL pragma_version()", "call"),
        ("BEGIN", "begin"),
        ("PREPARE p AS SELECT 1", "prepare"),
        ("MERGE INTO countries t USING customers c ON t.code = c.country WHEN MATCHED THEN DELETE", "merge"),
        ("INSERT INTO countries VALUES ('a', 'b') ON CONFLICT DO NOTHING", "insert into main.countries"),
        ("SELECT 1; DROP VIEW people", "several statements"),
        ("EXPLAIN ANALYZE SELECT 1", "explain"),
    ]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert (
                found.writes == (word,) and found.doubts and not found.is_query and not found.can_be_planned
            )
    misses.require_none()


async def test_changes_of_rows_say_what_they_read(engine: DuckDBEngine):
    misses = Misses()
    for statement, word, columns in [
        ("INSERT INTO countries SELECT 'xx', email FROM customers", "insert into main.countries", {"email"}),
        (
            "INSERT INTO countries (code) VALUES ('x') RETURNING title",
            "insert into main.countries",
            {"title"},
        ),
        ("UPDATE customers SET name = email WHERE id = 7", "update main.customers", {"email", "id", "name"}),
        (
            "DELETE FROM countries WHERE title IN (SELECT email FROM customers)",
            "delete from main.countries",
            {"email"},
        ),
        ('CREATE TABLE "new one" AS SELECT email FROM people', "create table new one", {"email"}),
        ("create or replace view people as select born from customers", "create view main.people", {"born"}),
    ]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert found.writes == (word,) and not found.doubts and not found.is_query
            assert columns <= {name.rpartition(".")[2] for name in found.columns}
    misses.require_none()


async def test_a_change_tells_of_the_keys_that_it_can_violate(connection: Connection, engine: DuckDBEngine):
    connection.execute("CREATE TABLE keyed(a INT, b INT, c INT, CHECK (a < b)); CREATE TABLE free(a INT)")
    columns = (await engine.inspect("INSERT INTO keyed VALUES (1, 2, 3)")).columns
    assert columns == {"main.keyed.a", "main.keyed.b"}
    connection.execute("CREATE UNIQUE INDEX by_c ON keyed(c)")
    assert "main.keyed.c" in (await engine.inspect("INSERT INTO keyed VALUES (1, 2, 3)")).columns
    assert not (await engine.inspect("INSERT INTO free VALUES (1)")).columns


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="DuckDB 1 has no changes within WITH")
async def test_a_change_within_a_query_is_a_change(engine: DuckDBEngine):
    found = await engine.inspect("WITH x AS (DELETE FROM orders RETURNING *) SELECT 1 FROM x")
    assert found.writes and found.doubts and not found.is_query and not found.can_be_planned


# Hostile texts


HOSTILE = {
    "nothing": "",
    "a comment": "-- nothing",
    "a NUL": "SELECT 1 \0",
    "a lone surrogate": "SELECT '\ud800'",
    "a megabyte": "SELECT '" + "x" * 1_000_000 + "'",
    "two statements": "SELECT 1; SELECT 2",
    "no SQL": "selec * from orders",
    "a column that is not there": "SELECT nothing FROM orders",
    "brackets": "SELECT " + "(" * 10_000 + "1" + ")" * 10_000,
    "open brackets": "SELECT " + "(" * 10_000,
    "lists": "SELECT " + "ARRAY[" * 10_000 + "1" + "]" * 10_000,
    "types": "SELECT NULL::" + "STRUCT(a " * 5_000 + "INT" + ")" * 5_000,
    "subqueries": "SELECT * FROM " + "(SELECT * FROM " * 5_000 + "orders" + ")" * 5_000,
    "sums": "SELECT " + "1 + " * 10_000 + "1",
    "many sums": "SELECT " + "id + " * 900 + "1 FROM orders",
    "signs": "SELECT " + "- " * 10_000,
    "signs of two kinds": "SELECT " + "-+" * 10_000 + "1",
    "signs with comments": "SELECT " + "- --'\n" * 5_000,
    "signs with other blanks": "SELECT " + "-\u2060" * 10_000,
    "comments within comments": "SELECT " + "/*" * 40_000,
    "nots": "SELECT " + "NOT " * 10_000 + "true",
    "cases": "SELECT " + "CASE WHEN true THEN " * 5_000 + "1" + " END" * 5_000,
    "unions": "SELECT 1" + " UNION ALL SELECT 1" * 9_000,
    "joins": "SELECT 1 FROM orders" + "".join(f" JOIN orders o{n} USING (id)" for n in range(3_000)),
    "CTEs": "WITH a0 AS (FROM orders)"
    + "".join(f", a{n} AS (FROM a{n - 1})" for n in range(1, 900))
    + " FROM a899",
    "lambdas": "SELECT " + "list_transform([1], lambda x: " * 40 + "1" + ")" * 40,
    "arrows": "SELECT notes" + "->'a'" * 40 + " FROM customers",
    "values": "VALUES " + ", ".join("(1)" for _ in range(20_000)),
    "dots": "SELECT " + "a." * 10_000 + "id FROM orders",
    "hidden dots": "SELECT " + "a/**/ . " * 10_000 + "id FROM orders",
}


async def test_a_hostile_text_is_a_doubt_and_ends(engine: DuckDBEngine):
    misses = Misses()
    for name in HOSTILE:
        with misses.of(name):
            with anyio.fail_after(20):
                found = await engine.inspect(HOSTILE[name])
            assert (found.doubts or name == "arrows") and not found.columns & SHOP
            assert not any("\n" in doubt or len(doubt) > 160 for doubt in found.doubts)
    misses.require_none()


async def test_no_text_of_the_engine_is_in_a_doubt(engine: DuckDBEngine):
    for statement in (
        "SELECT nothing_at_all FROM orders",
        "SELECT 'x'::INT FROM FROM",
        "SELECT id FROM customers GROUP BY 2",
    ):
        (doubt,) = (await engine.inspect(statement)).doubts
        assert doubt in {"DuckDB does not accept it", "DuckDB cannot parse it"}


async def test_threads_that_the_engine_does_not_let_go_are_few():
    release = threading.Event()

    def connect() -> Connection:
        assert release.wait(20)
        return duckdb.connect()  # each its own: a thread that was left may still use the one before

    engine = DuckDBEngine(connect, timeout=0.01)
    late = [await engine.inspect("SELECT 1") for _ in range(3)]
    assert [found.doubts[0] for found in late] == [
        "DuckDB took too long to say what it reads",
        "DuckDB took too long to say what it reads",
        "DuckDB is still busy with earlier statements",
    ]
    release.set()
    with anyio.fail_after(20):
        while (await engine.inspect("SELECT 1")).doubts:
            engine = DuckDBEngine(connect)


def doubling(kind: str) -> str:
    """A short text that doubles with each level when it is parsed or bound."""
    levels = range(40)
    if kind == "aliases":
        return f"SELECT id x0, {', '.join(f'x{n} + x{n} x{n + 1}' for n in levels)} FROM customers"
    if kind == "stars":
        return "SELECT *, * FROM (" * 40 + "SELECT * FROM customers" + ")" * 40
    if kind == "WITH queries":
        queries = ", ".join(f"x{n + 1} AS (SELECT * FROM x{n}, x{n} z)" for n in levels)
        return f"WITH x0 AS (SELECT id FROM customers), {queries} SELECT 1 FROM x40"
    if kind == "limits":
        return "SELECT " + "(SELECT 1 LIMIT " * 40 + "1" + ")" * 40
    if kind == "wrong WITH queries":
        return "SELECT " + "(WITH a AS (" * 40 + "1" + ") SELECT 1)" * 40
    text = "'aaaaaaaaaa'"
    for _ in range(9):
        text = f"replace({text}, 'a', 'aaaaaaaaaa')"
    return f"SELECT regexp_matches(name, {text}) FROM customers"


async def test_what_doubles_with_each_level_is_not_bound(engine: DuckDBEngine):
    misses = Misses()
    for kind in ["aliases", "stars", "WITH queries", "limits", "wrong WITH queries", "texts"]:
        with misses.of(kind):
            found = await engine.inspect(doubling(kind))
            assert found.doubts and not found.can_be_planned
    misses.require_none()


async def test_aliases_and_with_queries_of_everyday_length_are_bound(engine: DuckDBEngine):
    pipeline = ", ".join(f"x{n + 1} AS (SELECT *, id + {n} AS y{n} FROM x{n})" for n in range(20))
    last = "SELECT id, y3, y19, y3 + y4 AS z, z * z AS w FROM x20"
    found = await engine.inspect(f"WITH x0 AS (SELECT id, country FROM customers), {pipeline} {last}")
    assert not found.doubts


# The author's connection


REFUSED = [
    "SELECT email FROM people",
    "PIVOT orders ON status USING sum(total)",
    "SELECT error('x')",
    "SET threads = 7",
    "COMMIT",
    "ROLLBACK",
    "DROP TABLE orders",
]

SETTINGS = "SELECT name, value FROM duckdb_settings() ORDER BY name"


async def test_the_connection_is_as_before(connection: Connection):
    connection.execute("CREATE TEMP TABLE mine AS SELECT 7 AS a; PREPARE p AS SELECT 42; SET VARIABLE v = 3")
    connection.execute("SET lock_configuration = true")
    before = connection.execute(SETTINGS).fetchall()
    connection.execute("BEGIN; INSERT INTO orders VALUES (99, 1, 1, '2026-01-01', 'new')")
    engine = DuckDBEngine(connection)
    for statement in [*REFUSED, *HOSTILE.values()]:
        await engine.inspect(statement)
    assert connection.execute("SELECT count(*) FROM orders WHERE id = 99").fetchall() == [(1,)]
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT count(*) FROM orders WHERE id = 99").fetchall() == [(0,)]
    assert connection.execute(SETTINGS).fetchall() == before
    assert connection.execute("EXECUTE p").fetchall() == [(42,)]
    assert connection.execute("SELECT a, getvariable('v') FROM mine").fetchall() == [(7, 3)]
    assert connection.execute("SELECT count(*) FROM duckdb_prepared_statements()").fetchall() == [(1,)]


async def test_many_may_ask_at_once(engine: DuckDBEngine):
    async def ask(column: str) -> None:
        assert (await engine.inspect(f"SELECT {column} FROM customers")).columns == {
            f"main.customers.{column}"
        }

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            for column in ("id", "email", "country"):
                tasks.start_soon(ask, column)


async def test_a_database_that_cannot_be_reached_is_an_error(tmp_path: Path):
    connection = duckdb.connect()
    connection.close()
    for database in (connection, tmp_path / "nowhere.db"):
        with pytest.raises(duckdb.Error):
            await DuckDBEngine(database).inspect("SELECT 1")


async def test_a_source_gives_the_engine_of_its_database(connection: Connection):
    source = DuckDBSource(connection)
    assert source.engine is source.engine
    found = await source.engine.inspect("SELECT * FROM customers")
    assert found.columns == {
        f"main.customers.{column}" for column in (await source.load()).tables["main.customers"]
    }


async def test_a_statement_that_was_seen_before_is_inspected_again_after_a_change(connection: Connection):
    connection.execute("CREATE VIEW moving AS SELECT id, country AS x FROM customers")
    connection.execute("CREATE MACRO moved() AS (SELECT min(country) FROM customers)")
    engine = DuckDBEngine(connection)
    statements = ("SELECT x FROM moving", "SELECT moved()")
    before = [await engine.inspect(statement) for statement in statements for _ in range(2)]
    connection.execute("CREATE OR REPLACE VIEW moving AS SELECT id, email AS x FROM customers")
    connection.execute("CREATE OR REPLACE MACRO moved() AS (SELECT min(email) FROM customers)")
    after = [await engine.inspect(statement) for statement in statements]
    assert not any("main.customers.email" in found.columns or found.doubts for found in before)
    assert all("main.customers.email" in found.columns for found in after)


async def test_nothing_is_left_open_when_the_connection_is_closed(tmp_path: Path):
    path = tmp_path / "shop.db"
    with duckdb.connect(str(path)) as connection:
        engine = DuckDBEngine(connection)
        connection.execute("CREATE TABLE customers (email VARCHAR)")
        assert (await engine.inspect("SELECT email FROM customers")).columns
    with duckdb.connect(str(path), config={"threads": "1"}):  # refused while another configuration is in use
        pass


# What is approved is what runs


async def test_an_approved_query_runs(engine: DuckDBEngine):
    statement = "SELECT code, title FROM countries UNION ALL SELECT 'FR', 'France'"
    rows = await run_approved(engine, statement, await engine.inspect(statement), max_rows=1)
    assert (rows.names, rows.rows, rows.has_more) == (("code", "title"), [("IT", "Italy")], True)
    assert len((await run_approved(engine, statement, await engine.inspect(statement))).rows) == 2


async def test_an_approved_pivot_runs(engine: DuckDBEngine):
    statement = "PIVOT orders ON status USING sum(total) GROUP BY customer_id"
    rows = await run_approved(engine, statement, await engine.inspect(statement))
    assert rows.names == ("customer_id", "paid") and rows.rows == [(1, 12.5)]


async def test_an_approved_change_is_kept(connection: Connection, engine: DuckDBEngine):
    statement = "UPDATE orders SET status = 'late'"
    await run_approved(engine, statement, await engine.inspect(statement))
    assert connection.execute("SELECT status FROM orders").fetchall() == [("late",)]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE OR REPLACE VIEW by_country AS SELECT email AS country, 1 AS n FROM customers",
        "DROP VIEW by_country",
        "CREATE MACRO upper(x) AS (SELECT max(email) FROM main.customers)",
    ],
)
async def test_what_changed_since_it_was_approved_does_not_run(
    connection: Connection, engine: DuckDBEngine, change: str
):
    statement = "SELECT upper(country) FROM by_country"
    approved = await engine.inspect(statement)
    connection.execute(change)
    with pytest.raises(ChangedSinceApproval):
        await run_approved(engine, statement, approved)


async def test_an_error_of_the_engine_is_raised_and_nothing_is_kept(
    connection: Connection, engine: DuckDBEngine
):
    statement = "INSERT INTO countries VALUES ('FR', 'France'), ('IT', 'Italy')"
    with pytest.raises(duckdb.ConstraintException):
        await run_approved(engine, statement, await engine.inspect(statement))
    assert connection.execute("SELECT count(*) FROM countries").fetchall() == [(1,)]


async def test_a_run_that_takes_too_long_is_interrupted(connection: Connection):
    engine = DuckDBEngine(connection, timeout=0.5)
    statement = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
    approved = await engine.inspect(statement)
    with anyio.fail_after(20), pytest.raises(TimeoutError):
        await run_approved(engine, statement, approved)
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


async def test_a_file_is_opened_for_reading_alone(tmp_path: Path):
    with duckdb.connect(tmp_path / "shop.db") as writing:
        for statement in script("duckdb"):
            writing.execute(statement)
    engine = DuckDBEngine(tmp_path / "shop.db")
    assert (await engine.inspect("SELECT id FROM people")).columns >= {"main.customers.id"}
    statement = "DELETE FROM orders"
    with pytest.raises(duckdb.Error, match="read-only"):
        await run_approved(engine, statement, await engine.inspect(statement))


async def test_an_approval_of_nothing_approves_nothing(engine: DuckDBEngine):
    with pytest.raises(ChangedSinceApproval):
        await run_approved(
            engine, "SELECT email FROM customers", Inspection(is_query=True, can_be_planned=True)
        )
