"""Database engines that say what a statement reads and changes, before it runs.

Each engine is imported from its own module, since each needs its engine's package:
`askback.guards.sql.engines.duckdb`, `.postgres`, `.sqlite` and `.trino`.
`CalledEngine` takes a function of the author's.
"""

from askback.guards.sql.engines.engine import CalledEngine, Engine, Inspection, SQLRows

__all__ = ["CalledEngine", "Engine", "Inspection", "SQLRows"]
