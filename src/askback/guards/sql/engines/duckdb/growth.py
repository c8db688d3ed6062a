"""Functions that make a value of any size: DuckDB may do so already while it binds or plans a statement."""

import math
import re
from collections.abc import Collection, Iterator

from askback.guards.sql.engines.duckdb.tree import Node, walk
from askback.guards.sql.names import words_in

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

SIMPLE = words_in(
    "list_value array_value to_days to_weeks to_months to_quarters to_years to_hours to_minutes trunc - + "
    "now today current_date current_timestamp get_current_timestamp"
)
"""What may stand within such a call that has no column in it."""

PLAIN = frozenset({"FUNCTION", "CONSTANT", "CAST", "TYPE"})

MAX_ALIASES = 500
"""Names whose expressions are looked into; of more, each is taken to stand for a constant."""

MAX_SIZE = 10_000
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
            is_written_out and math.prod(len(text) + 1 for text in find_texts(call)) <= MAX_SIZE
        )
    elif name in WRITING:
        is_wide = any(WIDTH.search(text) for text in find_texts(call))
        is_bounded = not is_wide and (is_written_out or not is_constant)
    elif name in NAMED:
        is_bounded = _is_named_shortly(call)
    elif is_in_lambda or is_constant:
        is_bounded = _is_simple(call) and math.prod(find_numbers(call)) <= MAX_SIZE
    else:
        is_bounded = max(find_numbers(call), default=0) <= MAX_SIZE
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


def _is_named_shortly(call: Node) -> bool:
    """Whether the function that it names is written out; DuckDB looks for similar names of unknown ones for long."""
    arguments = call["children"] if "children" in call else [one["expression"] for one in call["arguments"]]
    named = arguments[1:2]
    return all(node.get("class") == "CONSTANT" for node in named) and all(
        len(text) <= MAX_NAME for node in named for text in find_texts(node)
    )


def _is_simple(call: Node) -> bool:
    """Whether its numbers, and not what is done with them, bound its value."""
    calls = (each for each in walk(call) if each.get("class") == "FUNCTION" and each is not call)
    if _classes(call) - PLAIN or {each["function_name"].lower() for each in calls} - SIMPLE:
        return False
    if call["function_name"].lower() in SERIES:
        return all(DATE.fullmatch(text) for text in find_texts(call))
    return any(True for _ in find_numbers(call)) and not any(WIDTH.search(text) for text in find_texts(call))


def _classes(call: Node) -> set[str]:
    return {each["class"] for each in walk(call) if "class" in each}


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
