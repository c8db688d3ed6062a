"""Where a catalogue comes from: a TOML file, a function, a live database, or several of them together.

Those of engines are imported from their own modules, since each takes its engine's package:
`askback.guards.sql.sources.duckdb`, `.postgres` and `.sqlite`.
"""

from askback.guards.sql.sources.source import (
    CalledSource,
    Catalogued,
    JoinedSource,
    Source,
    TOMLSource,
    find_engine,
    find_version,
    source_of,
)

__all__ = [
    "CalledSource",
    "Catalogued",
    "JoinedSource",
    "Source",
    "TOMLSource",
    "find_engine",
    "find_version",
    "source_of",
]
