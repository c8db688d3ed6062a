"""Which stored columns the value of an expression can depend on.

Kinds of expression are listed: of any other, what it reads is reported as not known. The walk keeps its own stack, for
a sum of ten thousand terms is a tree ten thousand deep.
"""

from collections.abc import Callable, Iterator

from sqlglot import exp

from askback.guards.sql.names import Dialect, listed
from askback.guards.sql.place import Place, arg
from askback.guards.sql.relations import NOTHING, Sources
from askback.guards.sql.scopes import Scope

Todo = list[exp.Expr]
Step = Callable[[exp.Expr, Place, Todo], Sources]

PLAIN = (
    exp.Binary, exp.Unary, exp.Func, exp.Literal, exp.Boolean, exp.Null, exp.DataType, exp.DataTypeParam,
    exp.Tuple, exp.Bracket, exp.Between, exp.Interval, exp.IntervalSpan, exp.Ordered, exp.Order, exp.Group,
    exp.Where, exp.Having, exp.Qualify, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.IgnoreNulls,
    exp.RespectNulls, exp.Distinct, exp.AtTimeZone, exp.Limit, exp.Offset, exp.Fetch, exp.LimitOptions,
    exp.Placeholder, exp.Parameter, exp.TableSample, exp.HexString, exp.BitString, exp.ByteString, exp.RawString,
    exp.UnicodeString, exp.National, exp.Heredoc, exp.JSONPath, exp.JSONPathPart, exp.JSONKeyValue, exp.FormatJson,
    exp.HavingMax, exp.PseudoType, exp.ObjectIdentifier, exp.Cube, exp.Rollup, exp.GroupingSets, exp.JSON,
    exp.JSONColumnDef, exp.JSONSchema, exp.Slice, exp.JSONExtractQuote, exp.OnCondition, exp.Any, exp.All,
    exp.JSONValue,
)  # fmt: skip
"""These read what their parts read, and no more. Which functions do is told by name, in the lexis."""

WHEN = "current_date current_time current_timestamp"
WHO = f"{WHEN} localtime localtimestamp current_catalog current_schema current_user"
CONSTANTS: dict[Dialect, frozenset[str]] = {
    "duckdb": listed(f"{WHO} current_role session_user"),
    "postgres": listed(f"{WHO} current_role session_user user"),
    "sqlite": listed(WHEN),
    "trino": listed(f"{WHO} current_path"),
}
"""Functions without parentheses, where they are no likely names of columns that the catalogue has missed."""

MOST_PARTS = 8
"""Of a dotted name: a database, a schema, a table, a column and fields. A longer one is taken apart step by step."""

NAMING: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Alias: ("this",),
    exp.Aliases: ("this",),
    exp.Kwarg: ("expression",),
    exp.ColumnDef: ("kind", "constraints"),
    exp.Collate: ("this",),
    exp.Window: ("this", "partition_by", "order", "spec"),
}
"""The parts of these that are read; the others only give a name."""


def sources_of(node: exp.Expr, place: Place) -> set[str]:
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
                place.account.puzzle("not understood", node)
            todo.extend(parts_of(node))
    return found


def parts_of(node: exp.Expr, *names: str) -> Iterator[exp.Expr]:
    for value in [node.args.get(name) for name in names] if names else node.args.values():
        if isinstance(value, exp.Expr):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, exp.Expr))  # pyright: ignore[reportUnknownVariableType] # args are untyped


def naming(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    parts = parts_of(node, *NAMING[type(node)])
    todo.extend(part for part in parts if not isinstance(part, exp.Identifier))
    return NOTHING


def column(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    assert isinstance(node, exp.Column)
    if isinstance(node.this, exp.Star):
        return starred(node, place, todo)
    return looked_up(node.parts, place)


def looked_up(parts: list[exp.Expr], place: Place) -> Sources:
    found = place.scope.find(place.path(parts))
    if found is None and (is_parameter(parts[0], place) or is_constant(parts, place)):
        return NOTHING
    if found is None:
        place.account.puzzle("no such column", ".".join(part.name for part in parts))
        return NOTHING
    return found


def is_parameter(node: exp.Expr, place: Place) -> bool:
    """`$a` of SQLite, which sqlglot takes for a name."""
    return place.reader.dialect == "sqlite" and node.name.startswith("$") and not node.args.get("quoted")


def is_constant(parts: list[exp.Expr], place: Place) -> bool:
    """Who asks, where and when."""
    name, known = parts[0], CONSTANTS[place.reader.dialect]
    return len(parts) == 1 and not name.args.get("quoted") and name.name.lower() in known


def starred(node: exp.Column, place: Place, todo: Todo) -> Sources:
    todo.extend(star_parts(node.this))
    return of_relation(node.parts[:-1], place)


def of_relation(parts: list[exp.Expr], place: Place) -> Sources:
    """What `t.*` reveals."""
    found = place.scope.named(place.path(parts))
    if found:
        return NOTHING.union(*(source.relation.everything for source in found))
    return looked_up(parts, place)  # the fields of a column that is a row


def star_parts(star: exp.Expr) -> Iterator[exp.Expr]:
    for name in ("replace", "ilike", "except", "except_"):
        for part in parts_of(star, name):
            yield part.this if isinstance(part, exp.Alias) else part


def star(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    if isinstance(node.parent, exp.Count) and node.arg_key == "this":
        return NOTHING
    todo.extend(star_parts(node))
    return place.scope.everything()


def whole_scope(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    """`COLUMNS(…)` and `#1`: any column of the query, by a pattern or a number."""
    which = node.this
    if isinstance(which, exp.Star):
        todo.extend(part.this for part in parts_of(which, "replace"))
        return place.scope.everything(set(plain_names(arg(which, "except"), place)))
    if isinstance(which, exp.Array) and all(is_string(name) for name in which.expressions):
        return NOTHING.union(
            *(looked_up([exp.to_identifier(name.name)], place) for name in which.expressions)
        )
    todo.extend(parts_of(node))
    return place.scope.everything()


def is_string(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def plain_names(excluded: object, place: Place) -> Iterator[str]:
    """Names without a table: one with a table leaves out a column of that table alone, and is not heeded."""
    for part in excluded if isinstance(excluded, list) else ():  # pyright: ignore[reportUnknownVariableType] # args are untyped
        if isinstance(part, exp.Identifier):
            yield place.name(part)
        elif isinstance(part, exp.Column) and len(part.parts) == 1:
            yield place.name(part.this)


def exists(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    """Whether there is a row: what stands in its columns does not matter, only what its conditions probe."""
    if isinstance(node.this, exp.Query):
        place.reader.relation(node.this, place)
        return NOTHING
    todo.extend(parts_of(node))
    return NOTHING


def dot(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    """A field of a value, a method of DuckDB (`email.lower()`), or a function with its schema."""
    call, owner = node.args["expression"], node.this
    if place.reader.dialect == "sqlite" and (names := strings(node)):
        return of_relation(names[:-1], place) if isinstance(names[-1], exp.Star) else looked_up(names, place)
    if not isinstance(call, exp.Identifier | exp.Star | exp.Literal):
        todo.append(call)
    parts = identifiers(owner) if isinstance(call, exp.Func | exp.Identifier) else None
    if parts is None:
        todo.append(owner)
        return NOTHING
    if isinstance(call, exp.Func) and place.path(parts) == ("pg_catalog",):
        return NOTHING
    return looked_up(parts, place)


def identifiers(node: exp.Expr) -> list[exp.Expr] | None:
    """The names of `a.b.c` where nothing else is in it, and they are few."""
    names: list[exp.Expr] = []
    while (
        isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier) and len(names) < MOST_PARTS
    ):
        names.append(node.expression)
        node = node.this
    return [node, *reversed(names)] if isinstance(node, exp.Identifier) else None


def strings(node: exp.Expr) -> list[exp.Expr]:
    """The names of `'t'.'a'`, which SQLite takes in the quotes of a string."""
    names: list[exp.Expr] = []
    while isinstance(node, exp.Dot):
        names.insert(0, node.expression)
        node = node.this
    names.insert(0, node)
    return names if all(isinstance(name, exp.Identifier | exp.Literal | exp.Star) for name in names) else []


def identifier(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    return looked_up([node], place)


def variable(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    """A bare word, such as the unit of `date_trunc`, for which sqlglot also takes a column in its place."""
    word = node.name
    return NOTHING.union(*(place.scope.find((name,)) or NOTHING for name in {word, word.lower()}))


def lambda_(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    """Its parameters hide no column: `a -> b` is also how JSON is taken apart."""
    bound = Scope(place.scope, binds=True)
    found: set[str] = set()
    for name in parts_of(node, "expressions"):
        bound.outputs[place.name(name)] = NOTHING
        found |= place.scope.find((place.name(name),)) or NOTHING
    return frozenset(found | sources_of(node.this, place.inside(bound)))


def comprehension(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    bound = Scope(place.scope, binds=True)
    for name in parts_of(node, "expression", "position"):
        bound.outputs[place.name(name)] = NOTHING
    found: set[str] = set()
    for part in parts_of(node, "this", "iterator", "condition"):
        found |= sources_of(part, place.inside(bound))
    return frozenset(found)


def entry(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    """`a: b`: a name in a struct, a value in a map."""
    todo.append(node.args["expression"])
    key, is_map = node.this, node.parent is not None and isinstance(node.parent.parent, exp.ToMap)
    if isinstance(key, exp.Identifier):
        return (place.scope.find((place.name(key),)) or NOTHING) if is_map else NOTHING
    todo.append(key)
    return NOTHING


def in_(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    if place.reader.dialect == "sqlite" and node.args.get("field"):
        place.account.puzzle("IN with a table", node.args["field"])
    todo.extend(parts_of(node))
    return NOTHING


def nothing(node: exp.Expr, place: Place, todo: Todo) -> Sources:
    return NOTHING


STEPS: dict[type[exp.Expr], Step] = {
    **dict.fromkeys(NAMING, naming),
    exp.Column: column,
    exp.Columns: whole_scope,
    exp.Comprehension: comprehension,
    exp.Dot: dot,
    exp.Exists: exists,
    exp.Identifier: identifier,
    exp.In: in_,
    exp.Lambda: lambda_,
    exp.PositionalColumn: whole_scope,
    exp.PropertyEQ: entry,
    exp.Star: star,
    exp.Var: variable,
    exp.DataType: nothing,
    exp.Literal: nothing,
}
