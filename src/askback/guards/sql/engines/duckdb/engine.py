"""An embedded DuckDB that says what a statement reads, and runs approved ones."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import duckdb

from askback.errors import ChangedSinceApproval
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.duckdb.change import DuckDBChange, fill_pivot, read_change, strip_explain
from askback.guards.sql.engines.duckdb.plan import PlanReader, UnknownPlan
from askback.guards.sql.engines.duckdb.schema import (
    GENERATED,
    DuckDBRelation,
    DuckDBSchema,
    Lookup,
    Path,
    load_schema,
)
from askback.guards.sql.engines.duckdb.session import (
    PLAN,
    Connection,
    Database,
    DuckDBJob,
    ParsedText,
    ask_for_tree,
    parse_text,
)
from askback.guards.sql.engines.duckdb.syntax import SHAPES, Syntax
from askback.guards.sql.engines.engine import Inspection, SQLRows, cut_rows, doubt, join_columns
from askback.guards.sql.names import Dialect, quote_name
from askback.guards.sql.text import TextCache

KEYS = """
SELECT database_name, schema_name, table_name, constraint_column_names FROM system.main.duckdb_constraints()
WHERE constraint_type <> 'NOT NULL' AND database_name = $1 AND schema_name = $2
    AND (table_name = $3 OR constraint_type = 'FOREIGN KEY')
UNION ALL SELECT database_name, schema_name, table_name, NULL FROM system.main.duckdb_indexes()
WHERE is_unique AND database_name = $1 AND schema_name = $2 AND table_name = $3
"""
"""A change fails where a key is taken, still referred to, or checked against others, which reveals these columns. An
index may be on any of them."""

PIVOT = "a PIVOT without its values runs a query before it is planned"

UNREADABLE = "what it reads is not known before it runs"

Name = tuple[str, ...]
"""The parts of the name of a column."""


@dataclass(slots=True)
class DuckDBInspector:
    """Inspects one statement against a snapshot of the catalogue."""

    cursor: Connection
    texts: TextCache[ParsedText]
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
        """Parse a text, or take its tree from the cache. Equal texts have equal trees; plans change."""
        parsed = self.texts.get(text)
        if parsed is None:
            parsed = parse_text(self.cursor, text)
            self.texts.keep(text, parsed)
        return parsed

    def _inspect_parsed(self, statement: str, parsed: ParsedText) -> Inspection:
        syntax = parsed.syntax
        if syntax is None:
            return doubt(parsed.doubt or UNREADABLE)
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
        tree = ask_for_tree(self.cursor, PLAN, statement)
        if tree["error"]:
            reason = "its plan is too large" if tree["error_type"] == "size" else "DuckDB does not accept it"
            return Inspection(doubts=(reason,), is_query=True)
        reads = PlanReader()
        try:
            (plan,) = tree["plans"]
            reads.read(plan)
            found = viewed | self._named(reads.columns | self._generated(reads.columns))
        except (UnknownPlan, *SHAPES):
            reason = "its plan has a shape that is not known"
            return Inspection(doubts=(reason,), is_query=True, can_be_planned=True)
        columns, dotted = join_columns(found)
        return Inspection(columns=columns, doubts=dotted, is_query=True, can_be_planned=True)

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
        """The columns from which each generated column of a table is computed."""
        relation = self.schema.get(path)
        if relation is None or relation.is_view or not GENERATED.search(relation.sql):
            return {}
        if path not in self.schema.generated:
            table = ".".join(map(quote_name, path))
            found = {name: self._read(f"SELECT {quote_name(name)} FROM {table}") for name in relation.columns}
            self.schema.generated[path] = {name: used for name, used in found.items() if name not in used}
        return dict(self.schema.generated[path])

    def _read(self, query: str) -> frozenset[str]:
        reads = PlanReader()
        reads.read(ask_for_tree(self.cursor, PLAN, query)["plans"][0])
        return frozenset(parts[3] for parts in reads.columns)

    def _inspect_pivot(self, statement: str) -> Inspection:
        filled = fill_pivot(statement)
        parsed = self._parse(filled) if filled else ParsedText()
        if filled is None or parsed.syntax is None:
            return doubt(PIVOT)
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
            doubts=tuple(dict.fromkeys(reason for each in inner for reason in each.doubts)),
            can_be_planned=change.is_plannable and all(each.can_be_planned for each in inner),
        )

    def _keys(self, relation: DuckDBRelation) -> frozenset[str]:
        """Columns of keys that a change of this table can violate."""
        rows = self.cursor.execute(KEYS, list(relation.path)).fetchall()
        found: set[Name] = {(*table, name) for *table, names in rows for name in names or relation.columns}
        return frozenset(map(".".join, self._named(found)))


SCHEMA_SECONDS = 5.0
"""How long a snapshot of the catalogue is used. What a statement reads always comes from a plan of now; the snapshot
decides only whether it is planned, and is read again where a name is not in it."""

MAX_STUCK = 2
"""Threads that DuckDB does not let go although they were interrupted; beyond that nothing more is inspected."""

LOST = (duckdb.ConnectionException, duckdb.IOException, duckdb.FatalException)
"""Errors of the database, not of a statement."""


class DuckDBEngine:
    """A DuckDB database: a file, which is opened read-only each time, a connection, or a function that gives one.

    It works on cursors: the connection itself, with its settings, its transaction and its temporary tables, is neither
    used nor seen. Where the author's own code runs a statement on another connection, that one's search path counts.
    """

    name: str = "DuckDB"
    dialect: Dialect = "duckdb"

    def __init__(self, database: Database, *, timeout: float = 5.0) -> None:
        self._database, self._timeout = database, timeout
        self._idle: list[Connection] = []
        self._texts: TextCache[ParsedText] = TextCache()
        self._schema: DuckDBSchema | None = None
        self._late: list[DuckDBJob[Any]] = []

    async def inspect(self, statement: str) -> Inspection:
        self._late = [job for job in self._late if not job.is_done]
        if len(self._late) >= MAX_STUCK:
            return doubt("DuckDB is still busy with earlier statements")
        job = DuckDBJob[Inspection](
            self._database, lambda cursor: self._inspect(cursor, statement), idle=self._idle
        )
        try:
            return await job.run(timeout=self._timeout)
        except TimeoutError:
            self._late.append(job)
            return doubt("DuckDB took too long to say what it reads")

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        job = DuckDBJob[SQLRows](
            self._database, lambda cursor: self._run(cursor, statement, inspection, max_rows)
        )
        return await job.run(timeout=self._timeout)

    def _inspect(self, cursor: Connection, statement: str) -> Inspection:
        started = time.monotonic()

        def reload() -> DuckDBSchema:
            if self._schema is None or self._schema.loaded_at < started:
                self._schema = load_schema(cursor, now=time.monotonic())
            return self._schema

        try:
            schema = self._schema
            if schema is None or started - schema.loaded_at > SCHEMA_SECONDS:
                schema = reload()
            found = DuckDBInspector(cursor, self._texts, schema, reload).inspect(statement)
            return replace(found, schema=schema.token) if schema.is_fixed else found
        except LOST:
            raise
        except duckdb.Error:
            return doubt("DuckDB does not accept it")

    def _run(
        self, cursor: Connection, statement: str, inspection: Inspection, max_rows: int | None
    ) -> SQLRows:
        cursor.execute("BEGIN TRANSACTION READ ONLY" if inspection.is_query else "BEGIN TRANSACTION")
        try:
            if self._inspect(cursor, statement) != inspection:
                raise ChangedSinceApproval
            result = cursor.execute(statement)
            names = tuple(column[0] for column in result.description or ())
            rows = result.fetchall() if max_rows is None else result.fetchmany(max_rows + 1)
            if not inspection.is_query:
                cursor.execute("COMMIT")
                self._schema = None
            return cut_rows(names, rows, max_rows)
        finally:
            with suppress(duckdb.Error):  # there is no transaction any more, or it was ended by an error
                cursor.execute("ROLLBACK")
