"""A net below the parser: a name that is in the text must be in the tree.

sqlglot turns functions into classes of its own and may leave an argument out on the way.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

NAMES = {TokenType.VAR, TokenType.IDENTIFIER}


def lost_names(tree: exp.Expr, words: Sequence[Token], columns: frozenset[str]) -> Iterator[str]:
    """Names that the text has more often than the tree, and that can mean a column: a known one, or an alias."""
    kept = Counter(node.name.lower() for node in tree.find_all(exp.Identifier, exp.Var, exp.Anonymous))
    written = Counter(names_in(words))
    for name, times in written.items():
        if times > kept[name] and (name in columns or kept[name]):
            yield name


def names_in(words: Sequence[Token]) -> Iterator[str]:
    """Names that are no function's; `BY NAME` and `INTO NAME` are words of DuckDB."""
    for before, word, after in zip((words[0], *words), words, (*words[1:], words[0]), strict=False):
        if word.token_type not in NAMES or after.token_type is TokenType.L_PAREN:
            continue
        if word.text.lower() != "name" or before.text.lower() not in {"by", "into"}:
            yield word.text.lower()
