"""The relations of a statement as the catalogue describes them: names, kinds, queries of views, policies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from askback.guards.sql.engines.postgres.connection import Connection
from askback.guards.sql.engines.postgres.node_tree import (
    Node,
    UnknownTree,
    Value,
    find_numbers,
    find_queries,
    parse_tree,
)

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
  CASE WHEN c.relkind IN ('v', 'm') THEN (SELECT r.ev_action::text FROM pg_catalog.pg_rewrite AS r
                                  WHERE r.ev_class = c.oid AND r.rulename = '_RETURN') END AS rule
FROM pg_catalog.pg_class AS c WHERE c.oid ="""
"""A query for the facts about relations. A condition on their numbers is put behind it."""

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

SYSTEM_SCHEMAS = frozenset({"pg_catalog", "information_schema"})

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


async def load_relations(
    connection: Connection, numbers: Iterable[int], facts: Iterable[Any] = ()
) -> dict[int, PostgresRelation]:
    """The relations of these numbers and, through views, all that they read. Missing ones are left out.

    `facts` are rows of `FACTS` that were read already.
    """
    found: dict[int, PostgresRelation] = {}
    rows = list(facts)
    wanted: set[int] = set(numbers) - {0}
    for _ in range(MAX_DEPTH):
        wanted |= await _add_relations(connection, rows, found)
        wanted -= found.keys()
        if not wanted:
            return found
        rows = await connection.fetch(FACTS_OF_NUMBERS, sorted(wanted))
        wanted.clear()
    raise UnknownTree


async def _add_relations(
    connection: Connection, rows: list[Any], found: dict[int, PostgresRelation]
) -> set[int]:
    """Add relations; give the numbers of those that their views, policies and generated columns read."""
    # The columns of a materialised view are stored, and are the same values as those of its query.
    rules = {row["oid"]: row["rule"] for row in rows if row["rule"] and row["nspname"] not in SYSTEM_SCHEMAS}
    own = [
        row["oid"]
        for row in rows
        if row["relrowsecurity"] or any(column[:1] not in {"", " "} for column in row["columns"])
    ]
    related = [row["oid"] for row in rows if row["has_family"]]
    expressions = await connection.fetch(EXPRESSIONS, own) if own else []
    families = {row["oid"]: row for row in await connection.fetch(FAMILIES, related)} if related else {}
    for row in rows:
        number = row["oid"]
        trees = [(column, parse_tree(text)) for table, column, text in expressions if table == number]
        found[number] = _read_relation(row, rules.get(number), trees, families.get(number))
    texts = [*rules.values(), *(text for _, _, text in expressions)]
    return {number for text in texts for number in find_numbers(text)}


def _read_relation(
    row: Any, rule: str | None, trees: list[tuple[int, Value]], family: Any
) -> PostgresRelation:
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
        query=None if rule is None else _parse_rule(rule),
        policies=tuple(tree for column, tree in trees if not column),
        generated={column: tree for column, tree in trees if column},
    )


@lru_cache(maxsize=256)
def _parse_rule(text: str) -> Node:
    """The query of a view. It takes milliseconds for a long one, and views seldom change."""
    (query,) = find_queries(parse_tree(text))
    return query


async def find_foreign(connection: Connection, numbers: Iterable[int]) -> str | None:
    """The name of a foreign table among the partitions and children of these tables."""
    rows = await connection.fetch(FOREIGN, sorted(numbers))
    return rows[0][0] if rows else None
