"""Bounds on a statement's text, checked by linear scans before any parser sees it."""

import re

MAX_LENGTH = 200_000
"""Characters. What an agent writes is a hundredth of that."""

MAX_NESTING = 100
"""Brackets within brackets. DuckDB 2 needs a second to parse a thousand, and its time grows with the cube."""

MAX_ALIASES = 200
"""Uses of the word AS. DuckDB 1.4 copies each CTE into all later ones: three hundred of them take a second."""

ALIAS = re.compile(r"(?<![a-z_])as(?![a-z0-9_])", re.IGNORECASE)

OPENING, CLOSING = "([{", ")]}"

BRACKETS = re.compile(r"[(\[{)\]}]")


def find_problem(statement: str) -> str | None:
    """Why this text is not given to DuckDB at all."""
    if len(statement) > MAX_LENGTH:
        return "the statement is too long to be looked at"
    if "\0" in statement or not _is_encodable(statement):
        return "the statement has characters that are no text"
    if _nesting(statement) > MAX_NESTING or len(ALIAS.findall(statement)) > MAX_ALIASES:
        return "the statement is too complex to be looked at"
    return None


def _is_encodable(statement: str) -> bool:
    try:
        statement.encode()
    except UnicodeEncodeError:
        return False
    return True


def _nesting(statement: str) -> int:
    """Also of brackets in strings and comments, which errs on the safe side."""
    if sum(map(statement.count, OPENING)) <= MAX_NESTING:
        return 0
    depth = deepest = 0
    for found in BRACKETS.finditer(statement):
        depth = depth + 1 if found[0] in OPENING else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
