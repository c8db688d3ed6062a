"""How much DuckDB computes while it binds or plans a statement: calls whose arguments are all constants.

`hex(hex(hex('a')))` doubles with each call, `levenshtein('a...', 'b...')` takes memory with the product of both texts.
Such a call is computed before anything runs, and cannot be interrupted. Sizes are estimated from above, by rule and not
by function: whatever is not known to add up may multiply its two largest arguments, and grow eightfold besides.
"""

import re
from typing import Any, cast

from askback.guards.sql.engines.duckdb.growth import GROWING, find_constants, find_numbers, find_texts
from askback.guards.sql.engines.duckdb.tree import Node, walk
from askback.guards.sql.names import words_in
from askback.guards.sql.turns import StepCounter

MAX_SIZE = 10_000_000
"""Characters of a value, or steps to compute it. Some functions take eight bytes for each."""

FACTOR = 8
"""How much longer a function makes one text at most: `bin('a')` has a digit for each bit."""

FEW_CALLS, SHORT = 2, 1_000
"""Calls, and characters of a statement, that cannot compute so much."""

ADDING = words_in(
    "array_value coalesce concat list_concat list_value map row struct_pack to_days to_months to_years trunc"
)
"""Functions whose value is as long as their arguments together."""

REDUCING = frozenset({"array_reduce", "list_reduce", "reduce"})
"""They call a lambda with what it gave before: each element may double the value."""

INDENTING = frozenset({"json_pretty"})
"""Their value grows with the square of their text: each level is indented."""

MATCHING = words_in("~~ !~~ ~~* !~~* ~~~ like_escape ilike_escape not_like_escape not_ilike_escape")
"""LIKE, ILIKE and GLOB: DuckDB 1.4 tries each character of the text for each wildcard."""

MAX_WILDCARDS = 10
"""Enough to pass every bound, and few enough for a float to hold the power."""

ARGUMENTS = ("children", "arguments")
"""Where a call has them in DuckDB 1, and in DuckDB 2. FILTER and ORDER BY stand beside them."""

OPERATOR = re.compile(r"\W+")

COMPUTED = frozenset(
    {"BETWEEN", "CASE", "CAST", "COLLATE", "COMPARISON", "CONJUNCTION", "FUNCTION", "OPERATOR", "TYPE"}
)
"""Expressions that DuckDB computes where they hold constants alone."""


def count_calls(name: str) -> int:
    """What one call of this function adds to `calls`: nothing for operators that add up, more than a few for LIKE."""
    if name in MATCHING:
        return FEW_CALLS + 1
    return 0 if OPERATOR.fullmatch(name) else 1


def is_costly(statement: Node, length: int, calls: int) -> bool:
    """Whether to bind this syntax tree could take more time and memory than a statement is worth.

    `length` counts the characters of the statement, `calls` the sum of `count_calls`.
    """
    if not calls or (calls <= FEW_CALLS and length <= SHORT):
        return False
    constants = _Constants(statement, length)
    constants.measure(statement)
    return constants.largest > MAX_SIZE


class _Constants:
    """Estimates the largest constant in one statement."""

    def __init__(self, statement: Node, length: int) -> None:
        self.largest = 0.0
        self._turns = StepCounter()
        self._length, self._lambdas = length, 0
        constants = find_constants(statement)
        self._named: dict[str, list[Node]] = {}
        for node in walk(statement) if constants else ():
            if (alias := str(node.get("alias") or "").lower()) in constants:
                self._named.setdefault(alias, []).append(node)
        self._sizes: dict[str, float] = {}

    def measure(self, value: Any) -> float | None:
        """The size of what a part of the tree is computed to; None where a column or a query is in it."""
        if isinstance(value, list):
            return _add([self.measure(each) for each in cast("list[Any]", value)])
        if not isinstance(value, dict):
            return 0.0
        self._turns.step()
        node = cast("Node", value)
        kind = node.get("class")
        if kind == "CONSTANT":
            return self._measure_constant(node)
        if kind == "COLUMN_REF":
            return self._measure_name(str(node["column_names"][-1]).lower())
        if kind == "LAMBDA":
            return self._measure_lambda(node)
        if kind == "FUNCTION":
            return self._measure_call(node)
        sizes = [self.measure(part) for part in node.values()]
        return _add(sizes) if kind is None or kind in COMPUTED else None

    def _measure_constant(self, node: Node) -> float:
        written = node["literal"].get("text", "") if "literal" in node else node["value"].get("value", "")
        return 1.0 + len(str(written))

    def _measure_name(self, name: str) -> float | None:
        """Of a name that stands for a constant; in a lambda, of a parameter, which may be any constant."""
        if name in self._named:
            if name not in self._sizes:
                self._sizes[name] = self._length  # where it names itself
                sizes = [self.measure(node) for node in self._named[name]]
                self._sizes[name] = max((size for size in sizes if size is not None), default=0.0)
            return self._sizes[name]
        return float(self._length) if self._lambdas else None

    def _measure_lambda(self, node: Node) -> float | None:
        self._lambdas += 1
        size = self.measure(node.get("expr"))
        self._lambdas -= 1
        return size

    def _measure_call(self, node: Node) -> float | None:
        sizes: list[float | None] = []
        for key, part in node.items():
            if key in ARGUMENTS:
                sizes = [self.measure(argument) for argument in cast("list[Any]", part)]
            else:
                self.measure(part)
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            return None
        size = self._size_of_call(node, str(node["function_name"]).lower(), known)
        self.largest = max(self.largest, size)
        return size

    def _size_of_call(self, node: Node, name: str, sizes: list[float]) -> float:
        total = 1.0 + sum(sizes)
        if name in MATCHING:
            wildcards = sum(text.count("%") + text.count("*") for text in find_texts(node))
            return min(total, MAX_SIZE) ** min(wildcards, MAX_WILDCARDS) + total
        if OPERATOR.fullmatch(name) or name in ADDING:
            return total
        if name in INDENTING:
            return total * total
        if name in REDUCING:
            return MAX_SIZE * total
        if name in GROWING:
            for number in find_numbers(node):
                total *= number
            return total
        largest = max(sizes, default=0.0)
        return FACTOR * total + largest * (total - largest)


def _add(sizes: list[float | None]) -> float | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
