"""Whether everything that a query names is known, views and macros looked into: only then is it bound."""

import re
from collections.abc import Callable

from askback.guards.sql.engines.duckdb.schema import DuckDBRelation, DuckDBSchema
from askback.guards.sql.engines.duckdb.syntax import Syntax
from askback.guards.sql.functions import harmless_functions
from askback.guards.sql.names import words_in
from askback.guards.sql.systems import describes_the_schema

OPERATOR = re.compile(r"\W+")
"""`+`, `||`, `~~`: they are functions with such a name."""

FILE = re.compile(r"[./\\:*?]")
"""In a name that DuckDB takes for a file or an address where no table has it."""

TABLE_FUNCTIONS = words_in(
    "duckdb_databases duckdb_functions duckdb_keywords duckdb_sequences generate_series generate_subscripts json_each "
    "json_tree pg_timezone_names pragma_version range repeat_row show_tables unnest"
)
"""Those that read their arguments alone, beside those that describe the schema."""

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
            self._doubt(f"there is no type {name[:MAX_QUOTED]}")
        for name in syntax.table_functions:
            known = name in TABLE_FUNCTIONS or describes_the_schema((name,), "duckdb")
            self._check_function(name, is_known=known)

    def _check_table(self, parts: tuple[str, ...], syntax: Syntax) -> None:
        found = self._schema.find(parts)
        own = [relation for relation in found if not relation.is_internal]
        if len(parts) == 1 and FILE.search(parts[0]):
            own = [relation for relation in own if self._schema.is_in_search_path(relation)]
        for relation in own:
            self._check_relation(relation, syntax)
        if own or _is_cte(parts, syntax):
            return
        lowered = tuple(part.lower() for part in parts)
        if not found:
            self._doubt(f"there is no table {'.'.join(parts)[:MAX_QUOTED]}")
        elif not describes_the_schema(lowered[-2:], "duckdb"):
            self._doubt(f"{'.'.join(parts)[:MAX_QUOTED]} is a table of the engine")

    def _check_relation(self, relation: DuckDBRelation, syntax: Syntax) -> None:
        if relation.is_view:
            used = relation.columns if syntax.takes_all else _named(relation, syntax)
            self.columns.update((*self._schema.name(relation.path), column) for column in used)
            self._check_query(relation.query)

    def _check_function(self, name: str, *, is_known: bool) -> None:
        macro = self._schema.macros.get(name)
        if not is_known and (macro is None or macro.hides_builtin):
            self._doubt(f"{name[:MAX_QUOTED]}() is not known to be harmless")
        elif macro is not None and not macro.is_readable:
            self._doubt(f"{name[:MAX_QUOTED]}() cannot be looked into")
        elif macro is not None:
            for query in macro.queries:
                self._check_query(query)

    def _check_query(self, query: str | None) -> None:
        """Look into a view or a macro, once."""
        if query in self._seen:
            return
        syntax = self._parse(query) if query else None
        if syntax is None:
            self._doubt("a view or a macro in it cannot be looked into")
        else:
            self._seen.add(query or "")
            self.check(syntax)

    def _doubt(self, doubt: str) -> None:
        self.doubts.append(doubt)


def _is_cte(parts: tuple[str, ...], syntax: Syntax) -> bool:
    """A name of a CTE anywhere in the query: whether it is in its scope, the engine will say."""
    return len(parts) == 1 and parts[0].lower() in syntax.ctes and not FILE.search(parts[0])


def _named(relation: DuckDBRelation, syntax: Syntax) -> tuple[str, ...]:
    return tuple(column for column in relation.columns if column.lower() in syntax.names)
