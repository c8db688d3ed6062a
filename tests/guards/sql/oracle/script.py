"""The SQL that makes tables, rows and views of the oracle's shop in each dialect."""

from tests.guards.sql.oracle.relations import Cell, Dialect, Kind, Stored, Table, View

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


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def full_name(table: Table) -> str:
    return ".".join(map(quote, (*table.schema, table.name)))


def create_table(table: Table, dialect: Dialect) -> str:
    if table.creation:
        return table.creation
    kinds = TYPES[dialect]
    fields = [f"{quote(stored.name)} {kinds[stored.kind]}" for stored in table.columns]
    storage = "STORED" if dialect == "postgres" else "VIRTUAL"
    fields += [
        f"{quote(column.name)} {kinds[column.kind]} GENERATED ALWAYS AS ({expression}) {storage}"
        for column, expression in table.generated
    ]
    if table.key:
        fields.append(f"PRIMARY KEY ({table.key})")
    return f"CREATE TABLE {full_name(table)} ({', '.join(fields)}){table.ending}"


def insert_rows(table: Table, dialect: Dialect, *, is_twin: bool) -> str:
    kept = [pick_values(stored, is_twin=is_twin) for stored in table.columns]
    rows = (
        ", ".join(
            literal(cell, stored.kind, dialect) for cell, stored in zip(row, table.columns, strict=True)
        )
        for row in zip(*kept, strict=True)
    )
    names = ", ".join(quote(stored.name) for stored in table.columns)
    return f"INSERT INTO {full_name(table)} ({names}) VALUES ({'), ('.join(rows)})"


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
