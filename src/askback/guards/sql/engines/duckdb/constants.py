"""How much DuckDB computes of constants while it binds or plans a statement, and which calls make huge values."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from askback.guards.sql.names import split_words
from askback.guards.sql.threads import Turns

Node = Mapping[str, Any]


def walk(tree: Any, skipped: Collection[str] = ()) -> Iterator[Node]:
    """Every node of a tree, or of a list of trees, without the parts under the keys in `skipped`."""
    stack: list[Any] = [tree]
    turns = Turns()
    while stack:
        turns.take()
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(cast("list[Any]", node))
        elif isinstance(node, dict):
            yield cast("Node", node)
            stack.extend(value for key, value in cast("Node", node).items() if key not in skipped)


SERIES = frozenset({"range", "generate_series"})

GROWING = SERIES | {
    "repeat", "lpad", "rpad", "left_pad", "right_pad", "pad", "list_resize", "array_resize", "bitstring",
}  # fmt: skip
"""They make a value as large as a number in the statement says."""

MULTIPLYING = frozenset({"replace", "regexp_replace"})
"""Their value can be as long as the product of their texts. With constants alone it is made while binding."""

WRITING = frozenset({"format", "printf"})
"""They pad to a width that stands in their text."""

NAMED = frozenset({"list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate"})
"""Their second argument is the name of a function."""

MAX_NAME = 100
"""Characters of such a name."""

SIMPLE = split_words(
    "list_value array_value to_days to_weeks to_months to_quarters to_years to_hours to_minutes trunc - + "
    "now today current_date current_timestamp get_current_timestamp"
)
"""Functions that may stand within such a call if it has no column in it."""

PLAIN = frozenset({"FUNCTION", "CONSTANT", "CAST", "TYPE"})

MAX_ALIASES = 500
"""Names whose expressions are looked into; of more, each is taken to stand for a constant."""

MAX_PRODUCT = 10_000
"""The product of the numbers in such a call."""

WIDTH = re.compile(r"\d{5}")

DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?: \d\d?:\d\d(?::\d\d)?)?")


def may_grow(name: str) -> bool:
    """Whether calls of this function are to be looked at."""
    return name in GROWING | MULTIPLYING | WRITING | NAMED


def find_growth(call: Node, constants: Collection[str], *, is_in_lambda: bool) -> str | None:
    """Why a call is not bound: its value may be larger than memory. `constants` are names that stand for constants."""
    name = call["function_name"].lower()
    names = _column_names(call)
    is_constant, is_written_out = names <= set(constants), not names
    if name in MULTIPLYING:
        is_bounded = not is_constant or (
            is_written_out and math.prod(len(text) + 1 for text in find_texts(call)) <= MAX_PRODUCT
        )
    elif name in WRITING:
        is_wide = any(WIDTH.search(text) for text in find_texts(call))
        is_bounded = not is_wide and (is_written_out or not is_constant)
    elif name in NAMED:
        arguments = (
            call["children"] if "children" in call else [one["expression"] for one in call["arguments"]]
        )
        is_bounded = all(
            node.get("class") == "CONSTANT" and all(len(text) <= MAX_NAME for text in find_texts(node))
            for node in arguments[1:2]
        )
    elif is_in_lambda or is_constant:
        is_bounded = _is_simple(call) and math.prod(find_numbers(call)) <= MAX_PRODUCT
    else:
        is_bounded = max(find_numbers(call), default=0) <= MAX_PRODUCT
    return None if is_bounded else f"{name}() makes a value of any length"


def find_constants(statement: Node) -> frozenset[str]:
    """The names of select lists that stand for expressions without columns: DuckDB computes these while it binds."""
    named = [
        (str(node["alias"]).lower(), _column_names(node))
        for node in walk(statement)
        if node.get("alias") and node.get("class") not in {None, "TYPE"}
    ]
    if len(named) > MAX_ALIASES:
        return frozenset(name for name, _ in named)
    found: set[str] = set()
    while fresh := {name for name, used in named if used <= found} - found:
        found |= fresh
    return frozenset(found)


def _column_names(tree: Node) -> set[str]:
    return {str(node["column_names"][-1]).lower() for node in walk(tree) if node.get("class") == "COLUMN_REF"}


def _is_simple(call: Node) -> bool:
    """Whether its numbers, and not what is done with them, bound its value."""
    calls = (each for each in walk(call) if each.get("class") == "FUNCTION" and each is not call)
    classes = {each["class"] for each in walk(call) if "class" in each}
    if classes - PLAIN or {each["function_name"].lower() for each in calls} - SIMPLE:
        return False
    if call["function_name"].lower() in SERIES:
        return all(DATE.fullmatch(text) for text in find_texts(call))
    return any(True for _ in find_numbers(call)) and not any(WIDTH.search(text) for text in find_texts(call))


def _constants(call: Node) -> Iterator[tuple[bool, str]]:
    """Whether it is a number, and how it is written. DuckDB 1 has values, DuckDB 2 literals."""
    for node in walk(call):
        if node.get("class") == "CONSTANT":
            if "literal" in node:
                yield node["literal"]["kind"] in {"INTEGER", "NUMERIC"}, str(node["literal"].get("text", ""))
            elif not node["value"]["is_null"]:
                written = node["value"].get("value")
                yield not isinstance(written, str), str(written)


def find_numbers(call: Node) -> Iterator[float]:
    """The numbers in a call, each at least 1."""
    for is_number, text in _constants(call):
        if is_number:
            try:
                yield max(abs(float(text)), 1.0)
            except ValueError:
                yield math.inf


def find_texts(call: Node) -> Iterator[str]:
    """The constants in a call that are no numbers."""
    return (text for is_number, text in _constants(call) if not is_number)


MAX_SIZE = 10_000_000
"""Characters of a value, or steps to compute it. Some functions take eight bytes for each."""

FACTOR = 8
"""How much longer a function makes one text at most: `bin('a')` has a digit for each bit."""

FEW_CALLS, SHORT = 2, 1_000
"""Calls, and characters of a statement, that cannot compute so much."""

ADDING = split_words(
    "array_value coalesce concat list_concat list_value map row struct_pack to_days to_months to_years trunc"
)
"""Functions whose value is as long as their arguments together."""

REDUCING = frozenset({"array_reduce", "list_reduce", "reduce"})
"""They call a lambda with what it gave before: each element may double the value."""

INDENTING = frozenset({"json_pretty"})
"""Their value grows with the square of their text: each level is indented."""

MATCHING = split_words("~~ !~~ ~~* !~~* ~~~ like_escape ilike_escape not_like_escape not_ilike_escape")
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
        self._turns = Turns()
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
        self._turns.take()
        node = cast("Node", value)
        kind = node.get("class")
        if kind == "CONSTANT":
            written = node["literal"].get("text", "") if "literal" in node else node["value"].get("value", "")
            return 1.0 + len(str(written))
        if kind == "COLUMN_REF":
            return self._measure_name(str(node["column_names"][-1]).lower())
        if kind == "LAMBDA":
            self._lambdas += 1
            size = self.measure(node.get("expr"))
            self._lambdas -= 1
            return size
        if kind == "FUNCTION":
            return self._measure_call(node)
        sizes = [self.measure(part) for part in node.values()]
        return _add(sizes) if kind is None or kind in COMPUTED else None

    def _measure_name(self, name: str) -> float | None:
        """The size of a name that stands for a constant, or of a lambda's parameter, which may be any constant."""
        if name in self._named:
            if name not in self._sizes:
                self._sizes[name] = self._length  # where it names itself
                sizes = [self.measure(node) for node in self._named[name]]
                self._sizes[name] = max((size for size in sizes if size is not None), default=0.0)
            return self._sizes[name]
        return float(self._length) if self._lambdas else None

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
