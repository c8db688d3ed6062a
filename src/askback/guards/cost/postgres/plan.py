"""What a Postgres plan says, as `EXPLAIN (FORMAT JSON, VERBOSE)` gives it.

`Plan Rows` is what a step hands on, behind its filter; what is read is told by the size of the relation.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from askback.errors import EstimateFailed
from askback.guards.cost.postgres.relations import RelationName, RelationSize

Node = Mapping[str, Any]

BY_INDEX = frozenset({"Index Scan", "Index Only Scan"})

FOREIGN = frozenset({"Foreign Scan", "Custom Scan"})
"""What they read is elsewhere."""

ENDLESS = "Recursive Union"

KEPT = "Materialize"
"""What is below runs once, however often it is asked for."""

CONDITIONS = frozenset({"Output", "Filter", "Join Filter", "One-Time Filter"})
"""Expressions, in which names are quoted; elsewhere they are not."""

WRITTEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
"""What the statement's author may have put into an expression: texts and quoted names."""

SERIES = re.compile(r"\bgenerate_series\(([^()]*)(\)|\()")

CONSTANT = re.compile(r"'(?:[^']|'')*'|::[\w \[\]]+")
"""What may stand among the arguments beside `NUMBERS`, for how much it makes to be known beforehand."""

NUMBERS = re.compile(r"[\d\s.,+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPlan:
    """The sums over a plan."""

    rows: float | None
    widest: float | None
    bytes: float | None
    cost: float


@dataclass(frozen=True, slots=True)
class _Step:
    node: Node
    times: float
    """How often it runs."""
    workers: float
    """Among how many its rows are divided."""
    parent: Node | None

    @property
    def kind(self) -> str:
        return self.node["Node Type"]

    @property
    def rows(self) -> float:
        """Handed on in one run, by all workers."""
        return self.node["Plan Rows"] * self.workers


def read_plan(root: Node, relations: Mapping[RelationName, RelationSize], *, per_row: float) -> PostgresPlan:
    """`per_row` is what the planner charges at the least for a row that it looks at."""
    steps = list(_steps(_Step(root, 1.0, 1.0, None), relations))
    scans = [scan for step in steps if (scan := _scan(step, relations, per_row)) is not None]
    kinds = {step.kind for step in steps}
    is_told = FOREIGN.isdisjoint(kinds)
    return PostgresPlan(
        rows=sum(rows for rows, _ in scans) if is_told else None,
        bytes=sum(size for _, size in scans) if is_told else None,
        widest=None if ENDLESS in kinds else max(map(_width, steps)),
        cost=root["Total Cost"],
    )


def relations_in(root: Node) -> set[RelationName]:
    return {place for node in _nodes(root) if (place := _place(node)) is not None}


def has_open_series(root: Node) -> bool:
    """Whether generate_series takes its bounds from the data: how many rows it makes is in no plan."""
    text = "\n".join(text for node in _nodes(root) for text in _texts_at(node))
    return any(map(_is_open, SERIES.finditer(text)))


def _is_open(series: re.Match[str]) -> bool:
    arguments, end = series.groups()
    return end == "(" or NUMBERS.fullmatch(CONSTANT.sub("", arguments)) is None


def _texts_at(node: Node) -> Iterator[str]:
    yield from (value for value in node.values() if isinstance(value, str))
    lists = [cast("list[object]", value) for value in node.values() if isinstance(value, list)]
    yield from (part for each in lists for part in each if isinstance(part, str))


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def _place(node: Node) -> RelationName | None:
    named = "Relation Name" in node and "Schema" in node and node["Node Type"] != "ModifyTable"
    return RelationName(node["Schema"], node["Relation Name"]) if named else None


def _steps(step: _Step, relations: Mapping[RelationName, RelationSize], once: float = 1.0) -> Iterator[_Step]:
    """All steps with how often they run; `once` is how often that is outside the innermost loop."""
    yield step
    workers = _divisor(step.node["Workers Planned"]) if "Workers Planned" in step.node else step.workers
    for child in step.node.get("Plans", ()):
        times = _times(step, child, relations, once)
        again = step.times if times > step.times else once
        yield from _steps(_Step(child, times, workers, step.node), relations, again)


def _divisor(planned: float) -> float:
    """As the planner reckons with a leader that helps its workers, the less the more there are."""
    return planned + max(0.0, 1 - 0.3 * planned)


def _times(step: _Step, child: Node, relations: Mapping[RelationName, RelationSize], once: float) -> float:
    match child.get("Parent Relationship"):
        case "SubPlan" if not _is_hashed(step.node, child):
            return step.times * max(1.0, _looked_at(step, relations))
        case "Inner" if step.kind == "Nested Loop":
            return step.times * max(1.0, _outer_rows(step))
        case _:
            return once if step.kind == KEPT else step.times


def _is_hashed(node: Node, child: Node) -> bool:
    """Whether a subquery runs once and is looked up then. No text or name in the statement can claim it."""
    mark = re.compile(rf"\bhashed {re.escape(child.get('Subplan Name', ''))}\b")
    where = {key: value for key, value in node.items() if key in CONDITIONS}
    return any(mark.search(WRITTEN.sub("", text)) for text in _texts_at(where))


def _looked_at(step: _Step, relations: Mapping[RelationName, RelationSize]) -> float:
    """For how many rows a step may work out an expression."""
    place = _place(step.node)
    relation = None if place is None else relations.get(place)
    read = 0.0 if relation is None else relation.rows(step.node["Plan Width"])
    return max(step.rows, read, *(child["Plan Rows"] * step.workers for child in step.node.get("Plans", ())))


def _outer_rows(step: _Step) -> float:
    return sum(
        child["Plan Rows"] * step.workers
        for child in step.node["Plans"]
        if child.get("Parent Relationship") == "Outer"
    )


def _width(step: _Step) -> float:
    """How many rows a step makes, or compares."""
    if _place(step.node) is not None:
        return 0.0  # what is read is counted as that
    if step.kind != "Nested Loop":
        return step.rows * step.times
    inner = sum(
        each["Plan Rows"] for each in step.node["Plans"] if each.get("Parent Relationship") == "Inner"
    )
    return max(step.rows, _outer_rows(step) * inner) * step.times


def _scan(
    step: _Step, relations: Mapping[RelationName, RelationSize], per_row: float
) -> tuple[float, float] | None:
    place = _place(step.node)
    if place is None or step.kind in FOREIGN:
        return None
    if place not in relations:
        raise EstimateFailed(
            engine="Postgres", problem=f"no catalogue has {place.name}", advice="A person has to judge it."
        )
    relation = relations[place]
    whole = relation.rows(step.node["Plan Width"])
    rows = min(whole, _read(step, whole, per_row))
    return rows * step.times, relation.bytes * (rows / whole if whole else 1.0) * step.times


def _read(step: _Step, whole: float, per_row: float) -> float:
    """Rows that one run of a scan looks at."""
    node = step.node
    if step.kind == "Bitmap Heap Scan":
        return node["Plans"][0]["Plan Rows"] * step.workers
    if step.kind in BY_INDEX and "Index Cond" in node:
        return max(step.rows, _behind_filter(node, per_row) * step.workers)
    if step.kind == "Tid Scan":
        return step.rows
    if step.parent is not None and step.parent["Node Type"] == "Limit" and "Filter" not in node:
        return whole * _share(step.parent, node)
    return whole


def _share(limit: Node, node: Node) -> float:
    """How far a limit lets a scan run; its cost counts what OFFSET skips as well."""
    return limit["Total Cost"] / node["Total Cost"] if node["Total Cost"] else 1.0


def _behind_filter(node: Node, per_row: float) -> float:
    """The most rows that its cost leaves room for, where a filter hides how many the index finds."""
    return (node["Total Cost"] - node["Startup Cost"]) / per_row if "Filter" in node else 0.0
