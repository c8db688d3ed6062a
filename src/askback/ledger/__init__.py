"""Who was asked what, when, and what they said: a record that shows whether somebody changed it."""

from askback.ledger.chain import Head, Heads, LedgerLine, read_heads
from askback.ledger.checker import LedgerProblem, Report
from askback.ledger.entries import LedgerEntry
from askback.ledger.ledger import Ledger
from askback.model.events import Event

__all__ = [
    "Event",
    "Head",
    "Heads",
    "Ledger",
    "LedgerEntry",
    "LedgerLine",
    "LedgerProblem",
    "Report",
    "read_heads",
]
