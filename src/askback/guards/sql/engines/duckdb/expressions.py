"""Expressions of a bound plan: which columns they use, and whether computing them can raise an error."""

from typing import Any

from askback.guards.sql.engines.duckdb.tree import Node, walk
from askback.guards.sql.names import words_in

EXPRESSIONS = words_in(
    "BOUND_AGGREGATE BOUND_BETWEEN BOUND_CASE BOUND_CAST BOUND_COLUMN_REF BOUND_COMPARISON BOUND_CONJUNCTION "
    "BOUND_CONSTANT BOUND_FUNCTION BOUND_LAMBDA BOUND_OPERATOR BOUND_PARAMETER BOUND_REF BOUND_UNNEST "
    "BOUND_WINDOW"
)

SKIPPED = words_in(
    "return_type arguments original_arguments alias value qname query_location parameter_data chunk_types "
    "lambda_expr aggr_expr"
)
"""Parts without columns. Within a lambda, and in what `list_aggregate` runs on a list, positions mean something else;
what they take from outside stands beside them too."""

QUIET = words_in(
    "BOUND_CASE BOUND_COMPARISON BOUND_CONJUNCTION BOUND_CONSTANT BOUND_REF BOUND_PARAMETER BOUND_COLUMN_REF"
)
"""They raise no error by themselves."""

QUIET_OPERATORS = frozenset(
    {"OPERATOR_COALESCE", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_NOT", "COMPARE_IN"}
)

QUIET_FUNCTIONS = words_in(
    "|| concat concat_ws lower lcase upper ucase length len strlen trim ltrim rtrim reverse contains starts_with "
    "ends_with prefix suffix instr strpos replace md5 hash typeof ~~ !~~ struct_pack row struct_extract list_value "
    "array_extract list_extract year month day quarter week dayofweek dayname monthname hour minute second count "
    "count_star first last any_value arbitrary bool_and bool_or list array_agg"
)
"""Functions that raise no error, whatever their arguments are."""

QUIET_ALONE = frozenset({"min", "max"})
"""Those that raise none with a single argument; a second one is a number within bounds."""


class UnknownPlan(Exception):
    """The plan is of a shape that Askback does not know."""


def references(expression: Any, width: int) -> set[int]:
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
    """Whether computing it for some value could raise an error, which tells of the value."""
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
