"""The vault's rows as SQL, and those of kinds that are capped: what they weigh is kept beside them, not counted."""

import sqlite3
from typing import Any

from askback.model.store import Cap

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
ORDER BY owner, name LIMIT :most
"""

EXPIRED = """
DELETE FROM vault WHERE rowid IN (SELECT rowid FROM vault WHERE until <= :now LIMIT :most)
"""
FORMER = "SELECT kind, holder, weight FROM vault WHERE owner = :owner AND name = :name"
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
"""Stands for the weight of all holders together."""


def put_capped(connection: sqlite3.Connection, row: dict[str, Any], cap: Cap) -> int:
    """Inside a transaction: the row is put, and the oldest beyond the cap are dropped."""
    row = {**row, "kind": cap.kind, "holder": cap.holder, "weight": cap.weight}
    former = connection.execute(FORMER, row).fetchone()
    if former is not None and former[:2] != (cap.kind, cap.holder):
        connection.execute(REMOVE, row)
        former = None
    connection.execute(PUT_CAPPED, row)
    connection.execute(WEIGH, {**row, "more": cap.weight - (0 if former is None else former[2])})
    of_holder = _drop(connection, row, OLDEST_OF_HOLDER, cap.holder, cap.max_of_holder)
    return of_holder + _drop(connection, row, OLDEST, IN_ALL, cap.max_in_all)


def _drop(
    connection: sqlite3.Connection, row: dict[str, Any], oldest: str, group: str | bytes, most: int
) -> int:
    dropped = 0
    while connection.execute(WEIGHT, {**row, "group": group}).fetchone()[0] > most:
        found = connection.execute(oldest, row).fetchone()
        if found is None:
            break
        connection.execute("DELETE FROM vault WHERE rowid = ?", found)
        dropped += 1
    return dropped
