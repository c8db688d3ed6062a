"""How large Postgres's tables are now."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import asyncpg

    Connection: TypeAlias = (
        asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
    )

FIND = """
SELECT place.schema, place.name, relation.reltuples, relation.relpages,
       pg_relation_size(relation.oid) AS heap, pg_table_size(relation.oid) AS whole
FROM unnest($1::text[], $2::text[]) AS place (schema, name)
JOIN pg_namespace AS space
  ON CASE WHEN place.schema = 'pg_temp' THEN space.oid = pg_my_temp_schema() ELSE space.nspname = place.schema END
JOIN pg_class AS relation ON relation.relnamespace = space.oid AND relation.relname = place.name
"""

PAGE = 8192

HEADER = 28
"""Bytes that Postgres adds to each row: its header and its pointer."""


class RelationName(NamedTuple):
    """A relation's name, as plans give it."""

    schema: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSize:
    """`bytes` counts what is kept out of line, since nobody tells beforehand whether it is fetched."""

    pages: float
    bytes: float
    density: float | None
    """Rows to a page at the last ANALYZE; None before the first."""

    def rows(self, width: float) -> float:
        """As the planner reckons: the density of then on the pages of now, or of rows of that width."""
        return self.pages * (self.density if self.density is not None else PAGE / (width + HEADER))


async def find_relations(
    connection: "Connection", places: Collection[RelationName]
) -> Mapping[RelationName, RelationSize]:
    schemas, names = [place.schema for place in places], [place.name for place in places]
    found: list[Any] = await connection.fetch(FIND, schemas, names)
    return {
        RelationName(row["schema"], row["name"]): RelationSize(
            pages=row["heap"] / PAGE,
            bytes=float(row["whole"]),
            density=row["reltuples"] / row["relpages"]
            if row["relpages"] > 0 and row["reltuples"] >= 0
            else None,
        )
        for row in found
    }
