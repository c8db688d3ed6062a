"""The text before it is a tree: whether engine and parser see the same words, and which functions are called.

What is told here is told by the words alone, and so holds where the parser has lost or renamed something.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.functions import harmless_functions
from askback.guards.sql.names import Dialect, listed
from askback.guards.sql.remembering import remembered

LONGEST = 200_000
"""Characters. Twice the length up to which the cost is measured; what is longer was not written by a person."""

DEEPEST = 60
"""Levels of parentheses and CASE. The parser calls itself for each, some twenty frames deep."""

DOUBTFUL = {
    "a template, which the parser skips and the engine does not": re.compile(r"\{[#%{]"),
    "a carriage return alone, which ends a comment for some engines": re.compile(r"\r(?!\n)"),
    "a character that some engines take for a space": re.compile(
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u3000\ufeff]"
    ),  # all that `\s` means but for the four common ones, in one set: quicker to look for than a choice of two
    "a hint, which is a comment for some engines": re.compile(r"/\*[+!]"),
}
"""Where engine and parser may part the text differently, so that one sees a comment where the other sees a column."""

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
STRINGS = {TokenType.STRING, TokenType.BYTE_STRING, TokenType.HEREDOC_STRING, TokenType.UNICODE_STRING}
WORDS = {TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING}

SYNTAX = listed(
    "all and any array as between bigint binary bit blob boolean by case char character conflict copy "
    "cross cube date datetime dec decimal default delete distinct do double else end escape except exclude "
    "exists explain fetch filter float following for from full group grouping having ilike in inner "
    "insert int integer intersect interval into is join json key lateral like limit list map materialized "
    "natural next not null number numeric nvarchar of offset on only or order outer over partition pivot "
    "preceding precision qualify range real recursive rename repeatable returning rollup row rows sample "
    "select set sets similar smallint some string struct summarize table tablesample text then time "
    "timestamp timestamptz tinyint to ubigint uinteger union unique unpivot update using uuid values "
    "varbinary varbit varchar varying view when where window with within"
)
"""Words before a parenthesis that call nothing: clauses and types."""


class Unreadable(Exception):
    """The text cannot be parted into words, or is too much to read."""


def doubts(statement: str) -> Iterator[str]:
    """Reasons not to trust that the engine sees the same words."""
    for reason, pattern in DOUBTFUL.items():
        if pattern.search(statement):
            yield reason


def words_of(statement: str, dialect: Dialect) -> list[Token]:
    return list(remembered(("words", dialect, statement), partial(_words_of, statement, dialect)))


def trees_of(words: Sequence[Token], text: str, dialect: Dialect) -> list[exp.Expr | None]:
    """What the parser makes of these words of a text."""
    parser = SqlglotDialect.get_or_raise(dialect).parser()
    key = "trees", dialect, text, words[0].start, words[-1].end
    return remembered(key, lambda: parser.parse(list(words), text))


def _words_of(statement: str, dialect: Dialect) -> list[Token]:
    if len(statement) > LONGEST:
        raise Unreadable(f"{len(statement):,} characters are too many to read")
    try:
        tokens = SqlglotDialect.get_or_raise(dialect).tokenize(statement)
    except SqlglotError:
        raise Unreadable("a string, a name or a comment does not end") from None
    if depth_of(tokens) > DEEPEST:
        raise Unreadable(f"nested more than {DEEPEST} levels deep")
    return tokens


def depth_of(tokens: Sequence[Token]) -> int:
    """Parentheses within parentheses, `NOT NOT NOT`, `a[1][1][1]`."""
    deepest = depth = prefixes = brackets = 0
    before: TokenType | None = None
    for token in tokens:
        kind = token.token_type
        depth += (kind in OPENING) - (kind in CLOSING and depth > 0)
        prefixes = prefixes + 1 if kind in PREFIXES else 0
        if kind is TokenType.L_BRACKET:
            brackets = brackets + 1 if before is TokenType.R_BRACKET else 0
        deepest = max(deepest, depth + prefixes, brackets)
        before = kind
    return deepest


def statements_of(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The words of each statement, parted at semicolons."""
    statement: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def runs_on(tokens: Sequence[Token]) -> Iterator[str]:
    """A number with a word or a string right behind: engines part `1e'x'` differently."""
    for number, word in pairwise(tokens):
        if (
            number.token_type is TokenType.NUMBER
            and word.token_type in WORDS
            and word.start == number.end + 1
        ):
            yield f"{number.text}{word.text}"


def unknown_functions(tokens: Sequence[Token], dialect: Dialect, declared: set[int]) -> Iterator[str]:
    """Names before a parenthesis that are no harmless function; `declared` are the places of names like `t(a, b)`."""
    harmless = harmless_functions(dialect)
    for position, (word, after) in enumerate(pairwise(tokens)):
        if after.token_type is not TokenType.L_PAREN or word.start in declared or not is_word(word):
            continue
        is_quoted = word.token_type is TokenType.IDENTIFIER
        name = word.text if is_quoted else word.text.lower().split()[-1]  # `ORDER BY` is one word
        if name in harmless and not is_foreign(tokens, position, dialect):
            continue
        if is_quoted or name not in SYNTAX:
            yield word.text


def is_word(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    return token.token_type not in STRINGS and (token.text[:1].isalpha() or token.text[:1] == "_")


def is_foreign(tokens: Sequence[Token], position: int, dialect: Dialect) -> bool:
    """Whether a function is called with a schema that is not the engine's own; DuckDB writes methods that way."""
    if dialect == "duckdb" or position < 2 or tokens[position - 1].token_type is not TokenType.DOT:
        return False
    return tokens[position - 2].text != "pg_catalog"
