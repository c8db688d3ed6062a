"""The bounds within which a statement is given to an engine at all."""

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


class Unreadable(Exception):
    """A text that is not given to an engine; says why, in words that can be shown to a person."""


def require_readable(statement: str) -> None:
    """Refuse what no engine should be asked about. Linear in the length of the text."""
    if len(statement) > MAX_LENGTH:
        raise Unreadable(f"{len(statement):,} characters are too many to read")
    if "\0" in statement or not _is_encodable(statement):
        raise Unreadable("a character that no database can store")
    depth = deepest = 0
    for piece in PIECE.finditer(statement):
        depth = max(0, depth + (piece["open"] is not None) - (piece["close"] is not None))
        deepest = max(deepest, depth)
    signs = max((len(SIGN.findall(run[0])) for run in SIGNS.finditer(statement)), default=0)
    if max(deepest, signs) > MAX_DEPTH:
        raise Unreadable(f"nested more than {MAX_DEPTH} levels deep")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
