"""What DuckDB says about one statement, on a connection of our own. Knows no threads and no time limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from askback.guards.sql.engines.duckdb.change import Change, fill_pivot, read_change, strip_explain
from askback.guards.sql.engines.duckdb.connection import Connection
from askback.guards.sql.engines.duckdb.expressions import UnknownPlan
from askback.guards.sql.engines.duckdb.lookup import PARSE, TABLE_FUNCTIONS, Lookup, read_tree
from askback.guards.sql.engines.duckdb.plan import Reads
from askback.guards.sql.engines.duckdb.schema import Path, Schema
from askback.guards.sql.engines.duckdb.syntax import Syntax, read_syntax
from askback.guards.sql.engines.duckdb.text import find_problem
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.systems import describes_the_schema

PLAN = "SELECT system.main.json_serialize_plan($1, optimize := false)"
"""Binds a query and gives its plan; it runs nothing of it and changes no setting."""

ONLY_QUERIES = "not implemented"
"""The type of the error that `json_serialize_sql` gives for all but queries."""

CONSTRAINTS = """
SELECT database_name, schema_name, table_name, constraint_column_names FROM system.main.duckdb_constraints()
WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
    AND ((database_name, schema_name, table_name) = ($1, $2, $3) OR (database_name, schema_name) = ($1, $2)
    AND constraint_type = 'FOREIGN KEY')
"""
"""A change fails where a key is taken, or still referred to: that tells of the columns of the key."""

SHAPES = (UnknownPlan, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a tree raises where it is not of the shape that is known."""

SHOW = "pragma_show"
"""What DuckDB 2 makes of `SHOW customers` in a plan."""

UNKNOWN = "its plan has a shape that is not known"


@dataclass(slots=True)
class Inspector:
    """Inspects one statement after the other against a schema, which is loaded when it is needed."""

    cursor: Connection
    schema: Schema
    reload: Callable[[], Schema]
    """Gives a schema that is not older than this inspection."""

    def inspect(self, statement: str) -> Inspection:
        """Never raises because of the statement."""
        if problem := find_problem(statement):
            return Inspection(doubts=(problem,))
        if inner := strip_explain(statement):
            return replace(self._inspect_query(inner), can_be_planned=False)
        return self._inspect_query(statement)

    def _inspect_query(self, statement: str) -> Inspection:
        tree = read_tree(self.cursor.execute(PARSE, [statement]).fetchall()[0][0])
        if not tree["error"]:
            return self._inspect_parsed(statement, cast("list[Any]", tree["statements"]))
        if tree["error_type"] == ONLY_QUERIES:
            change = read_change(statement)
            return self._inspect_change(change) if change else self._inspect_pivot(statement)
        if tree["error_type"] == "size":
            return Inspection(doubts=("the statement is too complex to be looked at",))
        return Inspection(doubts=("DuckDB cannot parse it",))

    def _inspect_parsed(self, statement: str, statements: list[Any]) -> Inspection:
        if len(statements) != 1:
            return Inspection(doubts=("it is not exactly one statement",))
        try:
            syntax = read_syntax(statements[0])
        except SHAPES:
            return Inspection(doubts=("its syntax has a shape that is not known",))
        writes = ("change rows in a query",) if syntax.changes else ()
        lookup = self._look_up(syntax)
        if lookup.doubts or writes:
            return Inspection(
                writes=writes, doubts=_distinct(lookup.doubts) or ("it changes rows in a query",)
            )
        return self._inspect_plan(statement, lookup)

    def _look_up(self, syntax: Syntax) -> Lookup:
        lookup = Lookup(self.cursor, self.schema)
        lookup.check(syntax)
        if lookup.doubts and not syntax.doubts and (schema := self.reload()) is not self.schema:
            self.schema = schema
            lookup = Lookup(self.cursor, schema)
            lookup.check(syntax)
        return lookup

    def _inspect_plan(self, statement: str, lookup: Lookup) -> Inspection:
        tree = read_tree(self.cursor.execute(PLAN, [statement]).fetchall()[0][0])
        if tree["error"]:
            doubt = "its plan is too large" if tree["error_type"] == "size" else "DuckDB does not accept it"
            return Inspection(doubts=(doubt,), is_query=True)
        reads = Reads(_is_known)
        try:
            (plan,) = tree["plans"]
            reads.read(plan)
            columns = {(*path, column) for *path, column in reads.columns}
            found = lookup.columns | self._named(columns | self._generated(reads.columns))
        except SHAPES:
            return Inspection(doubts=(UNKNOWN,), is_query=True, can_be_planned=True)
        doubts = ("a name in it has a dot",) if any("." in part for parts in found for part in parts) else ()
        names = frozenset(".".join(parts) for parts in found)
        return Inspection(columns=names, doubts=doubts, is_query=True, can_be_planned=True)

    def _named(self, columns: "set[tuple[str, ...]]") -> set[tuple[str, ...]]:
        return {(*self.schema.name(cast("Path", parts[:3])), parts[3]) for parts in columns}

    def _generated(self, columns: set[tuple[str, str, str, str]]) -> set[tuple[str, ...]]:
        """Columns that are computed from those that are read: a plan has only what they are computed from."""
        found: set[tuple[str, ...]] = set()
        for path in {parts[:3] for parts in columns}:
            read = {column for *table, column in columns if tuple(table) == path}
            sources = self._sources(path)
            found |= {(*path, name) for name, used in sources.items() if used & read}
        return found

    def _sources(self, path: Path) -> "dict[str, frozenset[str]]":
        """What each generated column of a table is computed from."""
        relation = self.schema.get(path)
        if relation is None or not relation.may_generate:
            return {}
        if path not in self.schema.generated:
            quoted = ".".join(map(_quoted, path))
            found = {name: self._read(f"SELECT {_quoted(name)} FROM {quoted}") for name in relation.columns}
            self.schema.generated[path] = {name: used for name, used in found.items() if name not in used}
        return dict(self.schema.generated[path])

    def _read(self, query: str) -> frozenset[str]:
        tree = read_tree(self.cursor.execute(PLAN, [query]).fetchall()[0][0])
        reads = Reads(_is_known)
        reads.read(tree["plans"][0])
        return frozenset(parts[3] for parts in reads.columns)

    def _inspect_pivot(self, statement: str) -> Inspection:
        filled = fill_pivot(statement)
        inner = self._inspect_inner(filled) if filled else None
        if inner is None:
            return Inspection(doubts=("a PIVOT without its values runs a query before it is planned",))
        return replace(inner, can_be_planned=False)

    def _inspect_change(self, change: Change) -> Inspection:
        relation = next(iter(self.schema.find(change.target)), None) if change.target else None
        named = self.schema.name(relation.path) if relation else change.target
        words = f"{change.words} {'.'.join(named)[:80]}".strip()
        parts = [self._inspect_inner(query) for query in change.queries]
        found = [inner for inner in parts if inner is not None]
        if not parts or len(found) < len(parts):
            return Inspection(writes=(words,), doubts=("what it reads is not known before it runs",))
        keys = self._keys(relation.path) if relation else frozenset[str]()
        return Inspection(
            columns=keys.union(*(inner.columns for inner in found)),
            writes=(words, *(each for inner in found for each in inner.writes)),
            doubts=_distinct([doubt for inner in found for doubt in inner.doubts]),
            can_be_planned=change.is_plannable and all(inner.can_be_planned for inner in found),
        )

    def _inspect_inner(self, query: str) -> Inspection | None:
        """A query that was made from a statement; None where DuckDB does not take it for one."""
        if find_problem(query):
            return None
        tree = read_tree(self.cursor.execute(PARSE, [query]).fetchall()[0][0])
        statements = cast("list[Any]", tree.get("statements") or [])
        return self._inspect_parsed(query, statements) if len(statements) == 1 else None

    def _keys(self, path: Path) -> frozenset[str]:
        rows = self.cursor.execute(CONSTRAINTS, list(path)).fetchall()
        columns = {(*table, column) for *table, names in rows for column in names}
        return frozenset(".".join(parts) for parts in self._named(columns))


def _is_known(function: str) -> bool:
    return function in TABLE_FUNCTIONS or function == SHOW or describes_the_schema((function,), "duckdb")


def _distinct(doubts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(doubts))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
