"""SQL read before it runs: which columns a statement can reveal or probe, what it writes, what is not understood.

    tagged = {"main.customers.email": "contact"}
    read("SELECT * FROM customers", dialect="duckdb", tables=tables, tagged=tagged).personal == tagged

Sound rather than exact: what cannot be told stands in `unresolved`, and nothing that an engine reads is left out.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from askback.errors import AuthorError
from askback.guards.sql.memory import Given, Memory
from askback.guards.sql.names import Dialect
from askback.guards.sql.reading import Reading

__all__ = ["Dialect", "Reading", "read"]

NONE: Mapping[str, str] = MappingProxyType({})

MEMORY = Memory()
"""Of this process. It holds digests of statements, and no statement."""


def read(
    statement: str,
    *,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str] = NONE,
    tagged: Mapping[str, str] = NONE,
) -> Reading:
    """What this text of one or more statements touches. No text makes it raise: a broken one is `unresolved`.

    Names in `tables` (`schema.table` to its columns and their types), `views` (`schema.view` to its query) and `tagged`
    (`schema.table.column` to its tag) are spelled as the engine keeps them.
    """
    if dialect not in get_args(Dialect):
        raise AuthorError(
            f"dialect={dialect!r} is not one that Askback reads. Give one of {get_args(Dialect)}."
        )
    return MEMORY.readings(Given(dialect, tables, views, tagged)).read(statement)
