"""Which stored columns the value of an expression can depend on.

Kinds of expression are listed: any other is a doubt. The walk keeps its own stack, for a sum of ten thousand terms is
a tree ten thousand deep.
"""

from collections.abc import Callable, Iterator

from sqlglot import exp

from askback.guards.sql.names import Dialect, words_in
from askback.guards.sql.scope import NOTHING, ExpressionContext, NameScope, Sources, arg, parts_of

Todo = list[exp.Expr]
Step = Callable[[exp.Expr, ExpressionContext, Todo], Sources]

PLAIN = (
    exp.Binary, exp.Unary, exp.Func, exp.Literal, exp.Boolean, exp.Null, exp.DataType, exp.DataTypeParam,
    exp.Tuple, exp.Bracket, exp.Between, exp.Interval, exp.IntervalSpan, exp.Ordered, exp.Order, exp.Group,
    exp.Where, exp.Having, exp.Qualify, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.IgnoreNulls,
    exp.RespectNulls, exp.Distinct, exp.AtTimeZone, exp.Limit, exp.Offset, exp.Fetch, exp.LimitOptions,
    exp.Placeholder, exp.Parameter, exp.TableSample, exp.HexString, exp.BitString, exp.ByteString, exp.RawString,
    exp.UnicodeString, exp.National, exp.Heredoc, exp.JSONPath, exp.JSONPathPart, exp.JSONKeyValue, exp.FormatJson,
    exp.Cube, exp.Rollup, exp.GroupingSets, exp.JSON, exp.Slice, exp.JSONExtractQuote, exp.OnCondition, exp.Any,
    exp.All, exp.JSONValue, exp.In,
)  # fmt: skip
"""These read what their parts read, and no more. Which functions do is told by name, from the tokens."""

WHEN = "current_date current_time current_timestamp"
WHO = f"{WHEN} localtime localtimestamp current_catalog current_schema current_user"
CONSTANTS: dict[Dialect, frozenset[str]] = {
    "duckdb": words_in(f"{WHO} current_role session_user"),
    "postgres": words_in(f"{WHO} current_role session_user user"),
    "sqlite": words_in(WHEN),
    "trino": words_in(f"{WHO} current_path"),
}
"""Functions without parentheses, where they are no likely names of columns that the catalogue has missed."""

MAX_PARTS = 8
"""Of a dotted name: a database, a schema, a table, a column and fields."""

NAMING: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Alias: ("this",),
    exp.Kwarg: ("expression",),
    exp.Collate: ("this",),
    exp.Window: ("this", "partition_by", "order", "spec"),
}
"""The parts of these that are read; the others only give a name."""


def sources_of(node: exp.Expr, place: ExpressionContext) -> set[str]:
    """Every stored column that this expression can reveal or probe."""
    found: set[str] = set()
    todo: Todo = [node]
    while todo:
        node = todo.pop()
        step = STEPS.get(type(node))
        if step is not None:
            found |= step(node, place, todo)
        elif isinstance(node, exp.Query | exp.Values):
            found |= place.reader.relation(node, place).everything
        else:
            if not isinstance(node, PLAIN):
                place.account.doubt("not understood", node)
            todo.extend(parts_of(node))
    return found


def look_up(parts: list[exp.Expr], place: ExpressionContext) -> Sources:
    """What a dotted name can mean; where that is a guess, it is a doubt besides."""
    path = place.path(parts)
    found = place.scope.find(path)
    if found.is_row:
        place.account.doubt("no column, so it may call a function with the whole row", ".".join(path))
    elif not found.is_anything and not is_constant(parts, place):
        place.account.doubt("no such column", ".".join(part.name for part in parts))
    return found.sources


def is_constant(parts: list[exp.Expr], place: ExpressionContext) -> bool:
    """Who asks, where and when."""
    name, known = parts[0], CONSTANTS[place.reader.dialect]
    return len(parts) == 1 and not name.args.get("quoted") and name.name.lower() in known


def naming(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    parts = parts_of(node, *NAMING[type(node)])
    todo.extend(part for part in parts if not isinstance(part, exp.Identifier))
    return NOTHING


def column(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    if not isinstance(node, exp.Column):
        return look_up([node], place)
    if not isinstance(node.this, exp.Star):
        return look_up(node.parts, place)
    todo.extend(star_parts(node.this))
    found = place.scope.named(place.path(node.parts[:-1]))
    if found:
        return NOTHING.union(*(relation.everything for relation in found))
    return look_up(node.parts[:-1], place)  # the fields of a column that is a row


def star_parts(star: exp.Expr) -> Iterator[exp.Expr]:
    """What stands behind a star besides names that it leaves out: expressions in the place of columns."""
    for part in parts_of(star, "replace", "ilike"):
        yield part.this if isinstance(part, exp.Alias) else part


def star(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    if isinstance(node.parent, exp.Count) and node.arg_key == "this":
        return NOTHING
    todo.extend(star_parts(node))
    return place.scope.merged().everything


def columns(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """`COLUMNS(…)` and `#1`: any column of the query, by a pattern or a number; by names, these."""
    which = node.this
    if isinstance(which, exp.Star):
        todo.extend(star_parts(which))
        left_out = plain_names(arg(which, "except"), place)
        relation = place.scope.merged()
        kept = (of for name, of in relation.columns.items() if name not in left_out - relation.twins)
        return relation.rest.union(*kept)
    names = which.expressions if isinstance(which, exp.Array) else ()
    if names and all(isinstance(name, exp.Literal) and name.is_string for name in names):
        return NOTHING.union(*(look_up([exp.to_identifier(name.name)], place) for name in names))
    todo.extend(parts_of(node))
    return place.scope.merged().everything


def plain_names(excluded: object, place: ExpressionContext) -> set[str]:
    """Names without a table: one with a table leaves out a column of that table alone, and is not heeded."""
    parts: list[object] = excluded if isinstance(excluded, list) else []  # pyright: ignore[reportUnknownVariableType] # args are untyped
    names = [part.this if isinstance(part, exp.Column) and len(part.parts) == 1 else part for part in parts]
    return {place.name(name) for name in names if isinstance(name, exp.Identifier)}


def exists(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """Whether there is a row: what stands in its columns does not matter, only what its conditions probe."""
    if isinstance(node.this, exp.Query):
        place.reader.relation(node.this, place)
    else:
        todo.extend(parts_of(node))
    return NOTHING


def dot(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """A field of a value, a method of DuckDB (`email.lower()`), or a function with its schema."""
    names: list[exp.Expr] = []
    while isinstance(node, exp.Dot):
        if isinstance(node.expression, exp.Literal) or isinstance(node.this, exp.Literal):
            place.account.doubt("a string in the place of a name", node.this)
            place.account.count(place.scope.merged().everything)
        if isinstance(node.expression, exp.Identifier):
            names.append(node.expression)
        else:
            names.clear()
            if not isinstance(node.expression, exp.Star):
                todo.append(node.expression)
        node = node.this
    if not isinstance(node, exp.Identifier):
        todo.append(node)
        return NOTHING
    parts = [node, *reversed(names[-MAX_PARTS:])]
    if place.reader.dialect == "postgres" and place.path(parts) == ("pg_catalog",):
        return NOTHING
    return look_up(parts, place)


def aliases(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """`row.* AS (a, b)` gives names; the parser makes the same of `@ length (email)`."""
    if not isinstance(node.this, exp.Column) or not isinstance(node.this.this, exp.Star):
        place.account.doubt("not understood", node)
        place.account.count(place.scope.merged().everything)
    todo.append(node.this)
    return NOTHING


def variable(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """A bare word, such as the unit of `date_trunc`, for which sqlglot also takes a column in its place."""
    return NOTHING.union(*(place.scope.find((name,)).sources for name in {node.name, node.name.lower()}))


def bind(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """A lambda or a comprehension. Its parameters hide no column: `a -> b` is also how JSON is taken apart."""
    bound = NameScope(place.scope)
    names = ("expressions",) if isinstance(node, exp.Lambda) else ("expression", "position")
    for name in parts_of(node, *names):
        bound.names[place.name(name)] = place.scope.find((place.name(name),)).sources
    found: set[str] = set()
    for part in parts_of(node, "this", "iterator", "condition"):
        found |= sources_of(part, place.inside(bound))
    return frozenset(found)


def entry(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """`a: b`: a name in a struct, a value in a map."""
    todo.extend(part for part in parts_of(node) if not isinstance(part, exp.Identifier))
    return variable(node.this, place, todo) if isinstance(node.this, exp.Identifier) else NOTHING


def in_(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    if place.reader.dialect == "sqlite" and node.args.get("field"):
        place.account.doubt("IN with a table", node.args["field"])
    todo.extend(parts_of(node))
    return NOTHING


def data_type(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    todo.extend(node.find_all(exp.Query, exp.Column) if node.expressions else ())
    return NOTHING


STEPS: dict[type[exp.Expr], Step] = {
    **dict.fromkeys(NAMING, naming),
    exp.Aliases: aliases,
    exp.Column: column,
    exp.Columns: columns,
    exp.Comprehension: bind,
    exp.Dot: dot,
    exp.Exists: exists,
    exp.Identifier: column,
    exp.In: in_,
    exp.Lambda: bind,
    exp.PositionalColumn: columns,
    exp.PropertyEQ: entry,
    exp.Star: star,
    exp.Var: variable,
    exp.DataType: data_type,
}
