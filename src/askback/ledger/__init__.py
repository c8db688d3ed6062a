"""Who was asked what, when, and what they said: a record that shows whether somebody changed it."""

from askback.ledger.chain import Line
from askback.ledger.entries import Entry, Event
from askback.ledger.heads import Head, Heads, read_heads
from askback.ledger.ledger import Ledger
from askback.ledger.report import Problem, Report

__all__ = ["Entry", "Event", "Head", "Heads", "Ledger", "Line", "Problem", "Report", "read_heads"]
