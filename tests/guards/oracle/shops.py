"""The oracle's shop for each engine: the script of either database, and what statements can name there."""

from dataclasses import dataclass

from tests.guards.oracle.relations import Cell, Dialect, Kind, Relation, Stored, Table, View, columns
from tests.guards.oracle.tables import TABLES, plain, tagged

PEOPLE = "id:int, name:text, email:text!, country:text, born:date!, tags:list, notes:json, address:struct"

VIEWS = (
    View("people", "SELECT * FROM customers", columns(PEOPLE)),
    View(
        "contacts",
        "SELECT id, lower(email) AS reach, country FROM people",
        columns("id:int, reach:text!, country:text"),
    ),
    View(
        "by_country",
        "SELECT country, count(*) AS n FROM customers GROUP BY country",
        columns("country:text, n:int"),
    ),
    View(
        "residents",
        "SELECT p.id, p.country, c.title FROM people p JOIN countries c ON c.code = p.country",
        columns("id:int, country:text, title:text"),
    ),
    View(
        "grown",
        "SELECT id, country FROM customers WHERE born < '2000-01-01'",
        columns("id:int, country:text"),
        has_tagged_rows=True,
    ),
    View(
        "swapped",
        "SELECT email, id, country AS born FROM people",
        columns("id:text!, email:int, c d:text"),
        names=("id", "email", "c d"),
    ),
    View(
        "The View",
        "SELECT p.*, o.total, o.status FROM people p LEFT JOIN orders o ON o.customer_id = p.id",
        columns(f"{PEOPLE}, total:int, status:text"),
    ),
    View(
        "rich",
        "SELECT * FROM (SELECT id, c, orders FROM staff WHERE salary > 4) AS customers",
        columns("id:int, c:text, orders:text"),
        has_tagged_rows=True,
    ),
    View(
        "topped",
        "SELECT id, name FROM people ORDER BY born, id LIMIT 3",
        columns("id:int, name:text"),
        has_tagged_rows=True,
    ),
    View("latest", "WITH q AS (SELECT * FROM orders) SELECT q.id, q.day FROM q", columns("id:int, day:date")),
    View(
        "merged",
        "SELECT id, name AS n FROM customers UNION ALL SELECT id, c FROM c",
        columns("id:int, n:text!"),
        has_tagged_rows=True,
    ),
    View("shorts", "SELECT id, short AS s, loud FROM badges", columns("id:int, s:text!, loud:text")),
)

TYPES: dict[Dialect, dict[Kind, str]] = {
    "duckdb": {
        "int": "INTEGER",
        "text": "VARCHAR",
        "date": "DATE",
        "list": "VARCHAR[]",
        "json": "JSON",
        "struct": "STRUCT(city VARCHAR, street VARCHAR)",
    },
    "postgres": {
        "int": "integer",
        "text": "text",
        "date": "date",
        "list": "text[]",
        "json": "jsonb",
        "struct": "place",
    },
    "sqlite": {
        "int": "INTEGER",
        "text": "TEXT",
        "date": "TEXT",
        "list": "TEXT",
        "json": "TEXT",
        "struct": "TEXT",
    },
}

INDEXES = (
    "CREATE INDEX by_email ON customers (email)",
    "CREATE INDEX by_place ON customers (country)",
    "CREATE INDEX by_salary ON staff (salary, id)",
    "CREATE INDEX by_letter ON c (lower(c))",
)

CODES = Table(
    "codes",
    (
        plain("id", "text", "a", "b", "c"),
        tagged("pin", "text", ["123", "9", None], ["4", None, "55555"]),
        plain("codes", "int", 1, 2, 3),
    ),
)
"""Without row ids, on SQLite."""

EVENTS = Table(
    "events",
    (
        plain("id", "int", 1, 2, 3, 4),
        plain("region", "text", "eu", "us", "eu", "us"),
        tagged("note", "text", ["n1", None, "3", "n1"], ["m", "7", "mm", None]),
    ),
    key=None,
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
)
"""With a row-level policy on the tagged column, on Postgres."""

MACROS = (
    "CREATE MACRO shout(x) AS upper(x)",
    "CREATE MACRO mail_of(i) AS (SELECT email FROM customers WHERE id = i)",
    "CREATE MACRO country_of(i) AS (SELECT country FROM customers WHERE id = i)",
    "CREATE MACRO found(k) AS TABLE SELECT * FROM customers WHERE id >= k",
    "CREATE MACRO since(k) AS TABLE SELECT id, day AS email FROM orders WHERE id > k",
    "CREATE MACRO email(c) AS c || '!'",
)

POSTGRES_TYPES = (
    "CREATE TYPE place AS (city text, street text)",
    "CREATE DOMAIN address_text AS text CHECK (VALUE LIKE '%@%')",
)

READER = "oracle_reader"
"""The role of Postgres that runs statements: no superuser, so that row-level policies hold for it."""

POSTGRES_MORE = (
    'ALTER TABLE accounts ALTER COLUMN "Email" TYPE address_text',
    "CREATE TABLE events_eu PARTITION OF events FOR VALUES IN ('eu')",
    "CREATE TABLE events_us PARTITION OF events FOR VALUES IN ('us')",
    "CREATE FUNCTION label(customers) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.email || $1.country'",
    "CREATE FUNCTION mail_of(integer) RETURNS text LANGUAGE sql STABLE AS 'SELECT email FROM customers WHERE id = $1'",
    "ALTER TABLE cases ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own ON cases USING (owner > 'm')",
)


@dataclass(frozen=True, slots=True)
class Shop:
    """What makes the two databases of an engine, and what statements can name there."""

    dialect: Dialect
    before: tuple[str, ...]
    tables: tuple[Table, ...]
    after: tuple[str, ...]
    views: tuple[View, ...]
    more: tuple[Relation, ...] = ()

    @property
    def relations(self) -> tuple[Relation, ...]:
        hidden = {"cases"}
        stored = (
            Relation(table.name, table.relation.columns, has_tagged_rows=table.name in hidden)
            for table in self.tables
        )
        return (*stored, *(view.relation for view in self.views), *self.more)

    @property
    def tagged(self) -> frozenset[str]:
        """Tagged columns as inspections name them. A computed column is not tagged itself: its source is."""
        schema = "public" if self.dialect == "postgres" else "main"
        names = {
            f"{table.name}.{stored.name}" for table in self.tables for stored in table.columns if stored.twin
        }
        if self.dialect == "postgres":
            names |= {"events_eu.note", "events_us.note"}
        return frozenset(f"{schema}.{name}" for name in names)

    def script(self, *, is_twin: bool) -> list[str]:
        """The statements that make one of the two databases."""
        made = [*self.before, *(create_table(table, self.dialect) for table in self.tables)]
        if self.dialect == "postgres":
            made += self.after
        made += [insert_rows(table, self.dialect, is_twin=is_twin) for table in self.tables]
        if self.dialect != "postgres":
            made += self.after
        return made + [create_view(view) for view in self.views]


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def create_table(table: Table, dialect: Dialect) -> str:
    kinds = TYPES[dialect]
    fields = [f"{quote(stored.name)} {kinds[stored.kind]}" for stored in table.columns]
    storage = "STORED" if dialect == "postgres" else "VIRTUAL"
    fields += [
        f"{quote(column.name)} {kinds[column.kind]} GENERATED ALWAYS AS ({expression}) {storage}"
        for column, expression in table.generated
    ]
    if table.key:
        fields.append(f"PRIMARY KEY ({table.key})")
    ending = ""
    if table is CODES and dialect == "sqlite":
        ending = " WITHOUT ROWID"
    if table is EVENTS and dialect == "postgres":
        ending = " PARTITION BY LIST (region)"
    return f"CREATE TABLE {quote(table.name)} ({', '.join(fields)}){ending}"


def insert_rows(table: Table, dialect: Dialect, *, is_twin: bool) -> str:
    kept = [pick_values(stored, is_twin=is_twin) for stored in table.columns]
    rows = (
        ", ".join(
            literal(cell, stored.kind, dialect) for cell, stored in zip(row, table.columns, strict=True)
        )
        for row in zip(*kept, strict=True)
    )
    names = ", ".join(quote(stored.name) for stored in table.columns)
    return f"INSERT INTO {quote(table.name)} ({names}) VALUES ({'), ('.join(rows)})"


def pick_values(stored: Stored, *, is_twin: bool) -> tuple[Cell, ...]:
    return stored.twin if is_twin and stored.twin else stored.values


def literal(cell: Cell, kind: Kind, dialect: Dialect) -> str:
    """A value as the engine writes it."""
    if cell is None or isinstance(cell, int):
        return "NULL" if cell is None else str(cell)
    if isinstance(cell, str):
        return f"'{cell}'"
    inner = [f"'{part}'" for part in cell]
    if dialect == "sqlite":
        words = ", ".join(f'"{part}"' for part in cell)
        return f"'[{words}]'" if kind == "list" else f'\'{{"city": "{cell[0]}", "street": "{cell[1]}"}}\''
    if kind == "list":
        return f"[{', '.join(inner)}]" if dialect == "duckdb" else f"ARRAY[{', '.join(inner)}]::text[]"
    if dialect == "duckdb":
        return f"{{'city': {inner[0]}, 'street': {inner[1]}}}"
    return f"ROW({', '.join(inner)})::place"


def create_view(view: View) -> str:
    names = f" ({', '.join(map(quote, view.names))})" if view.names else ""
    kind = "MATERIALIZED VIEW" if view.is_materialized else "VIEW"
    return f"CREATE {kind} {quote(view.name)}{names} AS {view.query}"


DUCKDB_CALLS = (
    Relation("found(2)", columns(PEOPLE), is_call=True),
    Relation("since(11)", columns("id:int, email:date"), is_call=True),
)

SHOPS: dict[Dialect, Shop] = {
    "duckdb": Shop("duckdb", (), TABLES, MACROS, VIEWS, DUCKDB_CALLS),
    "sqlite": Shop("sqlite", (), (*TABLES, CODES), INDEXES, VIEWS),
    "postgres": Shop(
        "postgres",
        POSTGRES_TYPES,
        (*TABLES, CODES, EVENTS, ACCOUNTS, CASES),
        (*POSTGRES_MORE, *INDEXES),
        (
            *VIEWS,
            View(
                "kept", "SELECT id, email AS e FROM people", columns("id:int, e:text!"), is_materialized=True
            ),
            View(
                "regional",
                "SELECT * FROM events WHERE region = 'eu'",
                columns("id:int, region:text, note:text!"),
            ),
        ),
        (Relation("events_eu", columns("id:int, region:text, note:text!")),),
    ),
}
