"""How large a query becomes when DuckDB binds it: aliases, stars and WITH queries are written once and bound often.

`SELECT a x0, x0 + x0 x1, x1 + x1 x2 ...` doubles with each alias, `SELECT *, * FROM (SELECT *, * FROM ...)` with each
star, a WITH query that names the one before twice with each level, and so does `LIMIT (SELECT 1 LIMIT (SELECT ...))`,
since DuckDB binds a limit twice. Binding cannot be interrupted and takes all memory.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from askback.guards.sql.engines.duckdb.tree import Node
from askback.guards.sql.functions import harmless_functions
from askback.guards.sql.turns import StepCounter

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
    """Of a part of a query: expressions that are bound for it, and columns that a star over it stands for."""

    size: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class _SizeScope:
    """What names stand for where an expression is written."""

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
        self._turns = StepCounter()

    def measure(self, value: Any, scope: _SizeScope) -> Extent:
        if isinstance(value, list):
            parts = [self.measure(each, scope) for each in cast("list[Any]", value)]
            return Extent(sum(part.size for part in parts), sum(part.width for part in parts))
        if not isinstance(value, dict):
            return Extent()
        self._turns.step()
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
