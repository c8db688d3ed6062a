"""Database engines that say what a statement reads and changes, before it runs.

Each engine is imported from its own module, since each needs its engine's package:
`askback.guards.sql.engines.duckdb`, `.postgres` and `.sqlite`. `CalledEngine` takes a function of the author's.
"""

from askback.guards.sql.engines.engine import ChangedSinceApproval, Engine, Inspection, Rows

__all__ = ["ChangedSinceApproval", "Engine", "Inspection", "Rows"]
