"""Reads the catalogue of a Postgres server, and counts the queries that this took."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import asyncpg

    Connection: TypeAlias = (
        asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
    )


@dataclass(slots=True)
class CatalogueReader:
    """Sends queries about the catalogue. Where none was sent, an inspection rests on the parse tree and its facts."""

    connection: "Connection"
    queries_sent: int = 0

    @property
    def version(self) -> int:
        """Major version of the server, which the driver knows from the connection."""
        return self.connection.get_server_version().major

    async def fetch(self, query: str, *arguments: object) -> list[Any]:
        self.queries_sent += 1
        return await self.connection.fetch(query, *arguments)
