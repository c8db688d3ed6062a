"""Runs a statement as a guarded function does: with an approval of the call it is in."""

from typing import Any

from askback.guards.sql import SQLCatalogue
from askback.guards.sql.approval import APPROVED, SQLApproval, keep_approval
from askback.guards.sql.engines import Inspection, SQLRows


async def run_approved(engine: Any, statement: str, inspection: Inspection, **options: Any) -> SQLRows:
    """Approve what an inspection found, and run it."""
    keep_approval(APPROVED, SQLApproval(statement=statement, inspection=inspection, known=SQLCatalogue()))
    return await engine.run(statement, **options)
