"""SQL read before it runs: which columns a statement can reveal or probe, what it writes, what is not understood.

    tagged = {"main.customers.email": "contact"}
    read("SELECT * FROM customers", dialect="duckdb", tables=tables, tagged=tagged).personal == tagged

Sound rather than exact: doubts stand in `unresolved`, and nothing that an engine reads is left out.
`guard_sql` asks a person about what touches personal columns, changes something, costs much or is not understood.
"""

from askback.guards.sql.approval import SQLApproval, approval_of
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.guard import StatementAssessor, guard_sql
from askback.guards.sql.names import Dialect
from askback.guards.sql.question import SQLWords
from askback.guards.sql.reader import read, read_async
from askback.guards.sql.readings import SQLReading
from askback.guards.sql.sources import CalledSource, JoinedSource, Source, TOMLSource

__all__ = [
    "CalledSource",
    "Dialect",
    "JoinedSource",
    "SQLApproval",
    "SQLCatalogue",
    "SQLReading",
    "SQLWords",
    "Source",
    "StatementAssessor",
    "TOMLSource",
    "approval_of",
    "guard_sql",
    "read",
    "read_async",
]
