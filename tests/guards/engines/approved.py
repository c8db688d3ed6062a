"""Runs a statement as a guarded function does: with an approval of the call it is in."""

from typing import Any

from askback.guards.sql import Known
from askback.guards.sql.approval import Approval, keep_approval
from askback.guards.sql.engines import Inspection, Rows


async def run_approved(engine: Any, statement: str, inspection: Inspection, **options: Any) -> Rows:
    """Approve what an inspection found, and run it."""
    keep_approval(Approval(statement=statement, inspection=inspection, known=Known()))
    return await engine.run(statement, **options)
