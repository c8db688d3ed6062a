"""Constraints, defaults and foreign keys that a change of rows reads beside the columns it names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from askback.guards.sql.engines.postgres.connection import Connection
from askback.guards.sql.engines.postgres.node_tree import Node, QueryScope
from askback.guards.sql.engines.postgres.query import TreeWalk
from askback.guards.sql.engines.postgres.relation import PostgresRelation
from askback.guards.sql.engines.postgres.routine import Calls, find_calls

UPDATE, INSERT, DELETE, MERGE = 2, 3, 4, 5

WORDS = {UPDATE: "update", INSERT: "insert into", DELETE: "delete from", MERGE: "merge into"}

TARGETS = """
SELECT c.oid::bigint,
  EXISTS (WITH RECURSIVE family(id) AS (SELECT c.oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i
                                        JOIN family ON i.inhparent = family.id)
          SELECT FROM pg_catalog.pg_trigger AS t JOIN family ON t.tgrelid = family.id
          WHERE NOT t.tgisinternal AND t.tgenabled <> 'D') AS has_triggers,
  EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = c.oid AND r.ev_type <> '1') AS has_rules,
  EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indrelid = c.oid
          AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)) AS has_index_expressions,
  ARRAY(SELECT DISTINCT unnest(i.indkey::int2[])::int4 FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = c.oid AND (i.indisunique OR i.indisexclusion)) AS unique_columns,
  ARRAY(SELECT a.attnum::int4 FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attnotnull
        UNION SELECT unnest(coalesce(nullif(k.conkey, '{}'), '{0}'))::int4 FROM pg_catalog.pg_constraint AS k
        WHERE k.conrelid = c.oid AND k.contype = 'c') AS checked_columns,
  EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conrelid = c.oid AND NOT k.convalidated) AS has_unchecked,
  ARRAY(SELECT d.adbin::text FROM pg_catalog.pg_attrdef AS d WHERE d.adrelid = c.oid) AS defaults
FROM pg_catalog.pg_class AS c WHERE c.oid = ANY($1::oid[])
"""

KEYS = """
SELECT k.conrelid::bigint, k.conkey::int4[], k.confrelid::bigint, k.confkey::int4[],
  k.confdeltype NOT IN ('a', 'r') AS deletes_more, k.confupdtype NOT IN ('a', 'r') AS updates_more
FROM pg_catalog.pg_constraint AS k
WHERE k.contype = 'f' AND (k.conrelid = ANY($1::oid[]) OR k.confrelid = ANY($1::oid[]))
"""


@dataclass(frozen=True, slots=True)
class Targets:
    """The tables that a statement changes, as the catalogue describes them."""

    tables: Mapping[int, Any]
    keys: list[Any]

    @property
    def relations(self) -> set[int]:
        """Tables on either side of a foreign key."""
        return {number for key in self.keys for number in (key["conrelid"], key["confrelid"])}

    @property
    def calls(self) -> Calls:
        """Functions, operators and types in the defaults and generated columns."""
        calls = Calls()
        for row in self.tables.values():
            for text in row["defaults"]:
                calls |= find_calls(text)
        return calls


async def load_targets(connection: Connection, numbers: Iterable[int]) -> Targets:
    wanted = sorted(numbers)
    if not wanted:
        return Targets({}, [])
    rows = await connection.fetch(TARGETS, wanted)
    return Targets({row["oid"]: row for row in rows}, list(await connection.fetch(KEYS, wanted)))


def find_target(scope: QueryScope) -> int:
    """The number of the relation that a changing query changes."""
    return scope.range(scope.query.number("resultRelation")).number("relid")


def describe_change(scope: QueryScope, relation: PostgresRelation) -> str:
    """In words: `insert into public.orders`."""
    return f"{WORDS.get(scope.query.number('commandType'), 'change')} {relation.path}"


def doubts_about(scope: QueryScope, relation: PostgresRelation, targets: Targets) -> Iterable[str]:
    """Effects of a change that the statement does not show: triggers, rules, foreign keys."""
    number = find_target(scope)
    row = targets.tables.get(number)
    if relation.kind not in "rp" or row is None:
        yield f"what a change of {relation.path} does is not known"
        return
    if row["has_triggers"]:
        yield f"triggers of {relation.path} run with it"
    if row["has_rules"]:
        yield f"rules of {relation.path} replace or add to it"
    commands = _commands(scope.query)
    if any(
        key["confrelid"] == number
        and ((DELETE in commands and key["deletes_more"]) or (UPDATE in commands and key["updates_more"]))
        for key in targets.keys
    ):
        yield f"foreign keys to {relation.path} change rows of other tables with it"


def _commands(query: Node) -> set[int]:
    command = query.number("commandType")
    conflict = query.node("onConflict")
    if command == INSERT and conflict is not None and conflict.values("onConflictSet"):
        return {INSERT, UPDATE}
    return {UPDATE, INSERT, DELETE} if command == MERGE else {command}


def follow_constraints(
    walk: TreeWalk, scope: QueryScope, relation: PostgresRelation, targets: Targets
) -> None:
    """Count the columns on which an error of the change can depend: a unique key, a foreign key, a failing row.

    Where a row violates NOT NULL or a check, the server's message shows the whole row.
    """
    number = find_target(scope)
    row = targets.tables.get(number)
    if row is None:
        return
    commands = _commands(scope.query)
    if commands & {INSERT, UPDATE}:
        for column in row["unique_columns"]:
            walk.need(number, column)
    if UPDATE in commands and _shows_rows(scope.query, relation, row):
        walk.need(number, 0)
    if (row["has_index_expressions"] or relation.has_children) and commands & {INSERT, UPDATE}:
        walk.need(number, 0)  # an expression can fail; children have constraints of their own
    for key in targets.keys:
        for column in key["conkey"]:
            walk.need(key["conrelid"], column)
        for column in key["confkey"]:
            walk.need(key["confrelid"], column)
    walk.run()


def _shows_rows(query: Node, relation: PostgresRelation, row: Any) -> bool:
    checked: set[int] = set(row["checked_columns"])
    is_open = query.number("commandType") == MERGE or relation.has_children or row["has_unchecked"]
    return is_open or bool(relation.policies) or 0 in checked or not checked.isdisjoint(_assigned(query))


def _assigned(query: Node) -> set[int]:
    conflict = query.node("onConflict")
    entries = query.nodes("targetList") if conflict is None else conflict.nodes("onConflictSet")
    return {entry.number("resno") for entry in entries}
