"""What a real Postgres says that statements read, before they run."""

from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

import anyio
import asyncpg
import pytest

from askback.errors import ChangedSinceApproval
from askback.guards.sql.engines import Inspection
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.sources.postgres import PostgresSource
from tests.guards.sql.corpus_harmless import harmless
from tests.guards.sql.corpus_tricks import NOT_READ, tricks
from tests.guards.sql.engines.approved import run_approved
from tests.guards.sql.engines.postgres_shop import script_with_extras
from tests.guards.sql.engines.postgres_tricks import TRICKS
from tests.guards.sql.misses import Misses
from tests.guards.sql.shop import tagged
from tests.support.stores.postgres import Shell, shell

pytestmark = pytest.mark.services

DATABASE = "engine"

ROLES = ("poor", "reader")

STATE = """
SELECT current_user, pg_my_temp_schema(), (SELECT count(*) FROM pg_proc WHERE proname LIKE 'askback%'),
  (SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE source = 'session'),
  current_setting('transaction_read_only'), current_setting('statement_timeout'), current_setting('search_path'),
  (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation >= 16384)
"""


@pytest.fixture(scope="module")
async def url(postgres_url: str) -> AsyncGenerator[str]:
    own = urlunsplit(urlsplit(postgres_url)._replace(path=f"/{DATABASE}"))
    async with shell(postgres_url) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        await connection.execute(f"CREATE DATABASE {DATABASE}")
        await connection.execute(f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC")
        await connection.execute("CREATE ROLE poor LOGIN; CREATE ROLE reader LOGIN")
        await connection.execute(f"GRANT CONNECT ON DATABASE {DATABASE} TO poor")
        await connection.execute(f"GRANT CONNECT, TEMPORARY ON DATABASE {DATABASE} TO reader")
    async with shell(own) as connection:
        for statement in script_with_extras():
            await connection.execute(statement)
        await connection.execute("GRANT SELECT (id, country), UPDATE ON customers TO reader")
        await connection.execute("GRANT SELECT ON guarded TO reader")
    yield own
    async with shell(postgres_url) as connection:
        await connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        await connection.execute("DROP ROLE poor; DROP ROLE reader")


@pytest.fixture(scope="module")
async def pool(url: str) -> AsyncGenerator["asyncpg.Pool[asyncpg.Record]"]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        yield pool


@pytest.fixture(scope="module")
def engine(pool: "asyncpg.Pool[asyncpg.Record]") -> PostgresEngine:
    return PostgresEngine(pool)


@pytest.fixture
async def beside(url: str) -> AsyncGenerator[Shell]:
    async with shell(url) as connection:
        yield connection


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))


def names_of(inspection: Inspection) -> set[str]:
    return {column.rpartition(".")[2] for column in inspection.columns}


async def test_a_harmless_statement_is_known_to_be_one(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement in harmless("postgres"):
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert not found.doubts and not found.writes and found.is_query
            assert found.columns.isdisjoint(tagged("postgres"))
    misses.require_none()


async def test_what_a_trick_reads_is_found(engine: PostgresEngine) -> None:
    misses = Misses()
    for column, statement in [pair for pair in tricks("postgres") if pair[1] not in NOT_READ["postgres"]]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert (
                found.doubts or column in names_of(found) or not found.columns.isdisjoint(tagged("postgres"))
            )
    misses.require_none()


async def test_nothing_hides_a_column_from_its_own_engine(engine: PostgresEngine) -> None:
    misses = Misses()
    for column, statement in [(c, text) for c, texts in TRICKS.items() for text in texts]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert found.doubts if column == "?" else column in found.columns
    misses.require_none()


async def test_only_what_the_result_depends_on_is_told(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement, columns in [
        ("SELECT id FROM contacts", {"contacts.id", "people.id", "customers.id"}),
        ("SELECT id FROM settled", {"settled.id", "orders.id", "orders.status"}),
        (
            "SELECT id, total FROM reached",
            {"reached.id", "reached.total", "customers.id", "orders.id", "orders.total"},
        ),
        ("SELECT id FROM rows_of", {"rows_of.id", "customers.id"}),
        ("SELECT id FROM kept", {"kept.id", "customers.id"}),
        ("SELECT id FROM lengths", {"lengths.id"}),
        ("SELECT day FROM visits", {"visits.day"}),
        ("SELECT ctid, tableoid FROM customers", set[str]()),
        ("WITH c AS MATERIALIZED (SELECT * FROM customers) SELECT id FROM c", {"customers.id"}),
        ("WITH c AS (SELECT * FROM customers) SELECT a.id FROM c a JOIN c b USING (id)", {"customers.id"}),
        ("WITH unused AS (SELECT email FROM customers) SELECT 1", set[str]()),
        ("SELECT x.id FROM (SELECT c.*, upper(email) FROM customers c) x", {"customers.id"}),
        ("SELECT count(*) FROM (SELECT c, email FROM customers c) x", set[str]()),
        ("SELECT EXISTS (SELECT c.*, c FROM customers c)", set[str]()),
        ("SELECT 'sad'::mood, 'x'::word", set[str]()),
        ("SELECT id FROM customers WHERE id = $1", {"customers.id"}),
        ("SELECT last_value FROM counter", {"counter.last_value"}),
    ]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert (found.columns, found.doubts) == ({f"public.{column}" for column in columns}, ())
            assert found.is_query and found.can_be_planned
    misses.require_none()


async def test_what_changes_is_told(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement, writes in [
        ("INSERT INTO orders (id) VALUES (7)", ("insert into public.orders",)),
        ("UPDATE orders SET total = 1", ("update public.orders",)),
        ("DELETE FROM orders", ("delete from public.orders",)),
        ("INSERT INTO numbered (what) VALUES ('x')", ("insert into public.numbered",)),
        (
            "MERGE INTO orders o USING countries c ON false WHEN MATCHED THEN DELETE",
            ("merge into public.orders",),
        ),
        ("WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d", ("delete from public.orders",)),
        ("SELECT id FROM orders FOR UPDATE", ("lock rows of public.orders",)),
        ("SELECT nextval('counter')", ("nextval",)),
    ]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert (found.writes, found.doubts, found.is_query) == (writes, (), False)
            assert found.can_be_planned
    misses.require_none()


async def test_a_command_is_told_by_its_kind(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement, kind in [
        ("DROP TABLE orders", "drop table"),
        ("CREATE OR REPLACE VIEW x AS SELECT 1", "create view"),
        ("CREATE TEMP TABLE x AS SELECT email FROM customers", "create table"),
        ("SELECT email INTO x FROM customers", "create table"),
        ("set work_mem = 1", "set"),
        ("/* a /* b */ */ -- c\n COPY orders TO STDOUT", "copy"),
        ("DO $$ BEGIN END $$", "do"),
        ("EXPLAIN EXECUTE p", "explain"),
    ]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert found.writes == (kind,) and found.doubts and not found.can_be_planned
    misses.require_none()


async def test_a_change_counts_what_its_errors_show(engine: PostgresEngine) -> None:
    plain = await engine.inspect("UPDATE customers SET name = 'x' WHERE id = 1")
    failing = await engine.inspect("UPDATE customers SET id = NULL WHERE id = 1")
    assert "public.customers.email" not in plain.columns
    assert "public.customers.email" in failing.columns


async def test_an_explained_change_changes_nothing(engine: PostgresEngine) -> None:
    found = await engine.inspect("EXPLAIN DELETE FROM orders")
    assert found.is_query and not found.writes and not found.can_be_planned


async def test_a_doubt_quotes_no_more_than_a_name(engine: PostgresEngine, beside: Shell) -> None:
    name = "f" * 63
    await beside.execute(f"CREATE FUNCTION {name}() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    try:
        found = await engine.inspect(f"SELECT {name}()")
    finally:
        await beside.execute(f"DROP FUNCTION {name}()")
    assert found.doubts == (f"what the function {name} reads or does is not known",)


async def test_functions_that_no_parse_tree_names_are_a_doubt(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement in [
        "SELECT to_json(tone) FROM toned",
        "SELECT json_agg(toned) FROM toned",
        "SELECT 'x' || tone FROM toned",
        "SELECT quote_literal(tones[1]) FROM toned",
        "SELECT to_jsonb(ROW('low'::tone, 1))",
        "SELECT told FROM told_tone",
        "SELECT id FROM spotted ORDER BY ARRAY[spot]",
        "SELECT greatest(spot, ROW('a', 1)::spot) FROM spotted",
        "SELECT ARRAY[ROW('a', 1)::spot] < ARRAY[ROW('b', 2)::spot]",
    ]:
        with misses.of(statement):
            found = await engine.inspect(statement)
            assert any("tone" in doubt or "spot" in doubt for doubt in found.doubts), found
    misses.require_none()


async def test_a_text_that_takes_long_to_cut_up_is_a_doubt(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement in [
        "SHOW" + " " * 100_000 + "!",
        "SHOW a" + " a" * 50_000,
        "SELECT 1 " + "/*" * 90_000,
        "SELECT 1 " + "/*" * 40_000 + "*/" * 40_000,
        "SELECT " + "+" * 180_000 + "1",
        "SELECT " + "+-" * 90_000 + "1",
    ]:
        with misses.of(statement):
            with anyio.fail_after(10):
                assert (await engine.inspect(statement)).doubts
    misses.require_none()


NESTED = ("(", "ARRAY[", "NOT ", "- ", "(SELECT ", "CASE WHEN ", "ROW(", "/*", "[", "EXPLAIN ")

HUGE = [
    "SELECT '\ud800'",
    "SELECT 1\0",
    "SELECT '" + "a" * 1_000_000,
    "SELECT '" + "a" * 190_000 + "'",
    *("SELECT " + opener * 10_000 for opener in NESTED),
    *("SELECT " + opener * 10_000 + "1" + closer * 10_000 for opener, closer in ("()", ("ARRAY[", "]"))),
    "SELECT " + "+".join(["1"] * 50_000),
    "SELECT " + ",".join(["email"] * 1_600) + " FROM customers",
    "SELECT id FROM customers WHERE id IN (" + ",".join(map(str, range(30_000))) + ")",
    "SELECT 1 FROM customers" + " NATURAL JOIN customers" * 3_000,
    " UNION ALL ".join(["SELECT email FROM customers"] * 2_000),
    "--\n" * 60_000 + "SELECT 1",
    "SELECT " + ",".join(f"${number}::int" for number in range(1, 3_000)),
]


async def test_broken_and_huge_statements_get_an_answer(engine: PostgresEngine) -> None:
    misses = Misses()
    for statement in HUGE:
        with misses.of(statement):
            with anyio.fail_after(20):
                found = await engine.inspect(statement)
            assert isinstance(found, Inspection)
    misses.require_none()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT email FROM customers",
        "SELECT $1::integer, email FROM customers",
        "SELECT 1; SELECT 2",
        "SELECT 1; END",
        "SELECT nothing",
        "DROP TABLE customers",
        "DELETE FROM customers",
        "SELECT pg_sleep(60)",
        "EXPLAIN SELECT 1",
        *HUGE[4:9],
    ],
)
@pytest.mark.parametrize("has_temporary", [False, True])
async def test_a_connection_is_given_back_as_it_was(url: str, statement: str, has_temporary: bool) -> None:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        if has_temporary:
            await pool.execute("CREATE TEMP TABLE mine AS SELECT 1 AS id")
        engine = PostgresEngine(pool)
        before = await pool.fetchrow(STATE)
        for _ in range(3):
            await engine.inspect(statement)
        assert await pool.fetchrow(STATE) == before
        assert not has_temporary or await pool.fetchval("SELECT id FROM mine") == 1


async def test_nothing_runs_that_planning_or_analysis_would_run(
    engine: PostgresEngine, beside: Shell
) -> None:
    for statement in ("SELECT nextval('counter')", "SELECT id FROM orders WHERE nextval('counter') > 0"):
        await engine.inspect(statement)
    assert await beside.fetchval("SELECT is_called FROM counter") is False


async def test_a_held_table_is_not_waited_for(url: str, beside: Shell) -> None:
    async with beside.transaction():
        await beside.execute("LOCK TABLE countries IN ACCESS EXCLUSIVE MODE")
        with anyio.fail_after(10):
            found = await PostgresEngine(url, timeout=0.3).inspect("SELECT * FROM countries")
    assert found.doubts == ("Postgres took too long to say what it reads",)


async def test_a_database_that_is_away_is_an_error() -> None:
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        await PostgresEngine("postgresql://nobody@127.0.0.1:1/x").inspect("SELECT 1")


async def test_a_role_that_may_create_nothing_is_told_what_to_ask_for(url: str) -> None:
    found = await PostgresEngine(as_role(url, "poor")).inspect("SELECT 1")
    (doubt,) = found.doubts
    assert "GRANT TEMPORARY ON DATABASE" in doubt


async def test_a_role_that_only_reads_gets_an_answer(url: str) -> None:
    engine = PostgresEngine(as_role(url, "reader"))
    found = await engine.inspect("SELECT id, email FROM customers")
    assert found.columns == {"public.customers.id", "public.customers.email"} and not found.doubts


async def test_statements_run_with_the_rights_of_a_given_role(engine: PostgresEngine, url: str) -> None:
    limited = PostgresEngine(url, role="reader")
    allowed = await limited.inspect("SELECT id FROM customers")
    assert (await run_approved(limited, "SELECT id FROM customers", allowed)).rows == [(1,)]
    statement = "SELECT email FROM customers"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await run_approved(limited, statement, await limited.inspect(statement))
    assert (await run_approved(engine, statement, await engine.inspect(statement))).rows == [
        ("ada@example.org",)
    ]


async def test_approved_rows_come_with_their_names_and_no_more_than_asked_for(engine: PostgresEngine) -> None:
    statement = "SELECT n, n * 2 AS twice FROM generate_series(1, 5) AS n"
    found = await engine.inspect(statement)
    rows = await run_approved(engine, statement, found, max_rows=2)
    assert (rows.names, rows.rows, rows.has_more) == (("n", "twice"), [(1, 2), (2, 4)], True)
    assert not (await run_approved(engine, statement, found, max_rows=5)).has_more
    assert len((await run_approved(engine, statement, found)).rows) == 5


async def test_an_approved_change_is_kept_and_leaves_nothing_else(
    engine: PostgresEngine, beside: Shell
) -> None:
    statement = "INSERT INTO countries VALUES ('FR', 'France') RETURNING code"
    rows = await run_approved(engine, statement, await engine.inspect(statement), max_rows=1)
    assert rows.rows == [("FR",)]
    assert await beside.fetchval("DELETE FROM countries WHERE code = 'FR' RETURNING title") == "France"
    assert await beside.fetchval("SELECT count(*) FROM pg_proc WHERE proname LIKE 'askback%'") == 0


@pytest.mark.parametrize("statement", ["CREATE TABLE made (id integer)", "SELECT 1 AS id INTO made"])
async def test_an_approved_command_is_kept(engine: PostgresEngine, beside: Shell, statement: str) -> None:
    await run_approved(engine, statement, await engine.inspect(statement))
    assert await beside.fetchval("SELECT to_regclass('made') IS NOT NULL")
    await beside.execute("DROP TABLE made")


async def test_an_approved_query_cannot_write(engine: PostgresEngine) -> None:
    rows = await run_approved(engine, "SHOW search_path", await engine.inspect("SHOW search_path"))
    assert rows.names == ("search_path",)
    statement = "SELECT current_user"
    assert (await run_approved(engine, statement, await engine.inspect(statement))).rows == [("askback",)]


async def test_a_database_that_is_read_only_by_default_stays_so(url: str) -> None:
    settings = {"default_transaction_read_only": "on"}
    async with asyncpg.create_pool(url, min_size=1, max_size=1, server_settings=settings) as pool:
        engine = PostgresEngine(pool)
        statement = "DELETE FROM orders WHERE id = 0"
        found = await engine.inspect(statement)
        assert found.writes == ("delete from public.orders",)
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await run_approved(engine, statement, found)


async def test_what_has_changed_since_it_was_approved_does_not_run(
    engine: PostgresEngine, beside: Shell
) -> None:
    await beside.execute("CREATE VIEW shifting AS SELECT id, country AS x FROM customers")
    try:
        statement = "SELECT x FROM shifting"
        found = await engine.inspect(statement)
        assert (await run_approved(engine, statement, found)).rows == [("IT",)]
        await beside.execute(
            "DROP VIEW shifting; CREATE VIEW shifting AS SELECT id, email AS x FROM customers"
        )
        with pytest.raises(ChangedSinceApproval):
            await run_approved(engine, statement, found)
    finally:
        await beside.execute("DROP VIEW shifting")


CHANGES = [
    "CREATE OR REPLACE VIEW moving AS SELECT id, email::text AS x FROM customers",
    "ALTER TABLE moved RENAME x TO z; ALTER TABLE moved RENAME y TO x",
    "CREATE SCHEMA nearer; CREATE TABLE nearer.moved (x text)",
    "CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT $1'",
    "ALTER TABLE moved ADD COLUMN extra text; ALTER TABLE moved DROP COLUMN y",
    "CREATE TABLE kin () INHERITS (moved)",
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("constants", [(1, 1, 1), (1, 2, 3)])
async def test_a_statement_that_was_seen_before_is_inspected_again_after_a_change(
    url: str, beside: Shell, change: str, constants: tuple[int, ...]
) -> None:
    await beside.execute("CREATE VIEW moving AS SELECT id, country::text AS x FROM customers")
    await beside.execute("CREATE TABLE moved (x text, y varchar)")
    url = f"{url}?search_path=nearer,public"
    engine = PostgresEngine(url)
    statement = "SELECT moving.x, lower(moved.x) FROM moving, moved WHERE moved IS NOT NULL AND id <> "
    try:
        before = {await engine.inspect(f"{statement}{constant}") for constant in constants}
        await beside.execute(change)
        after = {await engine.inspect(f"{statement}{constant}") for constant in constants}
        anew = {await PostgresEngine(url).inspect(f"{statement}0")}
    finally:
        await beside.execute(
            "DROP SCHEMA IF EXISTS nearer CASCADE; DROP FUNCTION IF EXISTS public.lower(varchar)"
        )
        await beside.execute("DROP VIEW moving; DROP TABLE moved CASCADE")
    assert len(before) == 1
    assert after == anew
    assert "lower" in change or before != after


async def test_a_statement_is_inspected_again_after_its_role_has_become_member_of_another(
    url: str, beside: Shell
) -> None:
    engine = PostgresEngine(f"{as_role(url, 'reader')}?search_path=hidden,public")
    await beside.execute(
        "CREATE SCHEMA hidden; CREATE ROLE insiders; GRANT USAGE ON SCHEMA hidden TO insiders"
    )
    try:
        for schema, role in (("hidden", "insiders"), ("public", "reader")):
            await beside.execute(
                f"CREATE TABLE {schema}.seen (x int); GRANT SELECT ON {schema}.seen TO {role}"
            )
        before = [await engine.inspect("SELECT x FROM seen") for _ in range(3)]
        await beside.execute("GRANT insiders TO reader")
        after = await engine.inspect("SELECT x FROM seen")
    finally:
        await beside.execute(
            "DROP SCHEMA hidden CASCADE; DROP TABLE IF EXISTS public.seen; DROP ROLE insiders"
        )
    assert {tuple(found.columns) for found in before} == {("public.seen.x",)}
    assert after.columns == {"hidden.seen.x"}


async def test_a_statement_is_inspected_again_after_its_role_may_do_more(url: str, beside: Shell) -> None:
    engine = PostgresEngine(f"{url}?search_path=hidden,public", role="reader")
    await beside.execute("CREATE SCHEMA hidden; CREATE TABLE hidden.seen (x int)")
    try:
        await beside.execute("CREATE TABLE public.seen (x int); GRANT SELECT ON public.seen TO reader")
        before = [await engine.inspect("SELECT x FROM seen") for _ in range(3)]
        await beside.execute("ALTER ROLE reader SUPERUSER")
        after = await engine.inspect("SELECT x FROM seen")
    finally:
        await beside.execute(
            "ALTER ROLE reader NOSUPERUSER; DROP SCHEMA hidden CASCADE; DROP TABLE IF EXISTS public.seen"
        )
    assert {tuple(found.columns) for found in before} == {("public.seen.x",)}
    assert after.columns == {"hidden.seen.x"}


async def test_changes_of_transactions_at_one_time_are_noticed(url: str, beside: Shell) -> None:
    """The numbers of the transactions that wrote the two policies have the same sum before and after."""
    engine = PostgresEngine(as_role(url, "reader"))
    await beside.execute("CREATE TABLE tickets (ok int, secret int); CREATE TABLE stubs (id int)")
    try:
        await beside.execute(
            "ALTER TABLE tickets ENABLE ROW LEVEL SECURITY; GRANT SELECT ON tickets TO reader"
        )
        await beside.execute("CREATE POLICY q ON stubs USING (true)")
        await beside.execute("CREATE POLICY r ON tickets USING (ok = 1)")
        await beside.execute("ALTER POLICY q ON stubs USING (id = 2)")
        async with shell(url) as late, shell(url) as early:
            await late.execute("BEGIN; SELECT pg_current_xact_id()")
            await early.execute("ALTER POLICY r ON tickets USING (ok = 2)")
            before = [await engine.inspect("SELECT count(*) FROM tickets") for _ in range(3)]
            await late.execute("ALTER POLICY r ON tickets USING (secret = 7)")
            await late.execute("ALTER POLICY q ON stubs USING (id = 3); COMMIT")
            after = await engine.inspect("SELECT count(*) FROM tickets")
    finally:
        await beside.execute("DROP TABLE tickets, stubs")
    assert {tuple(found.columns) for found in before} == {("public.tickets.ok",)}
    assert after.columns == {"public.tickets.secret"}


async def test_a_policy_decides_about_rows_so_its_columns_count(url: str) -> None:
    found = await PostgresEngine(url, role="reader").inspect("SELECT count(*) FROM guarded")
    assert found.columns == {"public.guarded.email"}


async def test_a_source_of_a_catalogue_has_its_engine(url: str, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    source = PostgresSource(pool)
    assert source.engine is source.engine and source.engine.name == "Postgres"
    for given in (url, pool, lambda: asyncpg.connect(url)):
        found = await PostgresSource(given).engine.inspect("SELECT email FROM people")
        assert "public.customers.email" in found.columns
