"""What a DuckDB plan says: a tree of operators, each with a name, its children and what is noted about it."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from askback.errors import EstimateFailed
from askback.guards.cost.duckdb.tables import TableSize

PAIRS = frozenset(
    {"CROSS_PRODUCT", "NESTED_LOOP_JOIN", "BLOCKWISE_NL_JOIN", "PIECEWISE_MERGE_JOIN", "IE_JOIN"}
)
"""They compare each with each, or may; DuckDB's own number for them is missing or far too low."""

PASSING = frozenset({"PROJECTION"})
"""As many out as in, whatever is noted."""

LIMITS = frozenset({"LIMIT", "STREAMING_LIMIT"})

GROUP = 122_880
"""Rows that DuckDB takes at a time; a limit stops it no sooner."""

ENDLESS = frozenset({"REC_CTE", "RECURSIVE_CTE", "RECURSIVE_KEY_CTE", "INOUT_FUNCTION"})
"""How often, or how much, is told by the data alone."""

GENERATED = {"RANGE": 8.0, "GENERATE_SERIES": 8.0}

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBPlan:
    """The sums over a plan."""

    rows: float | None
    widest: float | None
    bytes: float | None


@dataclass(frozen=True, slots=True)
class _Scan:
    rows: float | None
    bytes: float | None


def read_plan(text: str, tables_of: Callable[[Collection[str]], Mapping[str, TableSize]]) -> DuckDBPlan:
    """The tables are looked up by the names that the plan has."""
    nodes = cast("list[Node]", json.loads(text))
    every = [node for root in nodes for node in _walk(root)]
    names = set(map(_kind, every))
    tables = tables_of({note for node in every if (note := _notes(node).get("Table"))})
    scans = [scan for root in nodes for scan in _scans(root, tables, most=None)]
    steps: list[float] = []
    for root in nodes:
        _width(root, steps)
    return DuckDBPlan(
        rows=_sum(scan.rows for scan in scans),
        bytes=_sum(scan.bytes for scan in scans),
        widest=max(steps, default=0.0) if ENDLESS.isdisjoint(names) else None,
    )


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node["children"]:
        yield from _walk(child)


def _kind(node: Node) -> str:
    return node["name"].strip()  # DuckDB 1 fills up


def _notes(node: Node) -> Mapping[str, Any]:
    return node.get("extra_info") or {}


def _width(node: Node, steps: list[float]) -> float:
    """How many rows a step makes, or compares; all but scans are noted in `steps`."""
    inward = [_width(child, steps) for child in node["children"]]
    if not inward:
        return _or(_cardinality(node), 1.0)
    if _kind(node) in PAIRS:
        width = math.prod(inward)
    elif _kind(node) in PASSING:
        width = inward[0]
    else:
        width = _or(_cardinality(node), max(inward))
    steps.append(width)
    return width


def _or(noted: float | None, otherwise: float) -> float:
    return otherwise if noted is None else noted


def _cardinality(node: Node) -> float | None:
    noted = _notes(node).get("Estimated Cardinality")
    return None if noted is None else float(noted)


def _scans(node: Node, tables: Mapping[str, TableSize], *, most: float | None) -> Iterator[_Scan]:
    """`most` is what a limit above lets through."""
    notes, name = _notes(node), _kind(node)
    if "Table" in notes:
        yield _of_table(node, tables, most)
    elif "Function" in notes:
        yield _of_function(node)
    passed = _limit(notes) if name in LIMITS else most if name in PASSING else None
    for child in node["children"]:
        yield from _scans(child, tables, most=passed)


def _limit(notes: Mapping[str, Any]) -> float | None:
    told = [str(notes.get("Limit", "")), str(notes.get("Offset", "0"))]
    return max(sum(map(float, told)), GROUP) if all(map(str.isdecimal, told)) else None


def _of_table(node: Node, tables: Mapping[str, TableSize], most: float | None) -> _Scan:
    notes = _notes(node)
    table = tables.get(notes["Table"])
    if table is None:
        raise EstimateFailed(
            engine="DuckDB", problem=f"no catalogue has {notes['Table']}", advice="A person has to judge it."
        )
    rows = _cardinality(node) if "Index" in notes.get("Type", "") else table.rows
    if rows is None:
        return _Scan(None, None)
    if most is not None and "Filters" not in notes:
        rows = min(rows, most)
    return _Scan(rows, rows * sum(table.widths[column] for column in _columns(notes, table)))


def _columns(notes: Mapping[str, Any], table: TableSize) -> set[str]:
    """Those that are handed on, those inside which something is, and those that a filter looks at."""
    handed: str | list[str] = notes.get("Projections", "")
    listed = [handed] if isinstance(handed, str) else handed
    filters = json.dumps(notes.get("Filters", ""), ensure_ascii=False)
    return {
        column
        for column in table.widths
        if any(each == column or each.startswith((f"{column}.", f'"{column}"')) for each in listed)
        or re.search(rf"(?<!\w){re.escape(column)}(?!\w)", filters)
    }


def _of_function(node: Node) -> _Scan:
    """A function says how much it gives behind its filter, so with a filter nothing is known of what it reads."""
    rows = None if "Filters" in _notes(node) else _cardinality(node)
    width = GENERATED.get(_kind(node))
    return _Scan(rows, None if rows is None or width is None else rows * width)


def _sum(numbers: Iterator[float | None]) -> float | None:
    listed = list(numbers)
    return None if None in listed else float(sum(number for number in listed if number is not None))
