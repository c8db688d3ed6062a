"""Inspections of statements that were seen before, for as long as the schema stays as it was."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.engines.postgres.version import CATALOGUE_VERSION, MEANING_VERSION

if TYPE_CHECKING:
    from askback.guards.sql.engines.postgres.catalogue_reader import Connection


class Version(NamedTuple):
    """What differs after every change that can give a statement another meaning."""

    session: str
    catalogue: str
    """Tables, views and comments, as a token that others may keep."""
    meaning: str


class PostgresFinding(NamedTuple):
    """An inspection and whether it rests on nothing but the schema."""

    inspection: Inspection
    is_lasting: bool = False


VERSION = f"""
SELECT pg_catalog.concat_ws(' ', current_user, session_user, pg_catalog.pg_my_temp_schema(),
  (SELECT pg_catalog.concat(r.rolsuper, r.rolinherit, r.rolbypassrls) FROM pg_catalog.pg_roles AS r
   WHERE r.rolname = current_user),
  current_setting('standard_conforming_strings'), current_setting('transform_null_equals'),
  current_setting('search_path')), {CATALOGUE_VERSION}, {MEANING_VERSION}
"""

MAX_STATEMENTS = 500

MAX_LENGTH = 10_000
"""Characters of a statement that is remembered."""


@dataclass(frozen=True, slots=True)
class _Seen:
    inspection: Inspection
    version: Version | None
    """None for a statement that was seen once: whether it will come again is not known, and a version costs time."""


class InspectionCache:
    """Statements with their inspections and the version of the schema that they were true for."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()

    async def recall(
        self, connection: "Connection", statement: str
    ) -> tuple[Inspection | None, Version | None]:
        """The inspection of a statement where the schema has not changed since, and the version of the schema now."""
        seen = self._seen.get(statement)
        if seen is None:
            return None, None
        self._seen.move_to_end(statement)
        (row,) = await connection.fetch(VERSION)
        version = Version(*row)
        is_true = version == seen.version
        return replace(seen.inspection, schema=version.catalogue) if is_true else None, version

    def keep(self, statement: str, found: PostgresFinding, version: Version | None) -> None:
        """Remember an inspection, with the version that was read before it was made."""
        if len(statement) > MAX_LENGTH or not found.is_lasting:
            return
        self._seen[statement] = _Seen(found.inspection, version)
        if len(self._seen) > MAX_STATEMENTS:
            self._seen.popitem(last=False)
