"""The one statement that is put behind EXPLAIN: that it is one, and of a kind that has a plan."""

from typing import TYPE_CHECKING, Literal, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from askback.errors import EstimateFailed

if TYPE_CHECKING:
    Tree: TypeAlias = exp.Expr
else:
    Tree = exp.Expression  # the name that sqlglot has had all along

Dialect = Literal["duckdb", "postgres", "sqlite", "trino"]

PLANNED = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge)
"""What reads or changes rows. The rest has no plan, or, like some of SQLite's pragmas, acts while it is prepared."""

MAX_LENGTH = 1_000_000
"""Characters that are still read; what an agent writes is a thousandth of that."""


def parse_statement(statement: str, *, engine: str, dialect: Dialect) -> Tree:
    """Its tree; raises where there are several, none, or one that is not planned."""
    if len(statement) > MAX_LENGTH:
        raise EstimateFailed(engine=engine, problem="the statement is too long to read", advice="Shorten it.")
    try:
        found = [tree for tree in sqlglot.parse(statement, dialect=dialect) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        raise EstimateFailed(
            engine=engine,
            problem=f"the statement cannot be read ({_reason(error)})",
            advice="Mend its syntax.",
        ) from error
    trees = [tree for tree in found if not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        raise EstimateFailed(
            engine=engine,
            problem=f"these are {len(trees)} statements",
            advice="Send one statement at a time.",
        )
    if not _is_planned(trees[0]):
        raise EstimateFailed(
            engine=engine,
            problem=f"{trees[0].key.upper()} is no statement with a plan",
            advice="A person has to judge it as it stands.",
        )
    return trees[0]


def _reason(error: Exception) -> str:
    """Without the colours that sqlglot marks the place with."""
    found = error.errors if isinstance(error, ParseError) else []
    return str(found[0].get("description") if found else type(error).__name__)[:200]


def _is_planned(tree: Tree) -> bool:
    makes_from_query = isinstance(tree, exp.Create) and isinstance(tree.expression, exp.Query)
    return makes_from_query or isinstance(tree, PLANNED)
