"""The items of a FROM: tables, subqueries, functions, and joins of them."""

from sqlglot import exp

from askback.guards.sql.expressions import find_sources, look_up
from askback.guards.sql.names import split_words
from askback.guards.sql.scope import (
    OPAQUE,
    ExpressionContext,
    NameScope,
    Relation,
    ScopeEntry,
    blend,
    check_clauses,
    list_parts,
)

TABLE = split_words("this alias db catalog joins pivots ordinality only sample")
JOIN = split_words("this on side kind using method")
SUBQUERY = split_words("with this alias joins pivots sample order limit offset")
LATERAL = split_words("this alias ordinality")
UNNEST = split_words("expressions alias offset")
METHODS = frozenset({"", "NATURAL", "ASOF", "POSITIONAL"})
MAKING_ROWS = split_words(
    "duckdb_columns duckdb_constraints duckdb_databases duckdb_functions duckdb_indexes duckdb_keywords duckdb_schemas "
    "duckdb_sequences duckdb_tables duckdb_views generate_series json_each json_tree pg_timezone_names "
    "pragma_table_info pragma_version range repeat repeat_row unnest"
)
"""Functions of DuckDB that stand after FROM. Others have the same names as harmless ones, and read tables by their
names: `FROM histogram('t', a)`."""


def add_from(item: exp.Expr, place: ExpressionContext) -> None:
    """Enter an item of FROM, and the joins that hang on it, into the scope of its query."""
    if isinstance(item, exp.Join):
        add_join(item, place)
        return
    if isinstance(item, exp.Subquery) and is_wrapped(item):
        add_wrapped(item, place)
    else:
        path, relation = read_source(item, place)
        add_source(item, path, relation, place)
    for sample in list_parts(item, "sample"):
        place.account.count(find_sources(sample, place))
    for join in list_parts(item, "joins"):
        add_from(join, place)


def add_source(item: exp.Expr, path: tuple[str, ...], relation: Relation, place: ExpressionContext) -> None:
    for pivot in list_parts(item, "pivots"):
        relation = read_pivot(pivot, relation, place)
    names = list_column_names(item, place)
    place.scope.add(
        ScopeEntry(find_alias(item, place) or path, blend(relation, names) if names else relation)
    )


def add_join(join: exp.Join, place: ExpressionContext) -> None:
    check_clauses(join, JOIN, place.account)
    method = str(join.args.get("method") or "").upper()
    if method not in METHODS:
        place.account.doubt("a join of this kind", method)
    add_from(join.this, place)
    if method == "NATURAL":  # it compares all that the two sides have in common
        place.account.count(place.scope.merged().everything)
    for column in list_parts(join, "using"):
        place.account.count(look_up([column.this if isinstance(column, exp.Column) else column], place))
    for condition in list_parts(join, "on"):
        place.account.count(find_sources(condition, place))


def is_wrapped(query: exp.Subquery) -> bool:
    """Whether these are parentheses around a table or a join, and not around a query."""
    inner = query.this
    if isinstance(inner, exp.Subquery):
        return bool(inner.args.get("joins") or inner.args.get("alias") or is_wrapped(inner))
    return isinstance(inner, exp.Table | exp.Lateral | exp.Unnest)


def add_wrapped(query: exp.Subquery, place: ExpressionContext) -> None:
    check_clauses(query, SUBQUERY - {"with", "order", "limit", "offset"}, place.account)
    inner = NameScope(place.scope, beside=True)
    add_from(query.this, place.inside(inner))
    if find_alias(query, place) or query.args.get("pivots"):
        add_source(query, (), inner.merged(), place)
    else:
        for source in inner.sources:
            place.scope.add(source)


def read_source(item: exp.Expr, place: ExpressionContext) -> tuple[tuple[str, ...], Relation]:
    if isinstance(item, exp.Table):
        return read_table(item, place)
    if isinstance(item, exp.Lateral):
        check_clauses(item, LATERAL, place.account)
        if isinstance(item.this, exp.Query):
            return (), place.reader.relation(item.this, place.inside(NameScope(place.scope)))
        return (), read_function(item.this, place)
    if isinstance(item, exp.Unnest):
        check_clauses(item, UNNEST, place.account)
        for part in list_parts(item, "expressions"):
            place.account.count(find_sources(part, place))
        return (), OPAQUE
    if isinstance(item, exp.Subquery):
        check_clauses(item, SUBQUERY, place.account)
        bare = item.copy() if item.args.get("joins") or item.args.get("pivots") else item
        bare.set("joins", None)
        bare.set("pivots", None)
        item = bare
    return (), place.reader.relation(item, place.inside(NameScope(place.scope, beside=True)))


def read_table(table: exp.Table, place: ExpressionContext) -> tuple[tuple[str, ...], Relation]:
    check_clauses(table, TABLE, place.account)
    parts = table.parts
    if not all(isinstance(part, exp.Identifier | exp.Literal) for part in parts):
        return (), read_function(table.this, place)
    path = place.path(parts)
    for tables in reversed(place.withs) if len(path) == 1 else ():
        if path[0] in tables:
            known = tables[path[0]]
            if known is None:
                place.account.doubt("named before it is defined", path[0])
            return path, known or OPAQUE
    return place.reader.stored(path, place.account)


def read_function(call: exp.Expr, place: ExpressionContext) -> Relation:
    """Rows made by a function: they reveal its arguments, which count at once."""
    is_own = place.reader.dialect == "duckdb" and isinstance(call, exp.Anonymous)
    if is_own and call.name.lower() not in MAKING_ROWS:
        place.account.doubt("a function after FROM of which nothing is known", call.name)
    place.account.count(find_sources(call, place))
    return OPAQUE


def read_pivot(pivot: exp.Expr, relation: Relation, place: ExpressionContext) -> Relation:
    """PIVOT groups by every column that it does not name, so all of them are probed."""
    place.account.count(relation.everything)
    for query in pivot.find_all(exp.Query, exp.Table):
        place.account.doubt("a query inside a pivot", query)
    return OPAQUE


def find_alias(item: exp.Expr, place: ExpressionContext) -> tuple[str, ...]:
    alias = item.args.get("alias")
    name = alias.this if isinstance(alias, exp.TableAlias) else None
    return (place.name(name),) if isinstance(name, exp.Expr) else ()


def list_column_names(item: exp.Expr, place: ExpressionContext) -> list[str]:
    """The names in `t(a, b)`."""
    alias = item.args.get("alias")
    columns = list_parts(alias, "columns") if isinstance(alias, exp.TableAlias) else ()
    return [place.name(column.this if isinstance(column, exp.ColumnDef) else column) for column in columns]
