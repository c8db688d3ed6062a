"""A statement laid out for a person: of which kind its parts are, and the same query for fewer rows.

By its tokens alone. The query keeps its text, with a limit around it or at its end, or with a smaller number behind the
LIMIT that it ends with. Where it is in doubt whether that is the same query, there is no such choice.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.names import Dialect, words_in
from askback.guards.sql.text import UnreadableStatement
from askback.guards.sql.tokens import CLOSING, OPENING, QUOTED, statements_of, tokenize

AT_END = "{query}\nLIMIT {most}"
AROUND = "SELECT * FROM (\n{query}\n) AS limited LIMIT {most}"

QUERIES = words_in("select with from")

ENDS = words_in("offset fetch for lock sample into")
"""Words of a query behind or before which engines want LIMIT in different places."""


class Outline(NamedTuple):
    kinds: tuple[str, ...] | None = None
    """The first word of each statement; None where the text cannot be parted into statements."""
    limited: str | None = None
    """The query for fewer rows; None where it gives no more anyway, or where this cannot be told. Read it before it is
    offered: it must touch what the statement touches."""


def lay_out(statement: str, dialect: Dialect, most: int | None) -> Outline:
    try:
        parts = list(statements_of(tokenize(statement, dialect)))
    except UnreadableStatement:
        return Outline()
    kinds = tuple(tokens[0].text.lower() for tokens in parts)
    if most is None or len(kinds) != 1 or kinds[0] not in QUERIES:
        return Outline(kinds)
    return Outline(kinds, _limit(statement, parts[0], most))


def _limit(text: str, tokens: Sequence[Token], most: int) -> str | None:
    """From its first token to its last: a comment around it is left out."""
    outside = _outside_brackets(tokens)
    words = [word for token in outside for word in _words(token)]
    if not words or (ENDS - {"offset"}) & set(words):
        return None
    if "limit" in words:
        return _lower(text, tokens, outside, most)
    if "offset" in words:
        return None
    query = text[tokens[0].start : tokens[-1].end + 1]
    return (AT_END if "order" in words else AROUND).format(query=query, most=most)


def _lower(text: str, tokens: Sequence[Token], outside: Sequence[Token], most: int) -> str | None:
    """With a smaller number behind LIMIT, which nothing but an OFFSET follows."""
    places = [place for place, token in enumerate(outside) if token.token_type is TokenType.LIMIT]
    following = outside[(places or [len(outside)])[0] + 1 :]
    has_offset = len(following) == 3 and following[1].token_type is TokenType.OFFSET
    if len(following) != 1 and not has_offset:
        return None
    number = following[0]
    if not number.text.isdecimal() or int(number.text) <= most:
        return None
    return f"{text[tokens[0].start : number.start]}{most}{text[number.end + 1 : tokens[-1].end + 1]}"


def _words(token: Token) -> list[str]:
    """In small letters; `ORDER BY` is one token."""
    return [] if token.token_type in QUOTED else token.text.lower().split()


def _outside_brackets(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of the query itself; none where brackets do not match."""
    found: list[Token] = []
    depth = 0
    for token in tokens:
        if token.token_type in CLOSING:
            depth -= 1
        elif token.token_type in OPENING:
            depth += 1
        elif depth == 0:
            found.append(token)
        if depth < 0:
            return []
    return found if depth == 0 else []
