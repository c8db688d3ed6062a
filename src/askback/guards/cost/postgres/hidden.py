"""What a Postgres plan does not show: the insides of functions that somebody wrote in SQL or a language."""

import re
from typing import TYPE_CHECKING

from askback.guards.cost.postgres.plan import Node, texts_of

if TYPE_CHECKING:
    from askback.guards.cost.postgres.relations import Connection

CALL = re.compile(r'(\w+|"(?:[^"]|"")+")\s*\(')

SERIES = re.compile(r"\bgenerate_series\(([^()]*)(\)|\()")

CONSTANT = re.compile(r"'(?:[^']|'')*'|::[\w \[\]]+")
"""What may stand among the arguments beside `NUMBERS`, for how much it makes to be known beforehand."""

NUMBERS = re.compile(r"[\d\s.,+-]*")

FIND = """
WITH written AS (
    SELECT function.oid, function.proname FROM pg_proc AS function
    JOIN pg_language AS language ON language.oid = function.prolang
    WHERE language.lanname NOT IN ('internal', 'c') AND function.oid >= 16384
)
SELECT 'the function ' || proname FROM written WHERE proname = ANY($1) UNION ALL
SELECT 'the aggregate ' || outer_function.proname FROM pg_aggregate AS aggregate
  JOIN pg_proc AS outer_function ON outer_function.oid = aggregate.aggfnoid
  WHERE outer_function.proname = ANY($1) AND aggregate.aggtransfn IN (SELECT oid FROM written) UNION ALL
SELECT 'the operator ' || operator.oprname FROM pg_operator AS operator
  WHERE operator.oprcode IN (SELECT oid FROM written) AND position(' ' || operator.oprname || ' ' IN $2) > 0
LIMIT 1
"""
"""From the number 16384 on, which the server's own do not reach. By name alone, whatever the schema and the arguments:
a namesake costs one question."""


async def find_hidden(connection: "Connection", root: Node) -> str | None:
    """What to name to a person, where a plan calls such a thing."""
    text = "\n".join(texts_of(root))
    if any(map(_is_unbounded, SERIES.finditer(text))):
        return "generate_series, with bounds from the data,"
    called = sorted({name.strip('"').replace('""', '"') for name in CALL.findall(text)})
    return await connection.fetchval(FIND, called, text)


def _is_unbounded(series: re.Match[str]) -> bool:
    arguments, end = series.groups()
    return end == "(" or NUMBERS.fullmatch(CONSTANT.sub("", arguments)) is None
