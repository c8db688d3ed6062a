"""What only SQLite's shop has: a table without row ids, a full-text index; and indexes, which Postgres has too."""

from tests.guards.sql.oracle.relations import Table
from tests.guards.sql.oracle.tables import CODES, plain, tagged

INDEXES = (
    "CREATE INDEX by_email ON customers (email)",
    "CREATE INDEX by_place ON customers (country)",
    "CREATE INDEX by_salary ON staff (salary, id)",
    "CREATE INDEX by_letter ON c (lower(c))",
)

TABLES = (
    Table(CODES.name, CODES.columns, ending=" WITHOUT ROWID"),
    Table(
        "letters",
        (
            tagged("body", "text", ["dear ada", "17", None], ["dear bob", None, "see you"]),
            plain("sender", "text", "x", "y", "z"),
        ),
        creation="CREATE VIRTUAL TABLE letters USING fts5(body, sender UNINDEXED)",
    ),
)
