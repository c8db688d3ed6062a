"""What only Postgres's shop has: partitions, domains, policies, functions, operators and a materialized view."""

from tests.guards.sql.oracle.relations import Relation, Table, View, columns
from tests.guards.sql.oracle.tables import CODES, plain, tagged

READER = "oracle_reader"
"""The role that runs statements: no superuser, so that row-level policies hold for it."""

BEFORE = (
    "CREATE TYPE place AS (city text, street text)",
    "CREATE DOMAIN address_text AS text CHECK (VALUE LIKE '%@%')",
    "CREATE SCHEMA side",
    f"GRANT USAGE ON SCHEMA side TO {READER}",
)

EVENTS = Table(
    "events",
    (
        plain("id", "int", 1, 2, 3, 4),
        plain("region", "text", "eu", "us", "eu", "us"),
        tagged("note", "text", ["n1", None, "3", "n1"], ["m", "7", "mm", None]),
    ),
    key=None,
    ending=" PARTITION BY LIST (region)",
)
"""Partitioned by region, on Postgres."""

ACCOUNTS = Table(
    "accounts",
    (
        plain("id", "int", 1, 2, 3),
        tagged("Email", "text", ["a@b", "c@d", None], ["zz@z", "@", "a@b"]),
        plain("email", "text", "p", "q", "r"),
        plain("EMAIL", "int", 7, 8, 9),
    ),
)
"""Names that differ in case alone, and a domain, on Postgres."""

CASES = Table(
    "cases",
    (
        plain("id", "int", 1, 2, 3),
        tagged("owner", "text", ["a", "z", None], ["n", "b", "y"]),
        plain("title", "text", "first", "second", "third"),
    ),
    has_tagged_rows=True,
)
"""With a row-level policy on the tagged column, on Postgres."""

SIDE = Table(
    "customers",
    (
        plain("id", "int", 1, 2, 3),
        plain("email", "text", "s1", "s2", "s3"),
        tagged("name", "text", ["Sue", None, "9"], ["9", "Tom", "Vic"]),
    ),
    schema=("side",),
)

TABLES = (CODES, EVENTS, ACCOUNTS, CASES, SIDE)

BETWEEN = (
    'ALTER TABLE accounts ALTER COLUMN "Email" TYPE address_text',
    "CREATE TABLE events_eu PARTITION OF events FOR VALUES IN ('eu')",
    "CREATE TABLE events_us PARTITION OF events FOR VALUES IN ('us')",
    "ALTER TABLE cases ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own ON cases USING (owner > 'm')",
)

AFTER = (
    "CREATE FUNCTION label(customers) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.email || $1.country'",
    "CREATE FUNCTION mail_of(integer) RETURNS text LANGUAGE sql STABLE AS 'SELECT email FROM customers WHERE id = $1'",
    "CREATE FUNCTION is_near(text, text) RETURNS boolean LANGUAGE sql STABLE AS "
    "'SELECT $1 < (SELECT max(email) FROM customers)'",
    "CREATE OPERATOR <#> (LEFTARG = text, RIGHTARG = text, FUNCTION = is_near)",
    "CREATE DOMAIN known_text AS text CHECK (mail_of(1) < 'b' OR VALUE IS NULL)",
    "CREATE FUNCTION add_mail(text, integer) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1 || mail_of($2)'",
    "CREATE AGGREGATE mails (integer) (SFUNC = add_mail, STYPE = text, INITCOND = '')",
    "CREATE TYPE mood AS ENUM ('x', 'y')",
    "CREATE FUNCTION to_mood(place) RETURNS mood LANGUAGE sql STABLE AS "
    "'SELECT CASE WHEN mail_of(1) < ''b'' THEN ''x''::mood ELSE ''y'' END'",
    "CREATE CAST (place AS mood) WITH FUNCTION to_mood(place)",
)

VIEWS = (
    View("kept", "SELECT id, email AS e FROM people", columns("id:int, e:text!"), is_materialized=True),
    View("regional", "SELECT * FROM events WHERE region = 'eu'", columns("id:int, region:text, note:text!")),
    View(
        "veiled",
        "SELECT id, mail_of(id) AS m, country FROM customers",
        columns("id:int, m:text!, country:text"),
        is_opaque=True,
    ),
    View("near", "SELECT * FROM side.customers", columns("id:int, email:text, name:text!")),
    View("open_cases", "SELECT id, title FROM cases", columns("id:int, title:text"), has_tagged_rows=True),
)

LAST = (
    "ALTER VIEW open_cases SET (security_barrier = true)",
    f"ALTER VIEW open_cases OWNER TO {READER}",
    f"GRANT SELECT ON ALL TABLES IN SCHEMA public, side TO {READER}",
    "ANALYZE",
)

MORE = (Relation("events_eu", columns("id:int, region:text, note:text!")),)
