"""What the catalogue says about the relations of a statement: names, kinds, the queries of views, policies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from askback.guards.sql.engines.postgres.connection import Connection
from askback.guards.sql.engines.postgres.node_tree import (
    Node,
    UnknownTree,
    Value,
    numbers_in,
    parse_tree,
    queries_in,
)
from askback.guards.sql.text import TextCache

FACTS = """
SELECT c.oid::bigint,
  (SELECT n.nspname::text FROM pg_catalog.pg_namespace AS n WHERE n.oid = c.relnamespace) AS nspname,
  c.relname::text, c.relkind::text, c.relrowsecurity, c.relhassubclass, c.relispartition,
  c.relispartition OR c.relkind = 'p' OR c.relhassubclass
  OR EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid) AS has_family,
  ARRAY(SELECT CASE WHEN a.attisdropped THEN '' ELSE a.attgenerated::text || ' ' || a.attname::text END
        FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum) AS columns,
  ARRAY(SELECT a.atttypid::bigint FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.atttypid >= 16384) AS types,
  CASE WHEN c.relkind IN ('v', 'm') THEN (SELECT r.oid::text || ' ' || r.xmin::text FROM pg_catalog.pg_rewrite AS r
                                  WHERE r.ev_class = c.oid AND r.rulename = '_RETURN') END AS rule
FROM pg_catalog.pg_class AS c WHERE c.oid ="""
"""What is to be known of relations; a condition on their numbers stands behind it."""

FACTS_OF_NUMBERS = f"{FACTS} ANY($1::oid[])"

FAMILIES = """
SELECT c.oid::bigint, ARRAY(
    SELECT a.attname::text FROM pg_catalog.pg_partition_ancestors(c.oid) AS above (oid)
    JOIN pg_catalog.pg_partitioned_table AS p ON p.partrelid = above.oid
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = above.oid AND a.attnum > 0
    AND (a.attnum = ANY(p.partattrs::int2[]) OR 0 = ANY(p.partattrs::int2[]))) AS keys,
  ARRAY(
    WITH RECURSIVE above (oid) AS (
      SELECT c.oid UNION
      SELECT i.inhparent FROM pg_catalog.pg_inherits AS i JOIN above ON i.inhrelid = above.oid
    ), below (oid) AS (
      SELECT c.oid UNION
      SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN below ON i.inhparent = below.oid
    )
    SELECT n.nspname::text || '.' || r.relname::text
    FROM (SELECT oid FROM above UNION SELECT oid FROM below) AS kin
    JOIN pg_catalog.pg_class AS r ON r.oid = kin.oid AND r.oid <> c.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace) AS relatives
FROM pg_catalog.pg_class AS c WHERE c.oid = ANY($1::oid[])
"""

RULES = """
SELECT ev_class::bigint, oid::text || ' ' || xmin::text, ev_action::text FROM pg_catalog.pg_rewrite
WHERE ev_class = ANY($1::oid[]) AND rulename = '_RETURN'
"""

EXPRESSIONS = """
SELECT p.polrelid::bigint, 0 AS number, p.polqual::text FROM pg_catalog.pg_policy AS p
WHERE p.polrelid = ANY($1::oid[]) AND p.polqual IS NOT NULL UNION ALL
SELECT p.polrelid::bigint, 0 AS number, p.polwithcheck::text FROM pg_catalog.pg_policy AS p
WHERE p.polrelid = ANY($1::oid[]) AND p.polwithcheck IS NOT NULL UNION ALL
SELECT d.adrelid::bigint, d.adnum, d.adbin::text FROM pg_catalog.pg_attrdef AS d
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
WHERE d.adrelid = ANY($1::oid[]) AND a.attgenerated <> ''
"""

FOREIGN = """
WITH RECURSIVE family(id) AS (
  SELECT unnest($1::oid[]) UNION
  SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN family ON i.inhparent = family.id
)
SELECT c.relname::text FROM pg_catalog.pg_class AS c JOIN family ON family.id = c.oid WHERE c.relkind = 'f' LIMIT 1
"""

MAX_DEPTH = 100
"""Views of views of views that are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresRelation:
    """A table, a view or whatever else has columns."""

    schema: str
    name: str
    kind: str
    """As `pg_class.relkind`: r table, p partitioned, v view, m materialised view, f foreign, S sequence, t toast."""
    columns: tuple[str, ...]
    """In the order of their numbers; empty where one was dropped."""
    has_children: bool = False
    is_partition: bool = False
    relatives: tuple[str, ...] = ()
    """Tables that hold its rows too, or whose rows it holds: its parents and its partitions, all levels of them."""
    keys: tuple[int, ...] = ()
    """Numbers of the columns that decide which partition a row is in."""
    types: frozenset[int] = frozenset()
    """The types of its columns that were created in this database."""
    query: Node | None = None
    """The query of a view."""
    policies: tuple[Value, ...] = ()
    generated: Mapping[int, Value] = field(default_factory=dict[int, Value])
    """The expressions of generated columns by their numbers."""

    @property
    def path(self) -> str:
        return f"{self.schema}.{self.name}"

    def has(self, number: int) -> bool:
        return 1 <= number <= len(self.columns) and bool(self.columns[number - 1])


@dataclass(frozen=True, slots=True)
class _View:
    query: Node
    relations: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Expression:
    column: int
    """Number of a generated column; 0 for a policy."""
    tree: Value
    relations: frozenset[int]


class PostgresRelations:
    """Reads relations with everything that their views are made of. Remembers the parse trees of views."""

    def __init__(self) -> None:
        self._views: TextCache[_View] = TextCache()
        """Views by the number of the rule that holds the query, and of the transaction that wrote it."""

    async def load(
        self, connection: Connection, numbers: Iterable[int], facts: Iterable[Any] = ()
    ) -> dict[int, PostgresRelation]:
        """The relations of these numbers and, through views, all that they read. Missing ones are left out.

        `facts` are rows of `FACTS` that were read already.
        """
        found: dict[int, PostgresRelation] = {}
        rows = list(facts)
        wanted: set[int] = set(numbers) - {0}
        for _ in range(MAX_DEPTH):
            wanted |= await self._add(connection, rows, found)
            wanted -= found.keys()
            if not wanted:
                return found
            rows = await connection.fetch(FACTS_OF_NUMBERS, sorted(wanted))
            wanted.clear()
        raise UnknownTree

    async def _add(
        self, connection: Connection, rows: list[Any], found: dict[int, PostgresRelation]
    ) -> set[int]:
        """Add relations; give the numbers of those that their views and policies read."""
        views = await self._load_views(connection, rows)
        expressions = await _load_expressions(
            connection, [row["oid"] for row in rows if _has_expressions(row)]
        )
        families = await _load_families(connection, [row["oid"] for row in rows if row["has_family"]])
        for row in rows:
            number = row["oid"]
            view, own, family = views.get(number), expressions.get(number, ()), families.get(number)
            found[number] = _read_relation(row, view, own, family)
        parts = [*views.values(), *(part for own in expressions.values() for part in own)]
        return {number for part in parts for number in part.relations}

    async def _load_views(self, connection: Connection, rows: list[Any]) -> dict[int, _View]:
        rules = {row["oid"]: row["rule"] for row in rows if _is_followed(row)}
        views = {number: view for number, rule in rules.items() if (view := self._views.get(rule))}
        missing = sorted(rules.keys() - views.keys())
        for number, rule, text in await connection.fetch(RULES, missing) if missing else ():
            (query,) = queries_in(parse_tree(text))
            views[number] = _View(query, numbers_in(text))
            self._views.keep(rule, views[number])
        return views


def _read_relation(row: Any, view: _View | None, own: Iterable[_Expression], family: Any) -> PostgresRelation:
    keys, relatives = (frozenset[str](family["keys"]), family["relatives"]) if family else ((), ())
    columns = tuple(column.partition(" ")[2] for column in row["columns"])
    return PostgresRelation(
        schema=row["nspname"],
        name=row["relname"],
        kind=row["relkind"],
        columns=columns,
        has_children=row["relhassubclass"],
        is_partition=row["relispartition"],
        relatives=tuple(relatives),
        types=frozenset(row["types"]),
        keys=tuple(number for number, name in enumerate(columns, start=1) if name in keys),
        query=None if view is None else view.query,
        policies=tuple(part.tree for part in own if not part.column),
        generated={part.column: part.tree for part in own if part.column},
    )


async def _load_families(connection: Connection, numbers: list[int]) -> dict[int, Any]:
    rows = await connection.fetch(FAMILIES, numbers) if numbers else ()
    return {row["oid"]: row for row in rows}


def _has_expressions(row: Any) -> bool:
    return row["relrowsecurity"] or any(column[:1] not in {"", " "} for column in row["columns"])


def _is_followed(row: Any) -> bool:
    """Whether its columns come from a query. Those of a materialised view are stored, and are the same values."""
    return row["relkind"] in {"v", "m"} and row["nspname"] not in {"pg_catalog", "information_schema"}


async def _load_expressions(connection: Connection, numbers: list[int]) -> dict[int, list[_Expression]]:
    found: dict[int, list[_Expression]] = {}
    for number, column, text in await connection.fetch(EXPRESSIONS, numbers) if numbers else ():
        expression = _Expression(column, parse_tree(text), numbers_in(text))
        found.setdefault(number, []).append(expression)
    return found


async def find_foreign(connection: Connection, numbers: Iterable[int]) -> str | None:
    """The name of a foreign table among the partitions and children of these tables."""
    rows = await connection.fetch(FOREIGN, sorted(numbers))
    return rows[0][0] if rows else None
