"""DuckDB's own syntax tree of a query, from `json_serialize_sql`: what it names. Nothing is bound or looked up."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from askback.guards.sql.engines.duckdb.constants import (
    Node,
    count_calls,
    find_constants,
    find_growth,
    is_costly,
    may_grow,
)
from askback.guards.sql.names import split_words
from askback.guards.sql.system import harmless_functions
from askback.guards.sql.text import TOO_COMPLEX
from askback.guards.sql.threads import Turns

MAX_SIZE = 10_000
"""Expressions that are bound, or columns of a star. 65,000 expressions take DuckDB 2 four seconds and a gigabyte."""

MAX_GROWTH = 4
"""A statement that is longer than that may still grow by this factor."""

MACRO_FACTOR = 3
"""How often a macro is taken to use its arguments."""

LIMIT_FACTOR = 2
"""How often what stands behind LIMIT and OFFSET is bound."""

OPERATOR = re.compile(r"\W+")


class Extent(NamedTuple):
    """The size of a part of a query: expressions that are bound for it, and columns of a star over it."""

    size: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class _SizeScope:
    """The sizes of the names that an expression can use."""

    ctes: Mapping[str, Extent] = field(default_factory=dict[str, Extent])
    aliases: Mapping[str, int] = field(default_factory=dict[str, int])
    star: int = 0


def is_too_large(statement: Node) -> bool:
    """Whether binding this syntax tree could take more time and memory than a statement is worth."""
    measure = _Measure()
    size, width = measure.measure(statement, _SizeScope())
    return max(size, width) > max(MAX_SIZE, MAX_GROWTH * measure.written)


class _Measure:
    """Measures one syntax tree."""

    def __init__(self) -> None:
        self.written = 0
        self._turns = Turns()

    def measure(self, value: Any, scope: _SizeScope) -> Extent:
        if isinstance(value, list):
            parts = [self.measure(each, scope) for each in cast("list[Any]", value)]
            return Extent(sum(part.size for part in parts), sum(part.width for part in parts))
        if not isinstance(value, dict):
            return Extent()
        self._turns.take()
        node = cast("Node", value)
        if "class" in node:
            return self._measure_expression(node, scope)
        if node.get("cte_map"):
            scope = self._with_ctes(node["cte_map"], scope)
        if "select_list" in node:
            return self._measure_select(node, scope)
        if node.get("type") == "BASE_TABLE":
            return scope.ctes.get(str(node.get("table_name", "")).lower(), Extent(1, 1))
        return self._measure_parts(node, scope)

    def _measure_expression(self, node: Node, scope: _SizeScope) -> Extent:
        self.written += 1
        if node["class"] == "COLUMN_REF":
            name = str(node["column_names"][-1]).lower()
            return Extent(scope.aliases.get(name, 1), 1)
        if node["class"] == "STAR":
            return Extent(max(scope.star, 1), scope.star)
        inside = sum(self.measure(part, scope).size for part in node.values())
        return Extent(1 + inside * (MACRO_FACTOR if _may_be_macro(node) else 1), 1)

    def _with_ctes(self, cte_map: Node, scope: _SizeScope) -> _SizeScope:
        for entry in cte_map.get("map", ()):
            found = self.measure(entry["value"], scope)
            scope = replace(scope, ctes={**scope.ctes, str(entry["key"]).lower(): found})
        return scope

    def _measure_select(self, node: Node, scope: _SizeScope) -> Extent:
        source = self.measure(node.get("from_table"), scope)
        scope = _SizeScope(scope.ctes, {}, source.width)
        size, width = source.size, 0
        for column in node["select_list"]:
            found = self.measure(column, scope)
            size, width = size + found.size, width + found.width
            if alias := str(column.get("alias") or "").lower():
                scope = replace(scope, aliases={**scope.aliases, alias: found.size})
        seen = ("select_list", "from_table", "cte_map")
        rest = (value for key, value in node.items() if key not in seen)
        return Extent(size + sum(self.measure(value, scope).size for value in rest), width)

    def _measure_parts(self, node: Node, scope: _SizeScope) -> Extent:
        """A join has the columns of both sides, a set operation those of either, all else those of its only part."""
        parts = [self.measure(value, scope) for key, value in node.items() if key != "cte_map"]
        widths = [part.width for part in parts]
        width = sum(widths) if node.get("type") == "JOIN" else max(widths, default=0)
        times = LIMIT_FACTOR if str(node.get("type")).startswith("LIMIT") else 1
        return Extent(times * sum(part.size for part in parts), width)


def _may_be_macro(node: Node) -> bool:
    name = str(node.get("function_name", "")).lower()
    return bool(name) and name not in harmless_functions("duckdb") and not OPERATOR.fullmatch(name)


COSTLY = "DuckDB would compute too much before it runs"

MAX_DEPTH = 150
"""Expressions within expressions. DuckDB 1.4 needs a second to bind three hundred, and cannot be interrupted."""

MAX_NAME_PARTS = 16
"""Parts of `database.schema.table.column.field`. DuckDB binds a name in time that grows with their square."""

MAX_GROWING = 30
"""Calls of functions such as `repeat` and `replace`."""

MAX_LAMBDAS = 8
"""Lambdas or arrows within each other: DuckDB doubles its time for each."""

EXPRESSIONS = split_words(
    "BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR PARAMETER "
    "POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW"
)

QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})

SOURCES = frozenset(
    {"BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SHOW_REF", "SUBQUERY", "TABLE_FUNCTION"}
)

OTHERS = split_words(
    "ASCENDING DESCENDING ORDER_DEFAULT DISTINCT_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER"
)

CHANGES = "_QUERY_NODE"
"""How DuckDB 2 calls an INSERT, UPDATE or DELETE within WITH."""

SHOWN = frozenset({"", '"tables"', '"databases"', '"schemas"', "__show_tables_expanded"})
"""Lists of SHOW that have names and types, no variables and no settings."""

SHAPES = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""Errors that reading a tree of an unknown shape raises."""


@dataclass(slots=True)
class Syntax:
    """The names in one query, before anything of it is looked up."""

    tables: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    ctes: set[str] = field(default_factory=set[str])
    functions: set[str] = field(default_factory=set[str])
    table_functions: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    """Every part of every reference to a column, in small letters."""
    aliases: set[str] = field(default_factory=set[str])
    types: set[str] = field(default_factory=set[str])
    """Names of types, in small letters."""
    doubts: list[str] = field(default_factory=list[str])
    changes: bool = False
    """Whether an INSERT, UPDATE or DELETE stands within WITH."""
    calls: int = 0
    """The sum of `count_calls`."""
    growing: list[tuple[Node, bool]] = field(default_factory=list[tuple[Node, bool]])
    """Calls that may make a value of any length, and whether they stand within a lambda."""
    uses_unnamed: bool = False
    """Whether a star, a position or a whole row may use any column."""

    @property
    def takes_all(self) -> bool:
        """Whether it may use columns that it does not name: by a star, by position, or as a whole row."""
        return self.uses_unnamed or not self.names.isdisjoint(self.aliases)


@dataclass(frozen=True, slots=True)
class _SyntaxPlace:
    """Where in the tree a node stands."""

    depth: int = 0
    lambdas: int = 0
    is_fixed: bool = False
    """Whether a parameter here would change what is read, and not only with which value."""


def read_syntax(statement: Node, length: int) -> Syntax:
    """Walk over the whole tree without recursion, however deep it is. `length` is that of the text."""
    syntax, turns = Syntax(), Turns()
    stack: list[tuple[Any, _SyntaxPlace]] = [(statement, _SyntaxPlace())]
    while stack:
        turns.take()
        node, place = stack.pop()
        if isinstance(node, list):
            stack.extend((each, place) for each in cast("list[Any]", node))
        elif isinstance(node, dict):
            stack.extend(_visit(cast("Node", node), place, syntax))
            if len(syntax.doubts) > 0:
                break  # one is enough not to bind it
    if syntax.growing:
        syntax.doubts += _find_growths(statement, syntax)
    if not syntax.doubts and is_costly(statement, length, syntax.calls):
        syntax.doubts.append(COSTLY)
    return syntax


def _find_growths(statement: Node, syntax: Syntax) -> list[str]:
    """Also many calls, each within bounds, make a value of any length together."""
    if len(syntax.growing) > MAX_GROWING:
        return [TOO_COMPLEX]
    constants = find_constants(statement)
    found = (find_growth(call, constants, is_in_lambda=inside) for call, inside in syntax.growing)
    return [growth for growth in found if growth]


def _visit(node: Node, place: _SyntaxPlace, syntax: Syntax) -> list[tuple[Any, _SyntaxPlace]]:
    kind, source = node.get("class"), node.get("type")
    if kind is not None:
        place = _visit_expression(node, place, syntax)
        if kind == "CONSTANT":
            return []
    elif isinstance(source, str):
        place = _visit_source(node, source, place, syntax)
    for entry in node["cte_map"]["map"] if "cte_map" in node else ():
        syntax.ctes.add(entry["key"].lower())
        if entry["value"].get("aliases"):
            syntax.uses_unnamed = True
    if source == "TABLE_FUNCTION":
        function = node["function"]
        return [(function.get("children"), place), (function.get("arguments"), place)]
    return [(value, place) for value in node.values() if isinstance(value, dict | list)]


def _visit_expression(node: Node, place: _SyntaxPlace, syntax: Syntax) -> _SyntaxPlace:
    kind = node["class"]
    if kind not in EXPRESSIONS:
        syntax.doubts.append("it has an expression of a kind that is not known")
    if kind in {"FUNCTION", "WINDOW"}:
        _visit_function(node, place, syntax)
    elif kind == "COLUMN_REF":
        syntax.names.update(name.lower() for name in node["column_names"])
    elif kind in {"STAR", "POSITIONAL_REFERENCE"}:
        syntax.uses_unnamed = True
    elif kind == "TYPE":
        syntax.types.add(node["type_name"].lower())
    elif kind == "PARAMETER" and place.is_fixed:
        syntax.doubts.append("what it reads depends on a parameter")
    lambdas = place.lambdas + (kind == "LAMBDA")
    is_long = kind == "COLUMN_REF" and len(node["column_names"]) > MAX_NAME_PARTS
    if place.depth >= MAX_DEPTH or lambdas > MAX_LAMBDAS or is_long:
        syntax.doubts.append(TOO_COMPLEX)
    return _SyntaxPlace(place.depth + 1, lambdas, place.is_fixed or kind == "STAR")


def _visit_function(node: Node, place: _SyntaxPlace, syntax: Syntax) -> None:
    name = node["function_name"].lower()
    syntax.functions.add(name)
    syntax.calls += count_calls(name)
    if may_grow(name):
        syntax.growing.append((node, place.lambdas > 0))


def _visit_source(node: Node, source: str, place: _SyntaxPlace, syntax: Syntax) -> _SyntaxPlace:
    if source.endswith(CHANGES):
        syntax.changes = True
    if source == "USER_TYPE_INFO":  # of DuckDB 1
        syntax.types.add(node["user_type_name"].lower())
    if source not in SOURCES | QUERIES | OTHERS and not source.endswith("_TYPE_INFO"):
        syntax.doubts.append("it has a part of a kind that is not known")
    if source not in SOURCES:
        return place
    syntax.aliases.add(str(node.get("alias", "")).lower())
    if node.get("column_name_alias") or node.get("ref_type") == "NATURAL" or source in {"PIVOT", "SHOW_REF"}:
        syntax.uses_unnamed = True
    syntax.names.update(name.lower() for name in node.get("using_columns", ()))
    _visit_named(node, source, syntax)
    return _SyntaxPlace(place.depth, place.lambdas, place.is_fixed or source in {"TABLE_FUNCTION", "PIVOT"})


def _visit_named(node: Node, source: str, syntax: Syntax) -> None:
    if source == "BASE_TABLE" or (source == "SHOW_REF" and node["table_name"] not in SHOWN):
        parts = (node["catalog_name"], node["schema_name"], node["table_name"])
        path = tuple(node.get("qualified_name", {}).get("path", ())) or tuple(filter(None, parts))
        syntax.tables.add(path)
        syntax.aliases.add(path[-1].lower())
    elif source == "TABLE_FUNCTION":
        syntax.table_functions.add(node["function"]["function_name"].lower())
        syntax.uses_unnamed = True
    if node.get("at_clause"):
        syntax.doubts.append("it reads an earlier version of a table")
    if source == "PIVOT" and any(pivot.get("pivot_enum") for pivot in node["pivots"]):
        syntax.doubts.append("a PIVOT without its values runs a query before it is planned")
