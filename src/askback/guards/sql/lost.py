"""A net below the parser: a tagged column whose name is in the text must be in the tree."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

UNREAD = {TokenType.STRING, TokenType.NUMBER}


def lost_names(tree: exp.Expr, words: Sequence[Token], tagged: frozenset[str]) -> Iterator[str]:
    """Names of tagged columns that the text has more often than the tree; `tagged` are those not found anyway."""
    names = {column.rpartition(".")[2].lower() for column in tagged}
    written = Counter(
        word.text.lower() for word in words if word.token_type not in UNREAD and word.text.lower() in names
    )
    if written:
        parsed = Counter(node.name.lower() for node in tree.find_all(exp.Identifier, exp.Var, exp.Anonymous))
        yield from (name for name, times in written.items() if parsed[name] < times)
