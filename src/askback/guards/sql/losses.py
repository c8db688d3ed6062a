"""A net below the parser: what is in the text must be in the tree.

sqlglot turns functions into classes of its own and may leave an argument out on the way, with all that is in it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.names import words_in

NAMED = {exp.Identifier, exp.Var, exp.Anonymous}

COUNTED: dict[type[exp.Expr], str] = {
    exp.Select: "SELECT",
    exp.Star: "*",
    exp.Mul: "*",
    exp.Columns: "COLUMNS",
    exp.Placeholder: "a parameter",
    exp.Parameter: "a parameter",
    exp.PositionalColumn: "a parameter",
}

WRITTEN = {
    TokenType.SELECT: "SELECT",
    TokenType.STAR: "*",
    TokenType.PLACEHOLDER: "a parameter",
    TokenType.PARAMETER: "a parameter",
    TokenType.HASH: "a parameter",
}

NAMES = {TokenType.VAR, TokenType.IDENTIFIER}

CLAUSES = words_in(
    "at both by conflict do ignore if indexed lambda leading matched name nothing nulls only placing respect sample "
    "trailing value within zone"
)
"""Words of a clause, of which the tree has no name; where a column has such a name, they count as names."""


def losses(tree: exp.Expr, tokens: Sequence[Token], columns: frozenset[str]) -> Iterator[str]:
    """Names, subqueries, stars and parameters that the text has more often than the tree."""
    kept: Counter[str] = Counter()
    for node in tree.walk():
        kind = type(node)
        if kind in NAMED:
            kept[node.name.lower()] += 1
        elif kind in COUNTED:
            kept[COUNTED[kind]] += 1
    for name, times in Counter(written_in(tokens)).items():
        if times > kept[name] and (name not in CLAUSES or name in columns or kept[name]):
            yield name


def written_in(tokens: Sequence[Token]) -> Iterator[str]:
    """Names that are no function's, and what counts besides; `BY NAME` and `INTO NAME` are words of DuckDB."""
    for before, token, after in zip((tokens[0], *tokens), tokens, (*tokens[1:], tokens[0]), strict=False):
        if token.token_type in WRITTEN:
            yield WRITTEN[token.token_type]
        elif token.token_type in NAMES:
            word = token.text.lower()
            if after.token_type is TokenType.L_PAREN:
                yield from ["COLUMNS"] if word == "columns" else []
            elif word != "name" or before.text.lower() not in {"by", "into"}:
                yield word
