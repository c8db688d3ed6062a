"""The bound, not optimised plan of a query, from `json_serialize_plan`: which stored columns its result depends on.

Columns go by their position among those of the step below. A step's own conditions always count. What a projection
computes counts where a step above uses it, or where computing it can raise an error.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from askback.guards.sql.engines.duckdb.expressions import UnknownPlan, can_raise, references
from askback.guards.sql.engines.duckdb.tree import Node
from askback.guards.sql.turns import yield_often

Live = set[int]
"""Positions of the columns of a step that something above depends on."""

SCANNED = "seq_scan"
"""The function that reads a stored table."""

VIRTUAL = 2**63
"""Column numbers from here on are not stored: `rowid`."""

LEFT_ONLY, RIGHT_ONLY = frozenset({"SEMI", "ANTI"}), frozenset({"RIGHT_SEMI", "RIGHT_ANTI"})

BOTH = frozenset({"INNER", "LEFT", "RIGHT", "OUTER", "FULL", "SINGLE"})


class PlanReader:
    """Walks over one plan and collects what is read."""

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self.columns: set[tuple[str, ...]] = set()
        """Database, schema, table and column."""
        self._wanted: dict[int, Live] = {}
        """What is used of each CTE."""
        self._made: set[int] = set()
        """CTEs whose own steps have been visited, or that count as a whole."""
        self._widths: dict[int, int] = {}

    def read(self, plan: Node) -> None:
        """Raises UnknownPlan, LookupError or TypeError where the plan is of a shape that is not known."""
        self._visit(plan, self._all(plan))
        if self._wanted.keys() - self._made:
            raise UnknownPlan

    def _all(self, node: Node) -> Live:
        return set(range(self._width(node)))

    def _width(self, node: Node) -> int:
        """How many columns a step hands on."""
        if id(node) not in self._widths:
            self._widths[id(node)] = WIDTHS[node["type"]](self, node)
        return self._widths[id(node)]

    def _visit(self, node: Node, live: Live) -> None:
        if live and max(live) >= self._width(node):
            raise UnknownPlan
        VISITS[node["type"]](self, node, live)

    def _used(self, expressions: Iterable[Any], width: int) -> Live:
        taken = yield_often(expressions)
        return set[int]().union(*(references(each, width) for each in taken if each is not None))

    # Steps that read

    def get(self, node: Node, live: Live) -> None:
        if node["children"]:
            self._visit(node["children"][0], self._all(node["children"][0]))
        if any(node["table_filters"].values()):
            raise UnknownPlan
        if (name := _function(node)) != SCANNED:
            if not self._is_known(name):
                raise UnknownPlan
            return
        stored, names = node["function_data"], node["names"]
        path = (stored["catalog"], stored["schema"], stored["table"])
        indexes = [each["index"] for each in node["column_indexes"]]
        for index in (indexes[place] for place in live if place < len(indexes)):
            if index < VIRTUAL:
                self.columns.add((*path, names[index]))

    def get_width(self, node: Node) -> int:
        return max(len(node["projection_ids"] or node["column_indexes"]), 1) + len(node["projected_input"])

    def cte_ref(self, node: Node, live: Live) -> None:
        wanted = self._wanted.setdefault(node["cte_index"], set())
        if node["cte_index"] in self._made and not live <= wanted:
            raise UnknownPlan  # it is used by a step that should have come before
        wanted |= live

    def leaf(self, node: Node, live: Live) -> None:
        """A step that reads nothing stored."""

    # Steps with one below

    def projection(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        width = self._width(child)
        computed = enumerate(node["expressions"])
        used = [each for place, each in computed if place in live or can_raise(each)]
        self._visit(child, self._used(used, width))

    def aggregate(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        groups = node["groups"]
        made = enumerate(node["expressions"], start=len(groups))
        used = [each for place, each in made if place in live or can_raise(each)]
        self._visit(child, self._used([*groups, *used], self._width(child)))

    def aggregate_width(self, node: Node) -> int:
        return len(node["groups"]) + len(node["expressions"]) + len(node["grouping_functions"])

    def extend(self, node: Node, live: Live) -> None:
        """WINDOW and UNNEST hand on all columns and add their own, which always count."""
        (child,) = node["children"]
        width = self._width(child)
        handed = {place for place in live if place < width}
        self._visit(child, handed | self._used(node["expressions"], width))

    def extend_width(self, node: Node) -> int:
        return self._width(node["children"][0]) + len(node["expressions"])

    def restrict(self, node: Node, live: Live) -> None:
        """FILTER, ORDER BY, LIMIT and SAMPLE hand on columns as they are."""
        (child,) = node["children"]
        own = [node.get(key) for key in ("expressions", "orders", "limit_val", "offset_val")]
        handed = _mapped(live, _map(node))
        self._visit(child, handed | self._used(own, self._width(child)))

    def restrict_width(self, node: Node) -> int:
        return len(_map(node)) or self._width(node["children"][0])

    def distinct(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        if node["distinct_type"] != "DISTINCT_ON":
            self._visit(child, self._all(child))
            return
        own = self._used([node["distinct_targets"], node["order_by"]], self._width(child))
        self._visit(child, live | own)

    def values(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        self._visit(child, self._used(node["expressions"], self._width(child)))

    # Steps with two and more below

    def join(self, node: Node, live: Live) -> None:
        left, right = node["children"]
        widths = self._width(left), self._width(right)
        ours, theirs = self._sides(node, live)
        both = self._used([node.get("condition"), node.get("predicate")], sum(widths))
        for each in node.get("conditions", ()):
            if each.keys() - {"left", "right", "comparison"}:
                raise UnknownPlan
            if each["right"] is None:  # DuckDB 2 puts a condition over both sides on the left
                both |= references(each["left"], sum(widths))
                continue
            ours |= references(each["left"], widths[0])
            theirs |= references(each["right"], widths[1])
        if node.get("delim_flipped"):
            raise UnknownPlan
        ours |= self._used(node.get("duplicate_eliminated_columns", ()), widths[0])
        self._visit(left, ours | {place for place in both if place < widths[0]})
        self._visit(right, theirs | {place - widths[0] for place in both if place >= widths[0]})

    def _sides(self, node: Node, live: Live) -> tuple[Live, Live]:
        """What is used of either side's columns by the steps above."""
        kind = node.get("join_type", "INNER")
        ours, theirs = node.get("left_projection_map", ()), node.get("right_projection_map", ())
        if kind in RIGHT_ONLY:
            return set(), _mapped(live, theirs)
        width = len(ours) or self._width(node["children"][0])
        left = _mapped({place for place in live if place < width}, ours)
        if kind in BOTH:
            return left, _mapped({place - width for place in live if place >= width}, theirs)
        return left, set()

    def join_width(self, node: Node) -> int:
        kind = node.get("join_type", "INNER")
        left = len(node.get("left_projection_map", ())) or self._width(node["children"][0])
        right = len(node.get("right_projection_map", ())) or self._width(node["children"][1])
        if kind in RIGHT_ONLY:
            return right
        if kind in LEFT_ONLY:
            return left
        if kind == "MARK":
            return left + 1
        if kind not in BOTH:
            raise UnknownPlan
        return left + right

    def cte(self, node: Node, live: Live) -> None:
        """The steps that use it come first, and say what they use."""
        made, using = node["children"]
        self._visit(using, live)
        self._made.add(node["table_index"])
        self._visit(made, self._wanted.setdefault(node["table_index"], set()))

    def cte_width(self, node: Node) -> int:
        return self._width(node["children"][1])

    def combine(self, node: Node, live: Live) -> None:
        """Set operations and recursion: everything counts, since rows are compared or cast as a whole."""
        for child in node["children"]:
            self._visit(child, self._all(child))

    def recursive(self, node: Node, live: Live) -> None:
        self._made.add(node["table_index"])
        self._wanted[node["table_index"]] = self._all(node)
        self.combine(node, live)

    def passed_width(self, node: Node) -> int:
        return self._width(node["children"][0])


def _function(node: Node) -> str:
    return node["qname"]["path"][-1] if "qname" in node else node["name"]


def _map(node: Node) -> list[int]:
    """Which columns a step hands on; empty for all."""
    return node.get("projection_map") or node.get("projections") or []


def _mapped(live: Live, places: Iterable[int]) -> Live:
    listed = list(places)
    return {listed[place] for place in live} if listed else live


def _counted(key: str) -> Callable[[PlanReader, Node], int]:
    return lambda _, node: len(node[key])


def _numbered(_: PlanReader, node: Node) -> int:
    return node["column_count"]


def _one(_: PlanReader, __: Node) -> int:
    return 1


class _Steps(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise UnknownPlan


VISITS: Mapping[str, Callable[[PlanReader, Node, Live], None]] = _Steps(
    LOGICAL_GET=PlanReader.get,
    LOGICAL_CTE_REF=PlanReader.cte_ref,
    LOGICAL_DELIM_GET=PlanReader.leaf,
    LOGICAL_DUMMY_SCAN=PlanReader.leaf,
    LOGICAL_EMPTY_RESULT=PlanReader.leaf,
    LOGICAL_CHUNK_GET=PlanReader.leaf,
    LOGICAL_EXPRESSION_GET=PlanReader.values,
    LOGICAL_PROJECTION=PlanReader.projection,
    LOGICAL_AGGREGATE_AND_GROUP_BY=PlanReader.aggregate,
    LOGICAL_WINDOW=PlanReader.extend,
    LOGICAL_UNNEST=PlanReader.extend,
    LOGICAL_FILTER=PlanReader.restrict,
    LOGICAL_ORDER_BY=PlanReader.restrict,
    LOGICAL_LIMIT=PlanReader.restrict,
    LOGICAL_SAMPLE=PlanReader.restrict,
    LOGICAL_DISTINCT=PlanReader.distinct,
    LOGICAL_COMPARISON_JOIN=PlanReader.join,
    LOGICAL_ANY_JOIN=PlanReader.join,
    LOGICAL_ASOF_JOIN=PlanReader.join,
    LOGICAL_DELIM_JOIN=PlanReader.join,
    LOGICAL_CROSS_PRODUCT=PlanReader.join,
    LOGICAL_POSITIONAL_JOIN=PlanReader.join,
    LOGICAL_MATERIALIZED_CTE=PlanReader.cte,
    LOGICAL_RECURSIVE_CTE=PlanReader.recursive,
    LOGICAL_UNION=PlanReader.combine,
    LOGICAL_EXCEPT=PlanReader.combine,
    LOGICAL_INTERSECT=PlanReader.combine,
)

WIDTHS: Mapping[str, Callable[[PlanReader, Node], int]] = _Steps(
    LOGICAL_GET=PlanReader.get_width,
    LOGICAL_CTE_REF=_counted("chunk_types"),
    LOGICAL_DELIM_GET=_counted("chunk_types"),
    LOGICAL_DUMMY_SCAN=_one,
    LOGICAL_EMPTY_RESULT=_counted("bindings"),
    LOGICAL_CHUNK_GET=_counted("chunk_types"),
    LOGICAL_EXPRESSION_GET=_counted("expr_types"),
    LOGICAL_PROJECTION=_counted("expressions"),
    LOGICAL_AGGREGATE_AND_GROUP_BY=PlanReader.aggregate_width,
    LOGICAL_WINDOW=PlanReader.extend_width,
    LOGICAL_UNNEST=PlanReader.extend_width,
    LOGICAL_FILTER=PlanReader.restrict_width,
    LOGICAL_ORDER_BY=PlanReader.restrict_width,
    LOGICAL_LIMIT=PlanReader.passed_width,
    LOGICAL_SAMPLE=PlanReader.passed_width,
    LOGICAL_DISTINCT=PlanReader.passed_width,
    LOGICAL_COMPARISON_JOIN=PlanReader.join_width,
    LOGICAL_ANY_JOIN=PlanReader.join_width,
    LOGICAL_ASOF_JOIN=PlanReader.join_width,
    LOGICAL_DELIM_JOIN=PlanReader.join_width,
    LOGICAL_CROSS_PRODUCT=PlanReader.join_width,
    LOGICAL_POSITIONAL_JOIN=PlanReader.join_width,
    LOGICAL_MATERIALIZED_CTE=PlanReader.cte_width,
    LOGICAL_RECURSIVE_CTE=_numbered,
    LOGICAL_UNION=_numbered,
    LOGICAL_EXCEPT=_numbered,
    LOGICAL_INTERSECT=_numbered,
)
