"""Rows that have expired: found by index, deleted in batches, and left out where rows are counted."""

import time
from typing import Any

from askback.stores.sqlite.file import File

EXPIRED = {
    "claims": "until <= :now AND (token IS NULL OR alive_until <= :wall)",
    "settled": "until <= :now",
    "spent": "until <= :now",
    "vault": "until <= :now",
}
"""When a row has expired. A claim whose runner is alive has not."""

DUE = EXPIRED | {"claims": "look_at <= :now"}
"""What an index finds at once."""

ANY_DUE = "SELECT " + " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {due})" for table, due in DUE.items())
PUT_OFF = """
UPDATE claims SET look_at = until WHERE rowid IN (
    SELECT rowid FROM claims WHERE look_at <= :now AND until > :now LIMIT :limit)
"""
COUNT = "SELECT " + " + ".join(
    f"(SELECT count(*) FROM {table} WHERE ({expired}) IS NOT TRUE)" for table, expired in EXPIRED.items()
)
DELETE = [
    f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE {DUE[table]} AND ({expired}) LIMIT :limit)"
    for table, expired in EXPIRED.items()
]


def delete_expired(file: File, now: float, limit: int) -> int:
    """Delete at most so many rows of each table. Takes the lock for writing only if there may be one."""
    bounds: dict[str, Any] = {"now": now, "wall": time.time(), "limit": limit}
    if not file.execute(ANY_DUE, bounds).fetchone()[0]:
        return 0
    with file.transaction():
        file.execute(PUT_OFF, bounds)
        return sum(file.execute(statement, bounds).rowcount for statement in DELETE)


def count_rows(file: File, now: float) -> int:
    return int(file.execute(COUNT, {"now": now, "wall": time.time()}).fetchone()[0])
