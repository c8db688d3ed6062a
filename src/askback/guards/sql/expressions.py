"""Which stored columns the value of an expression can depend on.

Kinds of expression are listed: any other is a doubt. The walk keeps its own stack, for a sum of ten thousand terms is
a tree ten thousand deep.
"""

from collections.abc import Callable, Iterator

from sqlglot import exp

from askback.guards.sql.names import Dialect, split_words
from askback.guards.sql.scope import NOTHING, ExpressionContext, NameScope, Sources, get_argument, list_parts

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
"""Expressions that read what their parts read, and no more. Functions are judged by name, from the tokens."""

WHEN = "current_date current_time current_timestamp"
WHO = f"{WHEN} localtime localtimestamp current_catalog current_schema current_user"
CONSTANTS: dict[Dialect, frozenset[str]] = {
    "duckdb": split_words(f"{WHO} current_role session_user"),
    "postgres": split_words(f"{WHO} current_role session_user user"),
    "sqlite": split_words(WHEN),
    "trino": split_words(f"{WHO} current_path"),
}
"""Functions without parentheses, where they are no likely names of columns that the catalogue has missed."""

MAX_PARTS = 8
"""Parts of a dotted name: a database, a schema, a table, a column and fields."""

NAMING: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Alias: ("this",),
    exp.Kwarg: ("expression",),
    exp.Collate: ("this",),
    exp.Window: ("this", "partition_by", "order", "spec"),
}
"""The parts of these that are read; the others only give a name."""


def find_sources(node: exp.Expr, place: ExpressionContext) -> set[str]:
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
            todo.extend(list_parts(node))
    return found


def look_up(parts: list[exp.Expr], place: ExpressionContext) -> Sources:
    """The stored columns that a dotted name can mean. A guess is a doubt besides."""
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


def read_named(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    parts = list_parts(node, *NAMING[type(node)])
    todo.extend(part for part in parts if not isinstance(part, exp.Identifier))
    return NOTHING


def read_column(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    if not isinstance(node, exp.Column):
        return look_up([node], place)
    if not isinstance(node.this, exp.Star):
        return look_up(node.parts, place)
    todo.extend(list_star_parts(node.this))
    found = place.scope.named(place.path(node.parts[:-1]))
    if found:
        return NOTHING.union(*(relation.everything for relation in found))
    return look_up(node.parts[:-1], place)  # the fields of a column that is a row


def list_star_parts(star: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions behind a star that stand in the place of columns."""
    for part in list_parts(star, "replace", "ilike"):
        yield part.this if isinstance(part, exp.Alias) else part


def read_star(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    if isinstance(node.parent, exp.Count) and node.arg_key == "this":
        return NOTHING
    todo.extend(list_star_parts(node))
    return place.scope.merged().everything


def read_columns(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """`COLUMNS(…)` and `#1`: any column of the query, by a pattern or a number; by names, these."""
    which = node.this
    if isinstance(which, exp.Star):
        todo.extend(list_star_parts(which))
        left_out = list_plain_names(get_argument(which, "except"), place)
        relation = place.scope.merged()
        kept = (of for name, of in relation.columns.items() if name not in left_out - relation.twins)
        return relation.rest.union(*kept)
    names = which.expressions if isinstance(which, exp.Array) else ()
    if names and all(isinstance(name, exp.Literal) and name.is_string for name in names):
        return NOTHING.union(*(look_up([exp.to_identifier(name.name)], place) for name in names))
    todo.extend(list_parts(node))
    return place.scope.merged().everything


def list_plain_names(excluded: object, place: ExpressionContext) -> set[str]:
    """Names without a table: one with a table leaves out a column of that table alone, and is not heeded."""
    parts: list[object] = excluded if isinstance(excluded, list) else []  # pyright: ignore[reportUnknownVariableType] # args are untyped
    names = [part.this if isinstance(part, exp.Column) and len(part.parts) == 1 else part for part in parts]
    return {place.name(name) for name in names if isinstance(name, exp.Identifier)}


def read_exists(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """Whether there is a row: what stands in its columns does not matter, only what its conditions probe."""
    if isinstance(node.this, exp.Query):
        place.reader.relation(node.this, place)
    else:
        todo.extend(list_parts(node))
    return NOTHING


def read_dot(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
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


def read_aliases(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """`row.* AS (a, b)` gives names; the parser makes the same of `@ length (email)`."""
    if not isinstance(node.this, exp.Column) or not isinstance(node.this.this, exp.Star):
        place.account.doubt("not understood", node)
        place.account.count(place.scope.merged().everything)
    todo.append(node.this)
    return NOTHING


def read_variable(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """A bare word, such as the unit of `date_trunc`, for which sqlglot also takes a column in its place."""
    return NOTHING.union(*(place.scope.find((name,)).sources for name in {node.name, node.name.lower()}))


def read_lambda(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """A lambda or a comprehension. Its parameters hide no column: `a -> b` is also how JSON is taken apart."""
    bound = NameScope(place.scope)
    names = ("expressions",) if isinstance(node, exp.Lambda) else ("expression", "position")
    for name in list_parts(node, *names):
        bound.names[place.name(name)] = place.scope.find((place.name(name),)).sources
    found: set[str] = set()
    for part in list_parts(node, "this", "iterator", "condition"):
        found |= find_sources(part, place.inside(bound))
    return frozenset(found)


def read_entry(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    """`a: b`: a name in a struct, a value in a map."""
    todo.extend(part for part in list_parts(node) if not isinstance(part, exp.Identifier))
    return read_variable(node.this, place, todo) if isinstance(node.this, exp.Identifier) else NOTHING


def read_in(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    if place.reader.dialect == "sqlite" and node.args.get("field"):
        place.account.doubt("IN with a table", node.args["field"])
    todo.extend(list_parts(node))
    return NOTHING


def read_data_type(node: exp.Expr, place: ExpressionContext, todo: Todo) -> Sources:
    todo.extend(node.find_all(exp.Query, exp.Column) if node.expressions else ())
    return NOTHING


STEPS: dict[type[exp.Expr], Step] = {
    **dict.fromkeys(NAMING, read_named),
    exp.Aliases: read_aliases,
    exp.Column: read_column,
    exp.Columns: read_columns,
    exp.Comprehension: read_lambda,
    exp.Dot: read_dot,
    exp.Exists: read_exists,
    exp.Identifier: read_column,
    exp.In: read_in,
    exp.Lambda: read_lambda,
    exp.PositionalColumn: read_columns,
    exp.PropertyEQ: read_entry,
    exp.Star: read_star,
    exp.Var: read_variable,
    exp.DataType: read_data_type,
}
