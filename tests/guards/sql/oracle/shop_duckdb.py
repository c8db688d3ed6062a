"""What only DuckDB's shop has: macros, a schema and an attached database with names of the first one."""

from tests.guards.sql.oracle.relations import Relation, Table, View, columns
from tests.guards.sql.oracle.tables import plain, tagged
from tests.guards.sql.oracle.views import PEOPLE

BEFORE = ("CREATE SCHEMA side", "ATTACH ':memory:' AS other")

TABLES = (
    Table(
        "customers",
        (
            plain("id", "int", 1, 2, 3),
            plain("email", "text", "s1", "s2", "s3"),
            tagged("name", "text", ["Sue", None, "9"], ["9", "Tom", "Vic"]),
        ),
        schema=("side",),
    ),
    Table(
        "secrets",
        (plain("id", "int", 1, 2), tagged("pin", "text", ["11", "x"], [None, "22"])),
        schema=("other", "main"),
    ),
)

MACROS = (
    "CREATE MACRO shout(x) AS upper(x)",
    "CREATE MACRO mail_of(i) AS (SELECT email FROM customers WHERE id = i)",
    "CREATE MACRO country_of(i) AS (SELECT country FROM customers WHERE id = i)",
    "CREATE MACRO mail_twice(i) AS mail_of(i) || mail_of(i + 1)",
    "CREATE MACRO padded(x, y := 'z') AS x || y || (SELECT max(c) FROM c)",
    "CREATE MACRO found(k) AS TABLE SELECT * FROM customers WHERE id >= k",
    "CREATE MACRO since(k) AS TABLE SELECT id, day AS email FROM orders WHERE id > k",
    "CREATE MACRO email(c) AS c || '!'",
)

VIEWS = (
    View(
        "veiled",
        "SELECT id, mail_of(id) AS m, shout(country) AS s FROM customers",
        columns("id:int, m:text!, s:text"),
        is_opaque=True,
    ),
    View("near", "SELECT * FROM side.customers", columns("id:int, email:text, name:text!")),
)

CALLS = (
    Relation("found(2)", columns(PEOPLE), is_call=True),
    Relation("since(11)", columns("id:int, email:date"), is_call=True),
)
