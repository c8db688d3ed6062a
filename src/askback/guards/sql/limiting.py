"""The same query for fewer rows: its text as it is, with a limit around it or at its end.

Each is read again before it is offered, and must be the same query but for the limit; where that is in doubt, there is
no such choice.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.lexis import Unreadable, trees_of, words_of
from askback.guards.sql.names import Dialect
from askback.guards.sql.reading import Reading

ALIAS = "limited"
AROUND = f"SELECT * FROM (\n{{query}}\n) AS {ALIAS} LIMIT {{most}}"

ENDS = ("offset", "fetch", "locks")
"""Clauses at the end of a query behind or before which engines want LIMIT in different places."""

Read = Callable[[str], Reading]


def limited(statement: str, *, most: int, dialect: Dialect, read: Read) -> str | None:
    """The statement for at most so many rows; None where it gives no more anyway, or where this cannot be told."""
    try:
        words = _words(statement, dialect)
        tree = _parsed(words, statement, dialect)
        changed = _changed(statement, words, tree, most)
        if changed is None or not _is_same(_parsed(_words(changed, dialect), changed, dialect), tree, most):
            return None
    except (Unreadable, SqlglotError, RecursionError, ValueError, LookupError, AttributeError, TypeError):
        return None
    return changed if read(changed) == read(statement) else None


def _words(text: str, dialect: Dialect) -> list[Token]:
    """Without the semicolons at its end."""
    words = words_of(text, dialect)
    while words and words[-1].token_type is TokenType.SEMICOLON:
        words.pop()
    return words


def _parsed(words: list[Token], text: str, dialect: Dialect) -> exp.Query:
    trees = trees_of(words, text, dialect)
    tree = trees[0]
    if len(trees) != 1 or not isinstance(tree, exp.Select | exp.SetOperation):
        raise ValueError("not one query")
    return tree


def _changed(text: str, words: list[Token], tree: exp.Query, most: int) -> str | None:
    """From its first word to its last: a comment around it is left out."""
    query, limit = text[words[0].start : words[-1].end + 1], tree.args.get("limit")
    if limit is None and not any(tree.args.get(end) for end in ENDS):
        return f"{query}\nLIMIT {most}" if tree.args.get("order") else AROUND.format(query=query, most=most)
    if (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and not tree.args.get("locks")
    ):
        return _lowered(text, words, int(limit.expression.name), most)
    return None


def _lowered(text: str, words: list[Token], now: int, most: int) -> str | None:
    """With a smaller number behind its last LIMIT."""
    places = [place for place, word in enumerate(words[:-1]) if word.token_type is TokenType.LIMIT]
    number = words[places[-1] + 1]
    if now <= most or number.text != str(now):
        return None
    return f"{text[words[0].start : number.start]}{most}{text[number.end + 1 : words[-1].end + 1]}"


def _is_same(changed: exp.Query, tree: exp.Query, most: int) -> bool:
    """Whether the parser sees the first query in the second, whole, and a limit beside it."""
    limit = changed.args.get("limit")
    if not isinstance(limit, exp.Limit) or limit.expression != exp.Literal.number(most):
        return False
    source = changed.find(exp.Subquery)
    if source is not None and source.alias == ALIAS and source.this == tree:
        return True
    return type(changed) is type(tree) and _rest(changed) == _rest(tree)


def _rest(query: exp.Query) -> dict[str, Any]:
    """All of it but its limit."""
    return {name: part for name, part in query.args.items() if part and name != "limit"}
