"""What DuckDB says about one statement, on a connection of our own. Knows no threads and no time limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from askback.guards.sql.engines.duckdb.change import DuckDBChange, fill_pivot, read_change, strip_explain
from askback.guards.sql.engines.duckdb.expressions import UnknownPlan
from askback.guards.sql.engines.duckdb.lookup import TABLE_FUNCTIONS, Lookup
from askback.guards.sql.engines.duckdb.parse_cache import ParseCache, ParsedText
from askback.guards.sql.engines.duckdb.plan import PlanReader
from askback.guards.sql.engines.duckdb.schema import DuckDBRelation, DuckDBSchema, Path
from askback.guards.sql.engines.duckdb.session import DuckDBSession
from askback.guards.sql.engines.duckdb.syntax import SHAPES, Syntax
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.systems import describes_the_schema

KEYS = """
SELECT database_name, schema_name, table_name, constraint_column_names FROM system.main.duckdb_constraints()
WHERE constraint_type <> 'NOT NULL' AND database_name = $1 AND schema_name = $2
    AND (table_name = $3 OR constraint_type = 'FOREIGN KEY')
UNION ALL SELECT database_name, schema_name, table_name, NULL FROM system.main.duckdb_indexes()
WHERE is_unique AND database_name = $1 AND schema_name = $2 AND table_name = $3
"""
"""A change fails where a key is taken, still referred to, or checked against others: that tells of these columns. An
index may be on any of them."""

SHOW = "pragma_show"
"""What DuckDB 2 makes of `SHOW customers` in a plan."""

PIVOT = "a PIVOT without its values runs a query before it is planned"

UNREADABLE = "what it reads is not known before it runs"

Name = tuple[str, ...]
"""The parts of the name of a column."""


@dataclass(slots=True)
class DuckDBInspector:
    """Inspects one statement against a snapshot of the catalogue."""

    session: DuckDBSession
    texts: ParseCache
    schema: DuckDBSchema
    reload: Callable[[], DuckDBSchema]
    """Gives a snapshot that is not older than this inspection."""

    def inspect(self, statement: str) -> Inspection:
        """Never raises because of the statement, except what the engine raises."""
        if inner := strip_explain(statement):
            return replace(self._inspect_parsed(inner, self._parse(inner)), can_be_planned=False)
        parsed = self._parse(statement)
        if not parsed.is_statement:
            return self._inspect_parsed(statement, parsed)
        change = read_change(statement)
        return self._inspect_change(change) if change else self._inspect_pivot(statement)

    def _parse(self, text: str) -> ParsedText:
        return self.texts.parse(self.session, text)

    def _inspect_parsed(self, statement: str, parsed: ParsedText) -> Inspection:
        syntax = parsed.syntax
        if syntax is None:
            return Inspection(doubts=(parsed.doubt or UNREADABLE,))
        if syntax.changes:
            return Inspection(writes=("change rows within a query",), doubts=(UNREADABLE,))
        lookup = self._look_up(syntax)
        if lookup.doubts:
            return Inspection(doubts=tuple(dict.fromkeys(lookup.doubts)))
        return self._inspect_plan(statement, lookup.columns)

    def _look_up(self, syntax: Syntax) -> Lookup:
        lookup = Lookup(self.schema, lambda text: self._parse(text).syntax)
        lookup.check(syntax)
        if lookup.doubts and not syntax.doubts and (schema := self.reload()) is not self.schema:
            self.schema = schema
            return self._look_up(syntax)
        return lookup

    def _inspect_plan(self, statement: str, viewed: set[Name]) -> Inspection:
        tree = self.session.plan(statement)
        if tree["error"]:
            doubt = "its plan is too large" if tree["error_type"] == "size" else "DuckDB does not accept it"
            return Inspection(doubts=(doubt,), is_query=True)
        reads = PlanReader(_is_known)
        try:
            (plan,) = tree["plans"]
            reads.read(plan)
            found = viewed | self._named(reads.columns | self._generated(reads.columns))
        except (UnknownPlan, *SHAPES):
            doubt = "its plan has a shape that is not known"
            return Inspection(doubts=(doubt,), is_query=True, can_be_planned=True)
        is_dotted = any("." in part for parts in found for part in parts)
        return Inspection(
            columns=frozenset(map(".".join, found)),
            doubts=("a name in it has a dot",) if is_dotted else (),
            is_query=True,
            can_be_planned=True,
        )

    def _named(self, columns: set[Name]) -> set[Name]:
        return {(*self.schema.name(cast("Path", parts[:3])), parts[3]) for parts in columns}

    def _generated(self, columns: set[Name]) -> set[Name]:
        """Columns that are computed from those that are read: a plan has only what they are computed from."""
        found: set[Name] = set()
        for path in {cast("Path", parts[:3]) for parts in columns}:
            read = {parts[3] for parts in columns if parts[:3] == path}
            found |= {(*path, name) for name, used in self._sources(path).items() if used & read}
        return found

    def _sources(self, path: Path) -> dict[str, frozenset[str]]:
        """What each generated column of a table is computed from."""
        relation = self.schema.get(path)
        if relation is None or not relation.may_generate:
            return {}
        if path not in self.schema.generated:
            table = ".".join(map(_quoted, path))
            found = {name: self._read(f"SELECT {_quoted(name)} FROM {table}") for name in relation.columns}
            self.schema.generated[path] = {name: used for name, used in found.items() if name not in used}
        return dict(self.schema.generated[path])

    def _read(self, query: str) -> frozenset[str]:
        reads = PlanReader(_is_known)
        reads.read(self.session.plan(query)["plans"][0])
        return frozenset(parts[3] for parts in reads.columns)

    def _inspect_pivot(self, statement: str) -> Inspection:
        filled = fill_pivot(statement)
        parsed = self._parse(filled) if filled else ParsedText()
        if filled is None or parsed.syntax is None:
            return Inspection(doubts=(PIVOT,))
        return replace(self._inspect_parsed(filled, parsed), can_be_planned=False)

    def _inspect_change(self, change: DuckDBChange) -> Inspection:
        relation = next(iter(self.schema.find(change.target)), None) if change.target else None
        named = self.schema.name(relation.path) if relation else change.target
        words = f"{change.words} {'.'.join(named)[:80]}".strip()
        parsed = [self._parse(query) for query in change.queries]
        if not parsed or any(each.syntax is None for each in parsed):
            return Inspection(writes=(words,), doubts=(UNREADABLE,))
        inner = [self._inspect_parsed(*each) for each in zip(change.queries, parsed, strict=True)]
        keys = self._keys(relation) if relation else frozenset[str]()
        return Inspection(
            columns=keys.union(*(each.columns for each in inner)),
            writes=(words, *(word for each in inner for word in each.writes)),
            doubts=tuple(dict.fromkeys(doubt for each in inner for doubt in each.doubts)),
            can_be_planned=change.is_plannable and all(each.can_be_planned for each in inner),
        )

    def _keys(self, relation: DuckDBRelation) -> frozenset[str]:
        """Columns of keys that a change of this table can violate."""
        rows = self.session.cursor.execute(KEYS, list(relation.path)).fetchall()
        found: set[Name] = {(*table, name) for *table, names in rows for name in names or relation.columns}
        return frozenset(map(".".join, self._named(found)))


def _is_known(function: str) -> bool:
    return function in TABLE_FUNCTIONS or function == SHOW or describes_the_schema((function,), "duckdb")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
