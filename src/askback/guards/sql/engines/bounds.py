"""Bounds on the text of a statement, checked before an engine sees it. Linear in the length of the text."""

import re
from collections.abc import Mapping

from askback.guards.sql.text import MAX_LENGTH, UnreadableStatement, require_text

TOO_COMPLEX = "the statement is too complex to inspect"

Limits = Mapping[re.Pattern[str], int]
"""How often a pattern may stand in a statement. An engine takes time with the square of it, or more."""


def find_excess(statement: str, limits: Limits, *, max_length: int = MAX_LENGTH) -> str | None:
    """Why a text is not given to an engine; None if it can be."""
    try:
        require_text(statement, max_length=max_length)
    except UnreadableStatement as unreadable:
        return str(unreadable)
    exceeds = any(len(pattern.findall(statement)) > most for pattern, most in limits.items())
    return TOO_COMPLEX if exceeds else None
