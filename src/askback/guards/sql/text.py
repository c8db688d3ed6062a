"""The text of a statement: bounds that are checked before an engine sees it, names in it, and a cache by it."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

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

WORD = re.compile(r"\w+")

NO_TEXT = "a character that no database can store"
TOO_COMPLEX = "the statement is too complex to inspect"

Limits = Mapping[re.Pattern[str], int]
"""How often a pattern may stand in a statement. An engine takes time with the square of it, or more."""


def find_excess(
    statement: str, limits: Limits = MappingProxyType({}), *, max_length: int = MAX_LENGTH
) -> str | None:
    """Why a text is not given to an engine; None if it can be. Linear in the length of the text."""
    if len(statement) > max_length:
        return f"{len(statement):,} characters are too many to read"
    try:
        statement.encode()
    except UnicodeEncodeError:
        return NO_TEXT
    if "\0" in statement:
        return NO_TEXT
    exceeds = any(len(pattern.findall(statement)) > most for pattern, most in limits.items())
    return TOO_COMPLEX if exceeds else None


def find_nesting(statement: str) -> str | None:
    """Why a text is nested too deep for an engine of which no limits are known; None if it is not."""
    depth = deepest = 0
    for piece in PIECE.finditer(statement):
        depth = max(0, depth + (piece["open"] is not None) - (piece["close"] is not None))
        deepest = max(deepest, depth)
    signs = max((len(SIGN.findall(run[0])) for run in SIGNS.finditer(statement)), default=0)
    return f"nested more than {MAX_DEPTH} levels deep" if max(deepest, signs) > MAX_DEPTH else None


def find_mentioned(text: str, columns: Iterable[str]) -> set[str]:
    """The columns whose own names stand in a text that was not understood."""
    small = text.lower()
    words = set(WORD.findall(small))

    def is_there(name: str) -> bool:
        return name in words or (not name.isidentifier() and name in small)

    return {column for column in columns if is_there(column.rpartition(".")[2].lower())}


Value = TypeVar("Value")

MAX_CACHED_TEXTS, MAX_CACHED_LENGTH = 256, 10_000
"""Texts that a cache keeps, and characters of one."""


class TextCache(Generic[Value]):
    """What was found out about texts. Threads may share it: each step is one operation on a dictionary."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}

    def get(self, text: str) -> Value | None:
        return self._values.get(text)

    def keep(self, text: str, value: Value) -> None:
        if len(text) > MAX_CACHED_LENGTH:
            return
        if len(self._values) >= MAX_CACHED_TEXTS:
            self._values = {}
        self._values[text] = value
