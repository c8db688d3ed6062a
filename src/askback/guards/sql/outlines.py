"""A statement laid out for a person: of which kind its parts are, and the same query for fewer rows.

The query keeps its text, with a limit around it or at its end. It must parse as the same query but for the limit; where
that is in doubt, there is no such choice.
"""

from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.names import Dialect
from askback.guards.sql.statements import STUMBLES, parse
from askback.guards.sql.text import Unreadable
from askback.guards.sql.tokens import statements_of, tokenize

ALIAS = "limited"
AT_END = "{query}\nLIMIT {most}"
AROUND = f"SELECT * FROM (\n{{query}}\n) AS {ALIAS} LIMIT {{most}}"

ENDS = ("offset", "fetch", "locks")
"""Clauses at the end of a query behind or before which engines want LIMIT in different places."""


class Outline(NamedTuple):
    kinds: tuple[str, ...] | None = None
    """The first word of each statement; None where the text cannot be parted into statements."""
    limited: str | None = None
    """The query for fewer rows; None where it gives no more anyway, or where this cannot be told. Read it before it is
    offered: it must touch what the statement touches."""


def lay_out(statement: str, dialect: Dialect, most: int | None) -> Outline:
    try:
        kinds = tuple(tokens[0].text.lower() for tokens in statements_of(tokenize(statement, dialect)))
    except Unreadable:
        return Outline()
    if most is None or len(kinds) != 1:
        return Outline(kinds)
    try:
        return Outline(kinds, limited(statement, most=most, dialect=dialect))
    except (Unreadable, RecursionError, *STUMBLES):
        return Outline(kinds)


def limited(statement: str, *, most: int, dialect: Dialect) -> str | None:
    """The statement for at most so many rows. Raises where it cannot be parsed."""
    tokens = _tokens(statement, dialect)
    tree = _parsed(tokens, statement, dialect)
    changed = _changed(statement, tokens, tree, most)
    if changed is None or not _is_same(_parsed(_tokens(changed, dialect), changed, dialect), tree, most):
        return None
    return changed


def _tokens(text: str, dialect: Dialect) -> list[Token]:
    """Without the semicolons at its end."""
    tokens = tokenize(text, dialect)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def _parsed(tokens: list[Token], text: str, dialect: Dialect) -> exp.Query:
    tree = parse(tokens, text, dialect)
    if not isinstance(tree, exp.Select | exp.SetOperation):
        raise Unreadable("not one query")
    return tree


def _changed(text: str, tokens: list[Token], tree: exp.Query, most: int) -> str | None:
    """From its first token to its last: a comment around it is left out."""
    query, limit = text[tokens[0].start : tokens[-1].end + 1], tree.args.get("limit")
    if limit is None and not any(tree.args.get(end) for end in ENDS):
        form = AT_END if tree.args.get("order") else AROUND
        return form.format(query=query, most=most)
    if (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and not tree.args.get("locks")
    ):
        return _lowered(text, tokens, int(limit.expression.name), most)
    return None


def _lowered(text: str, tokens: list[Token], now: int, most: int) -> str | None:
    """With a smaller number behind its last LIMIT."""
    places = [place for place, token in enumerate(tokens[:-1]) if token.token_type is TokenType.LIMIT]
    number = tokens[places[-1] + 1]
    if now <= most or number.text != str(now):
        return None
    return f"{text[tokens[0].start : number.start]}{most}{text[number.end + 1 : tokens[-1].end + 1]}"


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
