"""A small shop with two tagged columns, as each engine keeps it, and as a catalogue tells of it."""

from collections.abc import Mapping
from typing import NamedTuple

from askback.guards.sql import Dialect, SQLReading, read

SCHEMA: dict[Dialect, str] = {
    "duckdb": "main",
    "postgres": "public",
    "sqlite": "main",
    "trino": "shop",
}


class Engine(NamedTuple):
    """Types that are spelled differently."""

    list_type: str
    json_type: str
    address_type: str


ENGINES: dict[Dialect, Engine] = {
    "duckdb": Engine("VARCHAR[]", "JSON", "STRUCT(city VARCHAR, street VARCHAR)"),
    "postgres": Engine("text[]", "jsonb", "jsonb"),
    "sqlite": Engine("TEXT", "TEXT", "TEXT"),
    "trino": Engine("array(varchar)", "json", "row(city varchar, street varchar)"),
}

QUERIES = {
    "people": "SELECT * FROM customers",
    "contacts": "SELECT id, lower(email) AS reach, country FROM people",
    "by_country": "SELECT country, count(*) AS n FROM customers GROUP BY country",
    "residents": "SELECT p.id, p.country, c.title FROM people p JOIN countries c ON c.code = p.country",
    "grown": "SELECT id, country FROM customers WHERE born < DATE '2000-01-01'",
}


def tables(dialect: Dialect) -> dict[str, dict[str, str]]:
    schema, engine = SCHEMA[dialect], ENGINES[dialect]
    customers = {
        "id": "INTEGER",
        "name": "VARCHAR(80)",
        "email": "VARCHAR(80)",
        "country": "VARCHAR(2)",
        "born": "DATE",
    }
    customers |= {"tags": engine.list_type, "notes": engine.json_type, "address": engine.address_type}
    orders = {
        "id": "INTEGER",
        "customer_id": "INTEGER",
        "total": "DOUBLE PRECISION",
        "day": "DATE",
        "status": "VARCHAR(9)",
    }
    countries = {"code": "VARCHAR(2)", "title": "VARCHAR(40)"}
    odd = {"id": "INTEGER", "Full Name": "VARCHAR(80)", "ORDER": "INTEGER"}
    names = {"customers": customers, "orders": orders, "countries": countries, "Odd Ones": odd}
    return {f"{schema}.{name}": columns for name, columns in names.items()}


def views(dialect: Dialect) -> dict[str, str]:
    queries = dict(QUERIES)
    if dialect == "sqlite":
        queries["grown"] = queries["grown"].replace("DATE '", "'")
    return {f"{SCHEMA[dialect]}.{name}": query for name, query in queries.items()}


def tagged(dialect: Dialect) -> Mapping[str, str]:
    schema = SCHEMA[dialect]
    return {
        f"{schema}.customers.email": "contact",
        f"{schema}.customers.born": "birth",
        f"{schema}.Odd Ones.Full Name": "name",
    }


def look(statement: str, dialect: Dialect) -> SQLReading:
    """The reading of a statement against this shop."""
    return read(
        statement, dialect=dialect, tables=tables(dialect), views=views(dialect), tagged=tagged(dialect)
    )


def personal(reading: SQLReading) -> set[str]:
    """The tagged columns by their last names."""
    return {column.rpartition(".")[2] for column in reading.personal}


def rows(dialect: Dialect) -> list[str]:
    """One customer, one order, one country."""
    lists, notes, address = {
        "duckdb": ("['new', 'vip']", "'{\"a\": 1}'", "{'city': 'Turin', 'street': 'Via Po'}"),
        "postgres": ("ARRAY['new', 'vip']", "'{\"a\": 1}'", '\'{"city": "Turin"}\''),
        "sqlite": ("'[\"new\"]'", "'{\"a\": 1}'", '\'{"city": "Turin"}\''),
        "trino": ("", "", ""),
    }[dialect]
    return [
        f"INSERT INTO customers VALUES (1, 'Ada', 'ada@example.org', 'IT', '1985-12-10', {lists}, {notes}, {address})",
        "INSERT INTO orders VALUES (10, 1, 12.5, '2026-01-02', 'paid')",
        "INSERT INTO countries VALUES ('IT', 'Italy')",
        "INSERT INTO \"Odd Ones\" VALUES (1, 'Ada L', 3)",
    ]


def script(dialect: Dialect) -> list[str]:
    """What makes the shop on an engine."""
    made: list[str] = []
    for name, columns in tables(dialect).items():
        fields = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
        key = ", PRIMARY KEY (id)" if "id" in columns else ", PRIMARY KEY (code)"
        made.append(f'CREATE TABLE "{name.partition(".")[2]}" ({fields}{key})')
    made += rows(dialect)
    made += [f"CREATE VIEW {name.partition('.')[2]} AS {query}" for name, query in views(dialect).items()]
    return made
