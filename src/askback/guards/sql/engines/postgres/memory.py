"""Inspections of statements that were seen before, for as long as the schema stays as it was."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.engines.postgres.version import CATALOGUE_VERSION

if TYPE_CHECKING:
    from askback.guards.sql.engines.postgres.relation import Connection

Version: TypeAlias = tuple[str, ...]
"""What differs after every change of the schema that can concern a statement."""


class Found(NamedTuple):
    """An inspection and the relations that it rests on."""

    inspection: Inspection
    relations: frozenset[int] | None = None
    """None where it rests on something else than the schema."""


CATALOGUES = (
    "pg_class pg_proc pg_rewrite pg_type pg_operator pg_cast pg_namespace pg_constraint pg_trigger pg_policy "
    "pg_attrdef pg_opclass"
)
"""Tables of the server in which a change can give a statement another meaning."""

SUM = """(SELECT count(*)::text || ' ' || coalesce(sum(xmin::text::bigint), 0)::text
FROM pg_catalog.{table} WHERE {condition})"""
"""Rows that are added later have higher numbers, so no change leaves both as they were."""

SUMS = [
    *(SUM.format(table=table, condition="oid >= 16384") for table in CATALOGUES.split()),
    SUM.format(table="pg_inherits", condition="true"),
    SUM.format(table="pg_attribute", condition="attrelid = ANY(ARRAY(SELECT unnest($1::oid[])))"),
]

VERSION = f"""
SELECT (SELECT count(*) FROM pg_catalog.pg_class WHERE oid >= 16384), ARRAY[
  current_database()::text, current_user::text, session_user::text, current_setting('search_path'),
  pg_catalog.pg_my_temp_schema()::text,
  current_setting('standard_conforming_strings'), current_setting('transform_null_equals'), {", ".join(SUMS)}],
  {CATALOGUE_VERSION}
"""

MAX_STATEMENTS = 500

MAX_LENGTH = 10_000
"""Characters of a statement that is remembered."""

MAX_RELATIONS = 4_000
"""Tables and indexes in a database up to which the version of its schema costs less than a new inspection."""


@dataclass(frozen=True, slots=True)
class _Seen:
    inspection: Inspection
    relations: frozenset[int]
    version: Version | None
    """None for a statement that was seen once: whether it will come again is not known, and a version costs time."""


class Memory:
    """Statements with their inspections and the version of the schema that they were true for."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._is_used = True

    async def recall(
        self, connection: "Connection", statement: str
    ) -> tuple[Inspection | None, Version | None]:
        """The inspection of a statement where the schema has not changed since, and the version of the schema now."""
        seen = self._seen.get(statement)
        if seen is None:
            return None, None
        self._seen.move_to_end(statement)
        version, catalogue = await self._read_version(connection, seen.relations)
        is_true = version is not None and version == seen.version
        return replace(seen.inspection, schema=catalogue) if is_true else None, version

    def keep(self, statement: str, found: Found, version: Version | None) -> None:
        """Remember an inspection, with the version that was read before it was made."""
        if not self._is_used or len(statement) > MAX_LENGTH or found.relations is None:
            return
        previous = self._seen.get(statement)
        is_same = previous is not None and previous.relations == found.relations
        self._seen[statement] = _Seen(found.inspection, found.relations, version if is_same else None)
        if len(self._seen) > MAX_STATEMENTS:
            self._seen.popitem(last=False)

    async def _read_version(
        self, connection: "Connection", relations: frozenset[int]
    ) -> tuple[Version | None, str | None]:
        row = await connection.fetchrow(VERSION, sorted(relations))
        if row is None or row[0] > MAX_RELATIONS:
            self._is_used = False
            self._seen.clear()
            return None, None
        return tuple(row[1]), row[2]
