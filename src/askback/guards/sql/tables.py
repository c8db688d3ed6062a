"""What can stand after FROM: tables, subqueries, functions, joins of them."""

from sqlglot import exp

from askback.guards.sql.expressions import look_up, sources_of
from askback.guards.sql.names import words_in
from askback.guards.sql.scope import (
    OPAQUE,
    ExpressionContext,
    NameScope,
    Relation,
    ScopeEntry,
    blend,
    knows,
    parts_of,
)

TABLE = words_in("this alias db catalog joins pivots ordinality only sample")
JOIN = words_in("this on side kind using method")
SUBQUERY = words_in("with this alias joins pivots sample order limit offset")
LATERAL = words_in("this alias ordinality")
UNNEST = words_in("expressions alias offset")
METHODS = frozenset({"", "NATURAL", "ASOF", "POSITIONAL"})
MAKING_ROWS = words_in(
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
        path, relation = source_of(item, place)
        add_source(item, path, relation, place)
    for sample in parts_of(item, "sample"):
        place.account.count(sources_of(sample, place))
    for join in parts_of(item, "joins"):
        add_from(join, place)


def add_source(item: exp.Expr, path: tuple[str, ...], relation: Relation, place: ExpressionContext) -> None:
    for pivot in parts_of(item, "pivots"):
        relation = pivoted(pivot, relation, place)
    names = column_names(item, place)
    place.scope.add(ScopeEntry(alias_of(item, place) or path, blend(relation, names) if names else relation))


def add_join(join: exp.Join, place: ExpressionContext) -> None:
    knows(join, JOIN, place.account)
    method = str(join.args.get("method") or "").upper()
    if method not in METHODS:
        place.account.doubt("a join of this kind", method)
    add_from(join.this, place)
    if method == "NATURAL":  # it compares all that the two sides have in common
        place.account.count(place.scope.merged().everything)
    for column in parts_of(join, "using"):
        place.account.count(look_up([column.this if isinstance(column, exp.Column) else column], place))
    for condition in parts_of(join, "on"):
        place.account.count(sources_of(condition, place))


def is_wrapped(query: exp.Subquery) -> bool:
    """Whether these are parentheses around a table or a join, and not around a query."""
    inner = query.this
    if isinstance(inner, exp.Subquery):
        return bool(inner.args.get("joins") or inner.args.get("alias") or is_wrapped(inner))
    return isinstance(inner, exp.Table | exp.Lateral | exp.Unnest)


def add_wrapped(query: exp.Subquery, place: ExpressionContext) -> None:
    knows(query, SUBQUERY - {"with", "order", "limit", "offset"}, place.account)
    inner = NameScope(place.scope, beside=True)
    add_from(query.this, place.inside(inner))
    if alias_of(query, place) or query.args.get("pivots"):
        add_source(query, (), inner.merged(), place)
    else:
        for source in inner.sources:
            place.scope.add(source)


def source_of(item: exp.Expr, place: ExpressionContext) -> tuple[tuple[str, ...], Relation]:
    if isinstance(item, exp.Table):
        return table_of(item, place)
    if isinstance(item, exp.Lateral):
        knows(item, LATERAL, place.account)
        if isinstance(item.this, exp.Query):
            return (), place.reader.relation(item.this, place.inside(NameScope(place.scope)))
        return (), function(item.this, place)
    if isinstance(item, exp.Unnest):
        knows(item, UNNEST, place.account)
        for part in parts_of(item, "expressions"):
            place.account.count(sources_of(part, place))
        return (), OPAQUE
    if isinstance(item, exp.Subquery):
        knows(item, SUBQUERY, place.account)
        bare = item.copy() if item.args.get("joins") or item.args.get("pivots") else item
        bare.set("joins", None)
        bare.set("pivots", None)
        item = bare
    return (), place.reader.relation(item, place.inside(NameScope(place.scope, beside=True)))


def table_of(table: exp.Table, place: ExpressionContext) -> tuple[tuple[str, ...], Relation]:
    knows(table, TABLE, place.account)
    parts = table.parts
    if not all(isinstance(part, exp.Identifier | exp.Literal) for part in parts):
        return (), function(table.this, place)
    path = place.path(parts)
    for tables in reversed(place.withs) if len(path) == 1 else ():
        if path[0] in tables:
            known = tables[path[0]]
            if known is None:
                place.account.doubt("named before it is defined", path[0])
            return path, known or OPAQUE
    return place.reader.stored(path, place.account)


def function(call: exp.Expr, place: ExpressionContext) -> Relation:
    """Rows made by a function: they reveal its arguments, which count at once."""
    is_own = place.reader.dialect == "duckdb" and isinstance(call, exp.Anonymous)
    if is_own and call.name.lower() not in MAKING_ROWS:
        place.account.doubt("a function after FROM of which nothing is known", call.name)
    place.account.count(sources_of(call, place))
    return OPAQUE


def pivoted(pivot: exp.Expr, relation: Relation, place: ExpressionContext) -> Relation:
    """PIVOT groups by every column that it does not name, so all of them are probed."""
    place.account.count(relation.everything)
    for query in pivot.find_all(exp.Query, exp.Table):
        place.account.doubt("a query inside a pivot", query)
    return OPAQUE


def alias_of(item: exp.Expr, place: ExpressionContext) -> tuple[str, ...]:
    alias = item.args.get("alias")
    name = alias.this if isinstance(alias, exp.TableAlias) else None
    return (place.name(name),) if isinstance(name, exp.Expr) else ()


def column_names(item: exp.Expr, place: ExpressionContext) -> list[str]:
    """The names in `t(a, b)`."""
    alias = item.args.get("alias")
    columns = parts_of(alias, "columns") if isinstance(alias, exp.TableAlias) else ()
    return [place.name(column.this if isinstance(column, exp.ColumnDef) else column) for column in columns]
