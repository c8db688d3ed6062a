"""DuckDB's catalogue: tables, views with their queries, macros; and whether all names of a query are in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from askback.guards.sql.engines.duckdb.session import Connection
from askback.guards.sql.engines.duckdb.syntax import Syntax
from askback.guards.sql.names import split_words
from askback.guards.sql.system import describes_the_schema, harmless_functions

RELATIONS = """
SELECT database_name, schema_name, table_name, internal, sql, false FROM system.main.duckdb_tables()
UNION ALL SELECT database_name, schema_name, view_name, internal, sql, true FROM system.main.duckdb_views()
"""
"""Functions are named in full here and elsewhere, since a macro can hide any function of DuckDB's own."""

COLUMNS = """
SELECT database_name, schema_name, table_name, column_name FROM system.main.duckdb_columns()
WHERE NOT internal ORDER BY column_index
"""

FUNCTIONS = """
SELECT function_name, function_type, macro_definition FROM system.main.duckdb_functions() WHERE NOT internal
"""

BUILTINS = "SELECT DISTINCT function_name FROM system.main.duckdb_functions() WHERE internal"

TYPES = "SELECT DISTINCT type_name FROM system.main.duckdb_types()"

MACROS = frozenset({"macro", "table_macro"})

PLACE = """
SELECT system.main.current_database(), system.main.current_schemas(true),
  (SELECT bool_and(readonly) FROM system.main.duckdb_databases() WHERE NOT internal)
"""

NAME = r'(?:\w+|"(?:[^"]|"")*")'

VIEW = re.compile(
    rf"CREATE\s+(?:TEMP\s+|TEMPORARY\s+)?VIEW\s+{NAME}(?:\.{NAME})*\s*(?:\(\s*{NAME}(?:\s*,\s*{NAME})*\s*\)\s*)?"
    r"AS\s+",
    re.IGNORECASE,
)
"""How the catalogue writes the beginning of a view."""

GENERATED = re.compile(r"\bGENERATED\s+ALWAYS\b", re.IGNORECASE)

Path = tuple[str, str, str]
"""Database, schema and name, as DuckDB stores them."""


@dataclass(frozen=True, slots=True)
class DuckDBRelation:
    """A table or a view."""

    path: Path
    is_internal: bool
    is_view: bool
    sql: str
    columns: tuple[str, ...] = ()

    @property
    def query(self) -> str | None:
        """The query of a view; None where it is not written as expected."""
        found = VIEW.match(self.sql)
        return self.sql[found.end() :] if found else None


@dataclass(frozen=True, slots=True)
class Macro:
    """Functions that somebody defined under one name, with the queries that stand for them."""

    queries: tuple[str, ...]
    hides_builtin: bool
    """Whether DuckDB has a function of its own of this name: which one is meant depends on the search path."""
    is_readable: bool
    """Whether all of them are macros. Functions in other languages cannot be looked into."""


@dataclass(frozen=True)
class DuckDBSchema:
    """A snapshot of the catalogue, with room for what was found out about views and macros."""

    database: str
    search_path: frozenset[str]
    relations: tuple[DuckDBRelation, ...]
    macros: Mapping[str, Macro]
    types: frozenset[str]
    """In small letters. For one that is not here, DuckDB may fetch an extension from the network."""
    loaded_at: float
    is_fixed: bool
    """Whether all databases are read-only, so that tables, views and comments cannot change."""
    token: object = field(default_factory=object)
    generated: dict[Path, Mapping[str, frozenset[str]]] = field(
        default_factory=dict[Path, Mapping[str, frozenset[str]]]
    )
    """For each table that was asked about, the columns from which its generated columns are computed."""

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[DuckDBRelation, ...]]:
        found: dict[str, tuple[DuckDBRelation, ...]] = {}
        for relation in self.relations:
            name = relation.path[-1].lower()
            found[name] = (*found.get(name, ()), relation)
        return found

    def find(self, parts: tuple[str, ...]) -> tuple[DuckDBRelation, ...]:
        """Every table or view that a name in a statement can mean; folding is that of ASCII and more."""
        *outer, name = (part.lower() for part in parts)
        return tuple(found for found in self._by_name.get(name, ()) if _agrees(found.path, tuple(outer)))

    def get(self, path: Path) -> DuckDBRelation | None:
        named = self._by_name.get(path[-1].lower(), ())
        return next((relation for relation in named if relation.path == path), None)

    def is_in_search_path(self, relation: DuckDBRelation) -> bool:
        database, schema, _ = relation.path
        return database in {self.database, "temp", "system"} and schema in self.search_path

    def name(self, path: Path) -> tuple[str, ...]:
        """The parts by which a relation is reported: the database only where it is another one."""
        return path[1:] if path[0] == self.database else path


def _agrees(path: Path, outer: tuple[str, ...]) -> bool:
    database, schema = path[0].lower(), path[1].lower()
    if len(outer) > 1:
        return outer[-2:] == (database, schema)
    return not outer or outer[0] in {database, schema}


def load_schema(cursor: Connection, *, now: float) -> DuckDBSchema:
    """Takes some 15 ms, most of it for the list of functions, of which DuckDB has three thousand."""
    database, search_path, is_fixed = cursor.execute(PLACE).fetchall()[0]
    columns: dict[tuple[str, ...], tuple[str, ...]] = {}
    for *path, column in cursor.execute(COLUMNS).fetchall():
        columns[tuple(path)] = (*columns.get(tuple(path), ()), column)
    relations = [
        DuckDBRelation(
            (place, schema, name), is_internal, is_view, sql or "", columns.get((place, schema, name), ())
        )
        for place, schema, name, is_internal, sql, is_view in cursor.execute(RELATIONS).fetchall()
    ]
    types = frozenset(name.lower() for (name,) in cursor.execute(TYPES).fetchall())
    return DuckDBSchema(
        database=database,
        search_path=frozenset(search_path),
        relations=tuple(relations),
        macros=_load_macros(cursor),
        types=types,
        loaded_at=now,
        is_fixed=bool(is_fixed),
    )


def _load_macros(cursor: Connection) -> Mapping[str, Macro]:
    defined: dict[str, list[tuple[str, str | None]]] = {}
    for name, kind, definition in cursor.execute(FUNCTIONS).fetchall():
        defined.setdefault(name.lower(), []).append((kind, definition))
    builtins = {name.lower() for (name,) in cursor.execute(BUILTINS).fetchall()} if defined else set[str]()
    return {
        name: Macro(
            queries=tuple(f"SELECT {text}" if kind == "macro" else text or "" for kind, text in found),
            hides_builtin=name in builtins,
            is_readable=all(kind in MACROS and definition for kind, definition in found),
        )
        for name, found in defined.items()
    }


OPERATOR = re.compile(r"\W+")
"""`+`, `||`, `~~`: they are functions with such a name."""

FILE = re.compile(r"[./\\:*?]")
"""In a name that DuckDB takes for a file or an address where no table has it."""

TABLE_FUNCTIONS = split_words(
    "duckdb_databases duckdb_functions duckdb_keywords duckdb_sequences generate_series generate_subscripts json_each "
    "json_tree pg_timezone_names pragma_version range repeat_row show_tables unnest"
)
"""Table functions that read only their arguments. Those that describe the schema are harmless too."""

MAX_QUOTED = 80


class Lookup:
    """Looks up the names of a query, and of the views and macros in it, in one schema."""

    def __init__(self, schema: DuckDBSchema, parse: Callable[[str], Syntax | None]) -> None:
        self._schema, self._parse = schema, parse
        self._seen: set[str] = set()
        self.doubts: list[str] = []
        self.columns: set[tuple[str, ...]] = set()
        """Columns of views that the query uses, as parts of a name."""

    def check(self, syntax: Syntax) -> None:
        """Collect doubts, and the columns of views."""
        self.doubts += syntax.doubts
        for table in syntax.tables:
            self._check_table(table, syntax)
        for name in syntax.functions | (syntax.names & self._schema.macros.keys()):
            # DuckDB takes `current_user`, for one, for a function where no column has that name.
            self._check_function(
                name, is_known=name in harmless_functions("duckdb") or bool(OPERATOR.fullmatch(name))
            )
        for name in sorted(syntax.types - self._schema.types):
            self.doubts.append(f"there is no type {name[:MAX_QUOTED]}")
        for name in syntax.table_functions:
            known = name in TABLE_FUNCTIONS or describes_the_schema((name,), "duckdb")
            self._check_function(name, is_known=known)

    def _check_table(self, parts: tuple[str, ...], syntax: Syntax) -> None:
        found = self._schema.find(parts)
        own = [relation for relation in found if not relation.is_internal]
        if len(parts) == 1 and FILE.search(parts[0]):
            own = [relation for relation in own if self._schema.is_in_search_path(relation)]
        for relation in own:
            if relation.is_view:
                named = (column for column in relation.columns if column.lower() in syntax.names)
                used = relation.columns if syntax.takes_all else named
                self.columns.update((*self._schema.name(relation.path), column) for column in used)
                self._check_query(relation.query)
        # A CTE may stand anywhere in the query: whether it is in its scope, the engine will say.
        is_cte = len(parts) == 1 and parts[0].lower() in syntax.ctes and not FILE.search(parts[0])
        if own or is_cte:
            return
        lowered = tuple(part.lower() for part in parts)
        if not found:
            self.doubts.append(f"there is no table {'.'.join(parts)[:MAX_QUOTED]}")
        elif not describes_the_schema(lowered[-2:], "duckdb"):
            self.doubts.append(f"{'.'.join(parts)[:MAX_QUOTED]} is a table of the engine")

    def _check_function(self, name: str, *, is_known: bool) -> None:
        macro = self._schema.macros.get(name)
        if not is_known and (macro is None or macro.hides_builtin):
            self.doubts.append(f"{name[:MAX_QUOTED]}() is not known to be harmless")
        elif macro is not None and not macro.is_readable:
            self.doubts.append(f"{name[:MAX_QUOTED]}() cannot be looked into")
        elif macro is not None:
            for query in macro.queries:
                self._check_query(query)

    def _check_query(self, query: str | None) -> None:
        """Look into a view or a macro, once."""
        if query in self._seen:
            return
        syntax = self._parse(query) if query else None
        if syntax is None:
            self.doubts.append("a view or a macro in it cannot be looked into")
        else:
            self._seen.add(query or "")
            self.check(syntax)
