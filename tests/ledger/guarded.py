"""Guarded runs as a server leaves them in its ledger: for the report, and for the page that shows it."""

from typing import Any

from askback.ledger import LedgerEntry
from askback.ledger.reader import PLACE
from tests.ledger.books import THEN, entry

WHERE = f"{PLACE}query:{'ab' * 16}"

MESSAGE = """\
Run this query?

How much: scans about 48 million rows, 3.1 GB.
Personal columns that it shows or tests:
- main.customers.email: contact details, such as robin@example.org
- main.customers.name: names, such as Robin Example

All of it:
  | SELECT name, email FROM customers"""

FACTS: dict[str, Any] = {
    "tool": "query",
    "arguments": "ef" * 32,
    "statement": "cd" * 32,
    "dialect": "duckdb",
    "catalogue": "de" * 32,
    "personal": {"main.customers.email": "contact", "main.customers.name": "name"},
    "writes": [],
    "unresolved": [],
    "cost": {"engine": "DuckDB", "rows": 48e6, "widest": 48e6, "bytes": 3.1e9, "seconds": None, "cost": None},
    "over": [],
}


def call_of(number: int) -> str:
    """An id as servers give them out."""
    return f"{number:x}-8d41c07be21f90aa-3f2"


def line(call: str, **fields: Any) -> LedgerEntry:
    """Of a tool that queries a shop."""
    told: dict[str, Any] = {
        "server": "shop",
        "kind": "tool",
        "target": "query",
        "caller": "ada",
        "client": "mcpdo 1.4",
        "revision": "2026-07-28",
        "place": WHERE,
        "message": None,
    }
    return entry(call, **{**told, **fields})


def asked(call: str, **fields: Any) -> LedgerEntry:
    return line(call, **{"message": MESSAGE, "channel": "form", "question": "q1", **fields})


def answered(call: str, action: str = "accept", **fields: Any) -> LedgerEntry:
    told: dict[str, Any] = {"event": "answered", "at": THEN + 30, "question": "q1", "channel": "terminal"}
    return line(call, **{**told, "action": action, "word": "client", "digest": "aa" * 32, **fields})


def decided(call: str, **fields: Any) -> LedgerEntry:
    told: dict[str, Any] = {"event": "guarded", "at": THEN + 30, "message": MESSAGE, "facts": FACTS}
    return line(call, **{**told, **fields})


def ended(call: str, how: str = "ran", **fields: Any) -> LedgerEntry:
    return line(call, **{"event": "guarded", "at": THEN + 31, "reason": how, **fields})


def story(
    call: str,
    *,
    rule: str | None = None,
    reason: str | None = None,
    how: str | None = "ran",
    action: str = "accept",
) -> list[LedgerEntry]:
    """A person was asked, and decided."""
    return [
        asked(call),
        answered(call, action),
        decided(call, rule=rule, reason=reason, action=action, word="client"),
        *([] if how is None else [ended(call, how)]),
    ]


ONCE, HOUR, LATER, NO = map(call_of, range(0x21, 0x25))

GUARDED = [
    *story(ONCE, rule="once"),
    *story(HOUR, rule="for an hour", how="raised"),
    decided(LATER, rule=f"approval of {HOUR}", word="server"),
    ended(LATER),
    *story(NO, reason="declined", action="decline", how=None),
]
