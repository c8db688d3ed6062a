"""The stored tables of the oracle's shop. Their names collide with columns, aliases and each other, on purpose.

The two databases differ in every value of a tagged column: in length, order, duplicates, NULLs, and in whether it can
be cast to a number, a date, a UUID or JSON.
"""

from tests.guards.sql.oracle.relations import Cell, Column, Kind, Stored, Table

UUID = "550e8400-e29b-41d4-a716-446655440000"


def plain(name: str, kind: Kind, *values: Cell) -> Stored:
    """A column that is the same in both databases."""
    return Stored(name, kind, values)


def tagged(name: str, kind: Kind, values: list[Cell], twin: list[Cell]) -> Stored:
    """A column whose values differ between the databases, each of them."""
    return Stored(name, kind, tuple(values), tuple(twin))


CUSTOMERS = Table(
    "customers",
    (
        plain("id", "int", 1, 2, 3, 4, 5, 6),
        plain("name", "text", "Ada", "Bob", "17", "Dee", "Bob", None),
        tagged(
            "email",
            "text",
            ["ada@example.org", "17", None, "2001-02-03", "ada@example.org", '{"a": 1}'],
            ["Zoe", None, "2", "Dee", UUID, "IT"],
        ),
        plain("country", "text", "IT", "DE", "IT", "FR", None, "DE"),
        tagged(
            "born",
            "date",
            ["1985-12-10", "1990-01-01", None, "2001-02-03", "1985-12-10", "2010-10-10"],
            ["2004-04-04", None, "1970-05-06", "1999-12-31", "2004-04-05", "1941-01-01"],
        ),
        plain("tags", "list", ("new", "vip"), (), ("vip",), None, ("a", "b", "c"), ("new",)),
        plain("notes", "json", '{"a": 1}', '{"a": "x"}', "{}", None, '{"b": [1, 2]}', '{"a": null}'),
        plain(
            "address",
            "struct",
            ("Turin", "Po"),
            ("Bonn", "Rhein"),
            None,
            ("Paris", "Seine"),
            ("", ""),
            ("x", "y"),
        ),
    ),
)

ORDERS = Table(
    "orders",
    (
        plain("id", "int", 10, 11, 12, 13, 14, 15, 16),
        plain("customer_id", "int", 1, 1, 2, 3, 6, 6, None),
        plain("total", "int", 12, 3, 40, 5, 5, None, 7),
        plain(
            "day",
            "date",
            "2026-01-02",
            "2026-01-03",
            "2026-01-02",
            "2026-02-01",
            None,
            "2026-02-02",
            "2026-01-02",
        ),
        plain("status", "text", "paid", "open", "paid", "late", "paid", "open", None),
    ),
)

COUNTRIES = Table(
    "countries",
    (plain("code", "text", "IT", "DE", "FR"), plain("title", "text", "Italy", "Germany", "France")),
    key="code",
)

ODD_ONES = Table(
    "Odd Ones",
    (
        plain("id", "int", 1, 2, 3),
        tagged("Full Name", "text", ["Ada L", None, "3"], ["Q", "Ada L", "2020-01-01"]),
        plain("ORDER", "int", 3, 1, 2),
    ),
)

C = Table(
    "c",
    (
        plain("id", "int", 1, 2, 3, 4),
        tagged("c", "text", ["x", "5", None, "x"], ["5", None, "true", "q"]),
        plain("email", "text", "one", "two", "2", None),
        plain("customers", "int", 4, 3, 2, 1),
    ),
)

STAFF = Table(
    "staff",
    (
        plain("id", "int", 1, 2, 3, 4),
        tagged("name", "text", ["Kim", "Lee", "4", "Kim"], ["Bob", "00", None, "Max"]),
        plain("customer_id", "int", 2, 2, 4, None),
        plain("orders", "text", "none", "some", "10", "all"),
        tagged("salary", "int", [100, 0, None, 5], [7, 2147483647, 3, None]),
        plain("start day", "date", "2020-01-01", "2021-01-01", "2020-01-01", None),
        plain("c", "text", "a", "b", "c", "d"),
    ),
)

DOCUMENTS = Table(
    "documents",
    (
        plain("id", "int", 1, 2, 3),
        tagged("data", "json", ['{"a": 1}', None, '{"a": "x", "b": 2}'], ['{"b": 1}', "[1, 2]", "{}"]),
        tagged("parts", "list", [("p", "q"), (), None], [("z",), ("a", "b", "c"), ("p",)]),
        tagged("place", "struct", [("Rome", "Corso"), None, ("A", "B")], [("Oslo", "Gate"), ("", ""), None]),
        plain("meta", "json", '{"a": 5}', "{}", '{"a": 6}'),
        plain("labels", "list", ("l",), ("m", "n"), ()),
        plain("spot", "struct", ("s", "t"), ("u", "v"), None),
    ),
)

BADGES = Table(
    "badges",
    (
        plain("id", "int", 1, 2, 3),
        tagged("code", "text", ["Ab", "Cd", None], ["X", None, "YyY"]),
        plain("label", "text", "One", "Two", "Three"),
    ),
    generated=(
        (Column("short", "text", is_tagged=True), "lower(code)"),
        (Column("loud", "text"), "upper(label)"),
    ),
)

CODES = Table(
    "codes",
    (
        plain("id", "text", "a", "b", "c"),
        tagged("pin", "text", ["123", "9", None], ["4", None, "55555"]),
        plain("codes", "int", 1, 2, 3),
    ),
)
"""Not on DuckDB; without row ids on SQLite."""

TABLES = (CUSTOMERS, ORDERS, COUNTRIES, ODD_ONES, C, STAFF, DOCUMENTS, BADGES)
