"""Bounds on the text of a statement for DuckDB, checked by linear scans before any parser sees it."""

import re

from askback.guards.sql.text import UnreadableStatement, require_text

MAX_LENGTH = 100_000
"""Characters. DuckDB 2 needs a second to inspect and estimate 60,000 terms behind GROUP BY."""

MAX_NESTING = 100
"""Brackets within brackets. DuckDB 2 needs a second to parse a thousand, and its time grows with the cube."""

MAX_ALIASES = 200
"""Uses of the word AS. DuckDB 1.4 copies each CTE into all later ones: three hundred of them take a second."""

MAX_WITHS = 16
"""Uses of the word WITH. Each one within another doubles the time in which DuckDB 2 finds that it cannot parse it."""

MAX_SIGNS = 500
"""Signs with no operand before them, and line comments, which can stand between two of them. DuckDB takes memory with
the square of `- - - -`, and time with the cube: 2,000 take two seconds, 10,000 all memory that there is."""

MAX_COMMENTS = 1_000
"""DuckDB 1.4 takes time with the square of comments within comments."""

ALIAS = re.compile(r"(?<![a-z_])as(?![a-z0-9_])", re.IGNORECASE)

WITH = re.compile(r"(?<![a-z_])with(?![a-z0-9_])", re.IGNORECASE)

SIGN = re.compile(r"--+|[^\w\s'\")\]}](?=\s*[-+])")

COMMENT = re.compile(r"/\*")

LIMITS = {ALIAS: MAX_ALIASES, WITH: MAX_WITHS, SIGN: MAX_SIGNS, COMMENT: MAX_COMMENTS}

OPENING, CLOSING = "([{", ")]}"

BRACKETS = re.compile(r"[(\[{)\]}]")


def find_problem(statement: str) -> str | None:
    """Why this text is not given to DuckDB at all."""
    try:
        require_text(statement, max_length=MAX_LENGTH)
    except UnreadableStatement as unreadable:
        return str(unreadable)
    is_long = any(len(pattern.findall(statement)) > limit for pattern, limit in LIMITS.items())
    if is_long or _nesting(statement) > MAX_NESTING:
        return "the statement is too complex to be looked at"
    return None


def _nesting(statement: str) -> int:
    """Also of brackets in strings and comments, which errs on the safe side."""
    if sum(map(statement.count, OPENING)) <= MAX_NESTING:
        return 0
    depth = deepest = 0
    for found in BRACKETS.finditer(statement):
        depth = depth + 1 if found[0] in OPENING else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
