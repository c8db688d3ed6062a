"""The bound, not optimised plan of a query, from `json_serialize_plan`: which stored columns its result depends on.

Columns go by their position among those of the step below. A step's own conditions always count. What a projection
computes counts where a step above uses it, or where computing it can raise an error.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from askback.guards.sql.engines.duckdb.constants import Node, walk
from askback.guards.sql.engines.duckdb.schema import TABLE_FUNCTIONS
from askback.guards.sql.names import split_words
from askback.guards.sql.system import describes_the_schema
from askback.guards.sql.threads import Turns

EXPRESSIONS = split_words(
    "BOUND_AGGREGATE BOUND_BETWEEN BOUND_CASE BOUND_CAST BOUND_COLUMN_REF BOUND_COMPARISON BOUND_CONJUNCTION "
    "BOUND_CONSTANT BOUND_FUNCTION BOUND_LAMBDA BOUND_OPERATOR BOUND_PARAMETER BOUND_REF BOUND_UNNEST "
    "BOUND_WINDOW"
)

SKIPPED = split_words(
    "return_type arguments original_arguments alias value qname query_location parameter_data chunk_types "
    "lambda_expr aggr_expr"
)
"""Parts without columns. Within a lambda, and in what `list_aggregate` runs on a list, positions mean something else;
what they take from outside stands beside them too."""

QUIET = split_words(
    "BOUND_CASE BOUND_COMPARISON BOUND_CONJUNCTION BOUND_CONSTANT BOUND_REF BOUND_PARAMETER BOUND_COLUMN_REF"
)
"""They raise no error by themselves."""

QUIET_OPERATORS = frozenset(
    {"OPERATOR_COALESCE", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_NOT", "COMPARE_IN"}
)

QUIET_FUNCTIONS = split_words(
    "|| concat concat_ws lower lcase upper ucase length len strlen trim ltrim rtrim reverse contains starts_with "
    "ends_with prefix suffix instr strpos replace md5 hash typeof ~~ !~~ struct_pack row struct_extract list_value "
    "array_extract list_extract year month day quarter week dayofweek dayname monthname hour minute second count "
    "count_star first last any_value arbitrary bool_and bool_or list array_agg"
)
"""Functions that raise no error, whatever their arguments are."""

QUIET_ALONE = frozenset({"min", "max"})
"""Functions that raise no error with a single argument; a second one is a number within bounds."""


class UnknownPlan(Exception):
    """The plan is of a shape that Askback does not know."""


def find_references(expression: Any, width: int) -> set[int]:
    """Positions among the columns of the step below, of which there are `width`; all where they go by another name."""
    found: set[int] = set()
    for node in walk(expression, SKIPPED):
        kind = node.get("expression_class")
        if kind == "BOUND_REF":
            found.add(node["index"])
        elif kind == "BOUND_COLUMN_REF":
            found.update(range(width))
        elif kind is not None and kind not in EXPRESSIONS:
            raise UnknownPlan
    if found and max(found) >= width:
        raise UnknownPlan
    return found


def can_raise(expression: Node) -> bool:
    """Whether computing it could raise an error for some value, which reveals the value."""
    return not all(_is_quiet(node) for node in walk(expression, SKIPPED) if "expression_class" in node)


def _is_quiet(node: Node) -> bool:
    kind, type_ = node["expression_class"], node["type"]
    if kind in QUIET or type_.startswith("COMPARE_"):
        return True
    if kind == "BOUND_OPERATOR":
        return type_ in QUIET_OPERATORS
    if type_ == "OPERATOR_CAST":
        is_text = node["return_type"]["id"] == "VARCHAR" and not node["return_type"]["type_info"]
        return is_text or bool(node.get("function_data", node).get("try_cast"))
    if kind in {"BOUND_FUNCTION", "BOUND_AGGREGATE"}:
        name = node["qname"]["path"][-1] if "qname" in node else node["name"]
        return name in QUIET_FUNCTIONS or (name in QUIET_ALONE and len(node["children"]) == 1)
    return False


Live = set[int]
"""Positions of the columns of a step that something above depends on."""

SCANNED = "seq_scan"
"""The function that reads a stored table."""

VIRTUAL = 2**63
"""Column numbers from here on are not stored: `rowid`."""

LEFT_ONLY, RIGHT_ONLY = frozenset({"SEMI", "ANTI"}), frozenset({"RIGHT_SEMI", "RIGHT_ANTI"})

BOTH = frozenset({"INNER", "LEFT", "RIGHT", "OUTER", "FULL", "SINGLE"})


SHOW = "pragma_show"
"""The function that stands for `SHOW customers` in a plan of DuckDB 2."""

JOINS = (
    "LOGICAL_COMPARISON_JOIN",
    "LOGICAL_ANY_JOIN",
    "LOGICAL_ASOF_JOIN",
    "LOGICAL_DELIM_JOIN",
    "LOGICAL_CROSS_PRODUCT",
    "LOGICAL_POSITIONAL_JOIN",
)


class PlanReader:
    """Walks over one plan and collects what is read."""

    def __init__(self) -> None:
        self.columns: set[tuple[str, ...]] = set()
        """Database, schema, table and column."""
        self._wanted: dict[int, Live] = {}
        """The columns of each CTE that are used."""
        self._made: set[int] = set()
        """CTEs whose own steps have been visited, or that count as a whole."""
        self._widths: dict[int, int] = {}

    def read(self, plan: Node) -> None:
        """Raises UnknownPlan, LookupError or TypeError where the plan is of a shape that is not known."""
        self._visit(plan, self._all(plan))
        if self._wanted.keys() - self._made:
            raise UnknownPlan

    def _all(self, node: Node) -> Live:
        return set(range(self.width(node)))

    def width(self, node: Node) -> int:
        """How many columns a step hands on."""
        if id(node) not in self._widths:
            self._widths[id(node)] = WIDTHS[node["type"]](self, node)
        return self._widths[id(node)]

    def _visit(self, node: Node, live: Live) -> None:
        if live and max(live) >= self.width(node):
            raise UnknownPlan
        VISITS[node["type"]](self, node, live)

    def _used(self, expressions: Iterable[Any], width: int) -> Live:
        found, turns = set[int](), Turns()
        for each in expressions:
            turns.take()
            if each is not None:
                found |= find_references(each, width)
        return found

    # Steps that read

    def get(self, node: Node, live: Live) -> None:
        if node["children"]:
            self._visit(node["children"][0], self._all(node["children"][0]))
        if any(node["table_filters"].values()):
            raise UnknownPlan
        if (name := _function(node)) != SCANNED:
            is_known = name in TABLE_FUNCTIONS or name == SHOW or describes_the_schema((name,), "duckdb")
            if not is_known:
                raise UnknownPlan
            return
        stored, names = node["function_data"], node["names"]
        path = (stored["catalog"], stored["schema"], stored["table"])
        indexes = [each["index"] for each in node["column_indexes"]]
        for index in (indexes[place] for place in live if place < len(indexes)):
            if index < VIRTUAL:
                self.columns.add((*path, names[index]))

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
        width = self.width(child)
        computed = enumerate(node["expressions"])
        used = [each for place, each in computed if place in live or can_raise(each)]
        self._visit(child, self._used(used, width))

    def aggregate(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        groups = node["groups"]
        made = enumerate(node["expressions"], start=len(groups))
        used = [each for place, each in made if place in live or can_raise(each)]
        self._visit(child, self._used([*groups, *used], self.width(child)))

    def extend(self, node: Node, live: Live) -> None:
        """WINDOW and UNNEST hand on all columns and add their own, which always count."""
        (child,) = node["children"]
        width = self.width(child)
        handed = {place for place in live if place < width}
        self._visit(child, handed | self._used(node["expressions"], width))

    def restrict(self, node: Node, live: Live) -> None:
        """FILTER, ORDER BY, LIMIT and SAMPLE hand on columns as they are."""
        (child,) = node["children"]
        own = [node.get(key) for key in ("expressions", "orders", "limit_val", "offset_val")]
        handed = _mapped(live, _map(node))
        self._visit(child, handed | self._used(own, self.width(child)))

    def distinct(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        if node["distinct_type"] != "DISTINCT_ON":
            self._visit(child, self._all(child))
            return
        own = self._used([node["distinct_targets"], node["order_by"]], self.width(child))
        self._visit(child, live | own)

    def values(self, node: Node, live: Live) -> None:
        (child,) = node["children"]
        self._visit(child, self._used(node["expressions"], self.width(child)))

    # Steps with two and more below

    def join(self, node: Node, live: Live) -> None:
        left, right = node["children"]
        widths = self.width(left), self.width(right)
        ours, theirs = self._sides(node, live)
        both = self._used([node.get("condition"), node.get("predicate")], sum(widths))
        for each in node.get("conditions", ()):
            if each.keys() - {"left", "right", "comparison"}:
                raise UnknownPlan
            if each["right"] is None:  # DuckDB 2 puts a condition over both sides on the left
                both |= find_references(each["left"], sum(widths))
                continue
            ours |= find_references(each["left"], widths[0])
            theirs |= find_references(each["right"], widths[1])
        if node.get("delim_flipped"):
            raise UnknownPlan
        ours |= self._used(node.get("duplicate_eliminated_columns", ()), widths[0])
        self._visit(left, ours | {place for place in both if place < widths[0]})
        self._visit(right, theirs | {place - widths[0] for place in both if place >= widths[0]})

    def _sides(self, node: Node, live: Live) -> tuple[Live, Live]:
        """The columns of the left and the right side that the steps above use."""
        kind = node.get("join_type", "INNER")
        ours, theirs = node.get("left_projection_map", ()), node.get("right_projection_map", ())
        if kind in RIGHT_ONLY:
            return set(), _mapped(live, theirs)
        width = len(ours) or self.width(node["children"][0])
        left = _mapped({place for place in live if place < width}, ours)
        if kind in BOTH:
            return left, _mapped({place - width for place in live if place >= width}, theirs)
        return left, set()

    def join_width(self, node: Node) -> int:
        kind = node.get("join_type", "INNER")
        left = len(node.get("left_projection_map", ())) or self.width(node["children"][0])
        right = len(node.get("right_projection_map", ())) or self.width(node["children"][1])
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

    def combine(self, node: Node, live: Live) -> None:
        """Set operations and recursion: everything counts, since rows are compared or cast as a whole."""
        for child in node["children"]:
            self._visit(child, self._all(child))

    def recursive(self, node: Node, live: Live) -> None:
        self._made.add(node["table_index"])
        self._wanted[node["table_index"]] = self._all(node)
        self.combine(node, live)


def _function(node: Node) -> str:
    return node["qname"]["path"][-1] if "qname" in node else node["name"]


def _map(node: Node) -> list[int]:
    """Which columns a step hands on; empty for all."""
    return node.get("projection_map") or node.get("projections") or []


def _mapped(live: Live, places: Iterable[int]) -> Live:
    listed = list(places)
    return {listed[place] for place in live} if listed else live


VISITS: Mapping[str, Callable[[PlanReader, Node, Live], None]] = {
    "LOGICAL_GET": PlanReader.get,
    "LOGICAL_CTE_REF": PlanReader.cte_ref,
    "LOGICAL_DELIM_GET": PlanReader.leaf,
    "LOGICAL_DUMMY_SCAN": PlanReader.leaf,
    "LOGICAL_EMPTY_RESULT": PlanReader.leaf,
    "LOGICAL_CHUNK_GET": PlanReader.leaf,
    "LOGICAL_EXPRESSION_GET": PlanReader.values,
    "LOGICAL_PROJECTION": PlanReader.projection,
    "LOGICAL_AGGREGATE_AND_GROUP_BY": PlanReader.aggregate,
    "LOGICAL_WINDOW": PlanReader.extend,
    "LOGICAL_UNNEST": PlanReader.extend,
    "LOGICAL_FILTER": PlanReader.restrict,
    "LOGICAL_ORDER_BY": PlanReader.restrict,
    "LOGICAL_LIMIT": PlanReader.restrict,
    "LOGICAL_SAMPLE": PlanReader.restrict,
    "LOGICAL_DISTINCT": PlanReader.distinct,
    **dict.fromkeys(JOINS, PlanReader.join),
    "LOGICAL_MATERIALIZED_CTE": PlanReader.cte,
    "LOGICAL_RECURSIVE_CTE": PlanReader.recursive,
    "LOGICAL_UNION": PlanReader.combine,
    "LOGICAL_EXCEPT": PlanReader.combine,
    "LOGICAL_INTERSECT": PlanReader.combine,
}
"""The method for each kind of step. Any other kind is a LookupError."""

WIDTHS: Mapping[str, Callable[[PlanReader, Node], int]] = {
    "LOGICAL_GET": lambda _, node: (
        max(len(node["projection_ids"] or node["column_indexes"]), 1) + len(node["projected_input"])
    ),
    "LOGICAL_CTE_REF": lambda _, node: len(node["chunk_types"]),
    "LOGICAL_DELIM_GET": lambda _, node: len(node["chunk_types"]),
    "LOGICAL_DUMMY_SCAN": lambda _, node: 1,
    "LOGICAL_EMPTY_RESULT": lambda _, node: len(node["bindings"]),
    "LOGICAL_CHUNK_GET": lambda _, node: len(node["chunk_types"]),
    "LOGICAL_EXPRESSION_GET": lambda _, node: len(node["expr_types"]),
    "LOGICAL_PROJECTION": lambda _, node: len(node["expressions"]),
    "LOGICAL_AGGREGATE_AND_GROUP_BY": lambda _, node: (
        len(node["groups"]) + len(node["expressions"]) + len(node["grouping_functions"])
    ),
    "LOGICAL_WINDOW": lambda reader, node: reader.width(node["children"][0]) + len(node["expressions"]),
    "LOGICAL_UNNEST": lambda reader, node: reader.width(node["children"][0]) + len(node["expressions"]),
    "LOGICAL_FILTER": lambda reader, node: len(_map(node)) or reader.width(node["children"][0]),
    "LOGICAL_ORDER_BY": lambda reader, node: len(_map(node)) or reader.width(node["children"][0]),
    "LOGICAL_LIMIT": lambda reader, node: reader.width(node["children"][0]),
    "LOGICAL_SAMPLE": lambda reader, node: reader.width(node["children"][0]),
    "LOGICAL_DISTINCT": lambda reader, node: reader.width(node["children"][0]),
    **dict.fromkeys(JOINS, PlanReader.join_width),
    "LOGICAL_MATERIALIZED_CTE": lambda reader, node: reader.width(node["children"][1]),
    "LOGICAL_RECURSIVE_CTE": lambda _, node: node["column_count"],
    "LOGICAL_UNION": lambda _, node: node["column_count"],
    "LOGICAL_EXCEPT": lambda _, node: node["column_count"],
    "LOGICAL_INTERSECT": lambda _, node: node["column_count"],
}
"""How many columns each step hands on."""
