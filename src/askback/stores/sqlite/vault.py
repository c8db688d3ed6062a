"""Rows of the vault as SQL. The total weight of capped rows is kept in a table of its own, so nothing is counted."""

from typing import Any

from askback.model.store import Cap
from askback.stores.sqlite.file import File

BATCH_SIZE = 64
"""Expired rows that are deleted with each capped row: under a millisecond."""

GET = "SELECT value FROM vault WHERE owner = ? AND name = ? AND (until IS NULL OR until > ?)"
DELETE = "DELETE FROM vault WHERE owner = ? AND name = ? AND (until IS NULL OR until > ?)"
PUT = """
INSERT INTO vault (owner, name, value, until) VALUES (?, ?, ?, ?)
ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, until = excluded.until
"""
_FORMER = """
owner = :owner AND name = :name AND value = :former AND (until IS NULL OR until > :now)
"""
REPLACE_FORMER = f"UPDATE vault SET value = :value, until = :until WHERE {_FORMER}"
REMOVE_FORMER = f"DELETE FROM vault WHERE {_FORMER}"

LIST = """
SELECT owner, name FROM vault
WHERE owner >= :prefix AND substr(owner, 1, length(:prefix)) = :prefix AND (owner, name) > (:owner, :name)
    AND (until IS NULL OR until > :now)
ORDER BY owner, name LIMIT :limit
"""

EXPIRED = """
DELETE FROM vault WHERE rowid IN (SELECT rowid FROM vault WHERE until <= ? LIMIT ?)
"""
CAPPED_BEFORE = "SELECT kind, holder, weight FROM vault WHERE owner = :owner AND name = :name"
REMOVE = "DELETE FROM vault WHERE owner = :owner AND name = :name"
PUT_CAPPED = """
INSERT INTO vault (owner, name, value, until, kind, holder, weight)
VALUES (:owner, :name, :value, :until, :kind, :holder, :weight)
ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, until = excluded.until, weight = excluded.weight
"""
WEIGH = """
INSERT INTO capped (kind, holder, weight) VALUES (:kind, NULL, :more), (:kind, :holder, :more)
ON CONFLICT (kind, ifnull(holder, x'')) DO UPDATE SET weight = weight + excluded.weight
"""
WEIGHT = "SELECT weight FROM capped WHERE kind = :kind AND ifnull(holder, x'') = :group"
OLDEST = """
SELECT rowid FROM vault WHERE kind = :kind AND NOT (owner = :owner AND name = :name) ORDER BY rowid LIMIT 1
"""
OLDEST_OF_HOLDER = """
SELECT rowid FROM vault WHERE kind = :kind AND holder = :holder AND NOT (owner = :owner AND name = :name)
ORDER BY rowid LIMIT 1
"""
IN_ALL = b""
"""Selects the total weight of all holders, whose holder is NULL."""


def put_capped(file: File, row: dict[str, Any], cap: Cap, now: float) -> int:
    """Put one row and drop the oldest beyond the cap; gives how many were dropped."""
    row = {**row, "kind": cap.kind, "holder": cap.holder, "weight": cap.weight}
    with file.transaction():
        file.execute(EXPIRED, (now, BATCH_SIZE))
        former = file.execute(CAPPED_BEFORE, row).fetchone()
        if former is not None and former[:2] != (cap.kind, cap.holder):
            file.execute(REMOVE, row)
            former = None
        file.execute(PUT_CAPPED, row)
        file.execute(WEIGH, {**row, "more": cap.weight - (0 if former is None else former[2])})
        of_holder = _drop_oldest(file, row, OLDEST_OF_HOLDER, cap.holder, cap.max_of_holder)
        return of_holder + _drop_oldest(file, row, OLDEST, IN_ALL, cap.max_in_all)


def _drop_oldest(file: File, row: dict[str, Any], oldest: str, group: str | bytes, limit: int) -> int:
    dropped = 0
    while file.execute(WEIGHT, {**row, "group": group}).fetchone()[0] > limit:
        found = file.execute(oldest, row).fetchone()
        if found is None:
            break
        file.execute("DELETE FROM vault WHERE rowid = ?", found)
        dropped += 1
    return dropped
