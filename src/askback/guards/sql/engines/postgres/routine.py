"""Which functions, operators and types of a statement are known to read nothing but their arguments."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from askback.guards.sql.engines.postgres.connection import Connection
from askback.guards.sql.engines.postgres.node_tree import field_numbers, find_numbers
from askback.guards.sql.system import harmless_functions

FUNCTION_NUMBERS = field_numbers("funcid|aggfnoid|winfnoid|tsmhandler|startInRangeFunc|endInRangeFunc")
OPERATOR_NUMBERS = field_numbers("opno|eqop|sortop|cycle_mark_neop|opnos")
TYPE_NUMBERS = re.compile(r"typ(?:es?|e?id)(?<!:vartype) \(?o?([\d ]+)")
"""Begins with fixed letters, which are found ten times as fast as a name of any length that ends with them."""

PINNED = 10_000
"""Objects below this number are the same in every database of a version; what people create begins at 16384."""

CREATED = 16_384

CHANGING = frozenset({"nextval", "setval"})
"""Functions that change a sequence and read no table. The planner never runs them."""

IN_VIEWS = frozenset({"current_setting"})
"""Functions that the author of a view may use: they read settings that the view's author chose."""

BUILT_IN = """
SELECT p.oid::bigint, p.provolatile = 'v' OR p.proretset FROM pg_catalog.pg_proc AS p
WHERE p.oid < $2 AND (p.proname = ANY($1::text[])
  OR p.oid IN (SELECT oprcode FROM pg_catalog.pg_operator WHERE oid < $2)
  OR p.oid IN (SELECT castfunc FROM pg_catalog.pg_cast WHERE oid < 16384))
"""

FUNCTIONS = """
SELECT p.oid::bigint, p.proname::text, n.nspname::text, NOT p.prosecdef AND l.lanname IN ('c', 'internal') AND EXISTS (
    SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    AND d.objid = p.oid AND d.deptype = 'e') AS is_extension,
  EXISTS (SELECT FROM pg_catalog.pg_cast AS c WHERE c.castfunc = p.oid) AS is_cast
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang WHERE p.oid = ANY($1::oid[]) ORDER BY p.oid
"""

OPERATORS = """
SELECT o.oprname::text FROM pg_catalog.pg_operator AS o JOIN pg_catalog.pg_proc AS p ON p.oid = o.oprcode
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE o.oid = ANY($1::oid[]) AND NOT (l.lanname IN ('c', 'internal') AND NOT p.prosecdef AND EXISTS (
    SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass
    AND d.objid = o.oid AND d.deptype = 'e'))
ORDER BY o.oid
"""

PARTS = """
WITH RECURSIVE part(id) AS (
  SELECT unnest($1::oid[]) UNION
  SELECT next.id FROM part JOIN pg_catalog.pg_type AS t ON t.oid = part.id CROSS JOIN LATERAL (
    SELECT t.typelem WHERE t.typelem <> 0 UNION ALL SELECT t.typbasetype WHERE t.typbasetype <> 0 UNION ALL
    SELECT a.atttypid FROM pg_catalog.pg_attribute AS a WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid
      AND a.attnum > 0 AND NOT a.attisdropped UNION ALL
    SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid = t.oid UNION ALL
    SELECT r.rngtypid FROM pg_catalog.pg_range AS r WHERE r.rngmultitypid = t.oid
  ) AS next(id) WHERE next.id >= 16384
)
"""
"""Everything that a value of a type consists of."""

IN_EXTENSION = """EXISTS (SELECT FROM pg_catalog.pg_depend AS d
  WHERE d.classid = 'pg_catalog.{table}'::pg_catalog.regclass AND d.objid = {alias}.oid AND d.deptype = 'e')"""

TYPES = f"""{PARTS}
SELECT t.typname::text,
  CASE WHEN t.typtype = 'd' THEN ARRAY(SELECT c.conbin::text FROM pg_catalog.pg_constraint AS c
                                       WHERE c.contypid = t.oid AND c.conbin IS NOT NULL) END AS checks,
  t.typtype IN ('d', 'c', 'e', 'm') OR t.typelem <> 0
  OR EXISTS (SELECT FROM pg_catalog.pg_range AS r JOIN pg_catalog.pg_opclass AS o ON o.oid = r.rngsubopc
             WHERE r.rngtypid = t.oid AND r.rngsubopc < 16384 AND r.rngcanonical::oid < 16384)
  OR {IN_EXTENSION.format(table="pg_type", alias="t")} AS is_known
FROM part JOIN pg_catalog.pg_type AS t ON t.oid = part.id ORDER BY t.oid
"""
"""Domains run their checks when a value is converted to them."""

HIDDEN = f"""{PARTS}
SELECT t.typname::text FROM part JOIN pg_catalog.pg_type AS t ON t.oid = part.id
WHERE EXISTS (SELECT FROM pg_catalog.pg_cast AS c WHERE c.castsource = t.oid AND c.castfunc >= 16384
  AND c.casttarget IN ('json'::pg_catalog.regtype, 'jsonb'::pg_catalog.regtype, 'text'::pg_catalog.regtype)
  AND NOT {IN_EXTENSION.format(table="pg_cast", alias="c")})
OR EXISTS (SELECT FROM pg_catalog.pg_opclass AS o WHERE o.oid >= 16384
  AND (o.opcintype = t.oid AND o.opcdefault OR o.oid IN (
    SELECT r.rngsubopc FROM pg_catalog.pg_range AS r WHERE r.rngtypid = t.oid))
  AND NOT {IN_EXTENSION.format(table="pg_opclass", alias="o")})
ORDER BY t.oid
"""
"""Types for which the server runs functions that no parse tree names: `to_json` and `||` look for a cast, and the
comparison of arrays, rows and ranges for an operator class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The functions, operators and types in a parse tree, by object numbers."""

    functions: frozenset[int] = frozenset()
    operators: frozenset[int] = frozenset()
    types: frozenset[int] = frozenset()
    """Types that were created in this database."""

    def __or__(self, other: "Calls") -> "Calls":
        return Calls(
            functions=self.functions | other.functions,
            operators=self.operators | other.operators,
            types=self.types | other.types,
        )


def find_calls(text: str) -> Calls:
    """Everything that is called anywhere in the text of a tree, needed or not: the planner may run it all the same."""
    return Calls(
        functions=find_numbers(text, FUNCTION_NUMBERS) - {0},
        operators=find_numbers(text, OPERATOR_NUMBERS) - {0},
        types=frozenset(number for number in find_numbers(text, TYPE_NUMBERS) if number >= CREATED),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutineVerdict:
    """Functions, operators and types of a statement that are not known to be harmless."""

    functions: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    """Functions that change a sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """The server's own functions that read nothing but their arguments."""

    harmless: frozenset[int]
    steady: frozenset[int]
    """Harmless functions that return one row and, for the same arguments, always that row."""


class Routines:
    """Knows the server's own functions once it has asked for them, one time for each version of the server."""

    def __init__(self) -> None:
        self._built_in: dict[int, BuiltIn] = {}

    async def load(self, connection: Connection) -> BuiltIn:
        version = connection.get_server_version().major
        if version not in self._built_in:
            rows = await connection.fetch(BUILT_IN, sorted(harmless_functions("postgres")), PINNED)
            self._built_in[version] = BuiltIn(
                harmless=frozenset(row[0] for row in rows),
                steady=frozenset(row[0] for row in rows if not row[1]),
            )
        return self._built_in[version]

    async def judge(
        self, connection: Connection, own: Calls, views: Calls, defaults: Calls, stored: frozenset[int]
    ) -> RoutineVerdict:
        """Judge what a statement calls itself, what views call for it, and the defaults of tables that it changes.

        `stored` are the types of the columns of all tables in it.
        """
        known = (await self.load(connection)).harmless
        used = own.types | views.types | defaults.types
        types, checks = await _judge_types(connection, used)
        numbers = sorted(used | stored)
        hidden = await connection.fetch(HIDDEN, numbers) if numbers else ()
        functions, changing = await _judge_functions(connection, known, own.functions | checks.functions)
        more, also = await _judge_functions(connection, known, views.functions, allowed=IN_VIEWS)
        rest, _ = await _judge_functions(connection, known, defaults.functions, allowed=IN_VIEWS | CHANGING)
        created = sorted(number for number in (own | views | defaults | checks).operators if number >= PINNED)
        names = await connection.fetch(OPERATORS, created) if created else ()
        return RoutineVerdict(
            functions=tuple(dict.fromkeys([*functions, *more, *rest])),
            changing=tuple(dict.fromkeys([*changing, *also])),
            operators=tuple(row[0] for row in names),
            types=tuple(dict.fromkeys([*types, *(row[0] for row in hidden)])),
        )


async def _judge_types(connection: Connection, types: Iterable[int]) -> tuple[tuple[str, ...], Calls]:
    """The names of the types that are not known, and what the checks of domains call."""
    checks, unknown = Calls(), list[str]()
    numbers = sorted(types)
    for name, texts, is_known in await connection.fetch(TYPES, numbers) if numbers else ():
        if not is_known:
            unknown.append(name)
        for text in texts or ():
            checks |= find_calls(text)
    return tuple(unknown), checks


async def _judge_functions(
    connection: Connection,
    known: Collection[int],
    functions: Iterable[int],
    *,
    allowed: frozenset[str] = frozenset(),
) -> tuple[list[str], list[str]]:
    """The names of those that are not harmless, and of those that change a sequence."""
    asked = [number for number in functions if number not in known]
    rows = await connection.fetch(FUNCTIONS, sorted(asked)) if asked else ()
    left = [row for row in rows if not _is_harmless(row, allowed)]
    if len(rows) != len(asked):
        return ["?"], []
    changing = [row["proname"] for row in left if _is_changing(row)]
    return [row["proname"] for row in left if not _is_changing(row)], changing


def _is_changing(row: Any) -> bool:
    return row["oid"] < PINNED and row["proname"] in CHANGING


def _is_harmless(row: Any, allowed: frozenset[str]) -> bool:
    names = harmless_functions("postgres") | allowed
    if row["oid"] < CREATED:
        return row["nspname"] == "pg_catalog" and row["proname"] in names
    # An extension is the operator's choice; of its functions, only those that are known.
    return row["is_extension"] and (row["proname"] in names or row["is_cast"])
