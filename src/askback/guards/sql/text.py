"""Bounds on the text of a statement, checked before an engine or a parser sees it."""

import re

MAX_LENGTH = 200_000
"""Characters. What is longer was not written by a person, and takes engines and people long to read."""

MAX_DEPTH = 100
"""Levels of brackets, and signs in a row. Engines call themselves for each level, and some end the process."""

PIECE = re.compile(
    r"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)"""
    r"""|(?P<open>[(\[{]|\bcase\b)|(?P<close>[)\]}]|\bend\b)""",
    re.IGNORECASE | re.DOTALL,
)
"""A literal, a quoted name, a comment or a bracket. Engines write some literals differently; they have limits too."""

SIGNS = re.compile(r"(?:(?:\bnot\b|[-+~!@])\s*+)++", re.IGNORECASE)
"""`NOT NOT - - 1`, taken whole: nothing of it is looked at twice."""

SIGN = re.compile(r"not|[-+~!@]", re.IGNORECASE)

NO_TEXT = "a character that no database can store"


class UnreadableStatement(Exception):
    """A text that is given to no engine and no parser; says why, in words that can be shown to a person."""


def require_readable(statement: str) -> None:
    """Refuse what no engine should be asked about. Linear in the length of the text."""
    require_text(statement)
    depth = deepest = 0
    for piece in PIECE.finditer(statement):
        depth = max(0, depth + (piece["open"] is not None) - (piece["close"] is not None))
        deepest = max(deepest, depth)
    signs = max((len(SIGN.findall(run[0])) for run in SIGNS.finditer(statement)), default=0)
    if max(deepest, signs) > MAX_DEPTH:
        raise UnreadableStatement(f"nested more than {MAX_DEPTH} levels deep")


def require_text(statement: str, *, max_length: int = MAX_LENGTH) -> None:
    """Refuse a statement that is too long, or that has characters which cannot be encoded."""
    require_length(statement, max_length)
    try:
        statement.encode()
    except UnicodeEncodeError:
        raise UnreadableStatement(NO_TEXT) from None
    if "\0" in statement:
        raise UnreadableStatement(NO_TEXT)


def require_length(statement: str, max_length: int = MAX_LENGTH) -> None:
    """Refuse a statement that is too long."""
    if len(statement) > max_length:
        raise UnreadableStatement(f"{len(statement):,} characters are too many to read")
