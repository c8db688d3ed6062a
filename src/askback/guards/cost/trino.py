"""What Trino expects a statement to read, from `EXPLAIN (TYPE IO, FORMAT JSON)`.

Built on the shapes that Trino's documentation gives, and not run against a live server. No driver is taken along: the
author gives a function that runs one statement and returns the text that comes back.
"""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import A_PERSON, PLAN_ERRORS, Estimate, add_known, unknown_plan
from askback.guards.sql.text import MAX_LENGTH

ENGINE = "Trino"

EXPLAIN = "EXPLAIN (TYPE IO, FORMAT JSON) "

PLANNED = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge)
"""Statements that read or change rows; others have no plan."""

EXPRESSIONS = (exp.Condition, exp.Select, exp.Alias, exp.Where, exp.Having, exp.Ordered)
"""Parents of a query that may run it once for each row."""


class TrinoEstimator:
    """Estimates for a cluster, through the author's own connection.

    Tables count as far as their connector has statistics. Joins are in no such plan, nor are rows that are made up: so
    where a join has no equality to go by, something is unnested, or a query stands in an expression, how many rows are
    handled is not known.
    """

    def __init__(self, run: Callable[[str], str | Awaitable[str]]) -> None:
        self._run = run

    async def estimate(self, statement: str) -> Estimate:
        """The estimate of one statement that has a plan; raises `EstimateFailed` for all others."""
        tree = _parse(statement)
        try:
            answer = self._run(EXPLAIN + statement.rstrip().rstrip(";"))
            text = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:
            raise _failed(f"it raised {error!r:.300}", "Mend the statement, or the connection.") from error
        estimate = read_plan(text)
        return estimate if _is_bounded(tree) else replace(estimate, widest=None)


def read_plan(text: str) -> Estimate:
    """The estimate for a plan, as the only row and column of the answer has it."""
    try:
        plan = cast("dict[str, Any]", json.loads(text))
        inputs = [cast("dict[str, Any]", each["estimate"]) for each in plan["inputTableColumnInfos"]]
        whole = cast("dict[str, Any]", plan["estimate"])
        return Estimate(
            engine=ENGINE,
            rows=add_known(_number(each["outputRowCount"]) for each in inputs),
            bytes=add_known(_number(each["outputSizeInBytes"]) for each in inputs),
            widest=_number(whole["outputRowCount"]),
            cost=_number(whole.get("cpuCost")),
        )
    except PLAN_ERRORS as error:
        raise unknown_plan(ENGINE, error) from error


def _parse(statement: str) -> exp.Expr:
    """The tree of the only statement in a text, which has a plan."""
    if len(statement) > MAX_LENGTH:
        raise _failed("the statement is too long to read", "Shorten it.")
    try:
        parsed = sqlglot.parse(statement, dialect="trino")
    except (SqlglotError, RecursionError) as error:
        raise _failed(f"the statement cannot be read ({type(error).__name__})", "Mend its syntax.") from error
    trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        raise _failed(f"these are {len(trees)} statements", "Send one statement at a time.")
    (tree,) = trees
    if not isinstance(tree.expression if isinstance(tree, exp.Create) else tree, PLANNED):
        raise _failed(f"{tree.key.upper()} is no statement with a plan", A_PERSON)
    return tree


def _is_bounded(tree: exp.Expr) -> bool:
    """Whether a statement handles hardly more rows than it reads or gives."""
    made_up = tree.find(exp.Unnest, exp.Explode, exp.GenerateSeries, exp.MatchRecognize)
    recursive = any(bool(each.args.get("recursive")) for each in tree.find_all(exp.With))
    inside = any(isinstance(each.parent, EXPRESSIONS) for each in tree.find_all(exp.Subquery, exp.Select))
    unbounded = made_up is not None or recursive or inside
    return not unbounded and all(map(_goes_by_equality, tree.find_all(exp.Join)))


def _goes_by_equality(join: exp.Join) -> bool:
    if join.args.get("using"):
        return True
    condition: exp.Expr | None = join.args.get("on")
    terms = condition.flatten() if isinstance(condition, exp.And) else [condition]
    return any(isinstance(term, exp.EQ) and _names_two(term) for term in terms)


def _names_two(equality: exp.EQ) -> bool:
    sides = [
        {column.table for column in side.find_all(exp.Column)}
        for side in (equality.this, equality.expression)
    ]
    return all(sides) and sides[0].isdisjoint(sides[1])


def _number(written: object) -> float | None:
    """Trino writes "NaN" where it does not know, and "Infinity" where it lost count."""
    if not isinstance(written, int | float | str) or isinstance(written, bool):
        return None
    number = float(written)
    return number if 0 <= number < float("inf") else None


def _failed(problem: str, advice: str) -> EstimateFailed:
    return EstimateFailed(engine=ENGINE, problem=problem, advice=advice)
