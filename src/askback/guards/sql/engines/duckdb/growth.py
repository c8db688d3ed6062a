"""Functions that make a value of any size: DuckDB may do so already while it binds or plans a statement."""

import math
import re
from collections.abc import Iterator

from askback.guards.sql.engines.duckdb.tree import Node, walk
from askback.guards.sql.names import listed

SERIES = frozenset({"range", "generate_series"})

GROWING = SERIES | {
    "repeat", "lpad", "rpad", "left_pad", "right_pad", "pad", "list_resize", "array_resize", "bitstring",
}  # fmt: skip
"""They make a value as large as a number in the statement says."""

MULTIPLYING = frozenset({"replace", "regexp_replace"})
"""Their value can be as long as the product of their texts. With constants alone it is made while binding."""

WRITING = frozenset({"format", "printf"})
"""They pad to a width that stands in their text."""

SIMPLE = listed(
    "list_value array_value to_days to_weeks to_months to_quarters to_years to_hours to_minutes trunc - + "
    "now today current_date current_timestamp get_current_timestamp"
)
"""What may stand within such a call that has no column in it."""

PLAIN = frozenset({"FUNCTION", "CONSTANT", "CAST", "TYPE"})

MAX_SIZE = 10_000
"""The product of the numbers in such a call."""

WIDTH = re.compile(r"\d{5}")

DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?: \d\d?:\d\d(?::\d\d)?)?")


def find_growth(call: Node, *, is_in_lambda: bool) -> str | None:
    """Why a call is not bound: its value may be larger than memory."""
    name = call["function_name"].lower()
    if name in MULTIPLYING:
        is_bounded = (
            "COLUMN_REF" in _classes(call) or math.prod(len(text) + 1 for text in _texts(call)) <= MAX_SIZE
        )
    elif name in WRITING:
        is_bounded = not any(WIDTH.search(text) for text in _texts(call))
    elif name not in GROWING:
        return None
    elif is_in_lambda or "COLUMN_REF" not in _classes(call):
        is_bounded = _is_simple(call) and math.prod(_numbers(call)) <= MAX_SIZE
    else:
        is_bounded = max(_numbers(call), default=0) <= MAX_SIZE
    return None if is_bounded else f"{name}() makes a value of any length"


def _is_simple(call: Node) -> bool:
    """Whether its numbers, and not what is done with them, bound its value."""
    calls = (each for each in walk(call) if each.get("class") == "FUNCTION" and each is not call)
    if _classes(call) - PLAIN or {each["function_name"].lower() for each in calls} - SIMPLE:
        return False
    if call["function_name"].lower() in SERIES:
        return all(DATE.fullmatch(text) for text in _texts(call))
    return any(True for _ in _numbers(call)) and not any(WIDTH.search(text) for text in _texts(call))


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


def _numbers(call: Node) -> Iterator[float]:
    for is_number, text in _constants(call):
        if is_number:
            try:
                yield max(abs(float(text)), 1.0)
            except ValueError:
                yield math.inf


def _texts(call: Node) -> Iterator[str]:
    return (text for is_number, text in _constants(call) if not is_number)
