"""The text before it is a tree: whether engine and parser see the same tokens, how deep it is, what it calls.

These checks use the tokens alone, so they hold where the parser has lost or renamed something.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.names import Dialect, split_words
from askback.guards.sql.system import harmless_functions
from askback.guards.sql.text import MAX_LENGTH

MAX_DEPTH = 60
"""Levels of parentheses and CASE. The parser calls itself for each, some twenty frames deep."""

MAX_DOUBLING = 6
"""Levels at which the parser tries the same text twice: first as a type, then as a value."""

DOUBTFUL = {
    "a template, which the parser skips and the engine does not": re.compile(r"\{[#%{]"),
    "a carriage return alone, which ends a comment for some engines": re.compile(r"\r(?!\n)"),
    "a hint, which is a comment for some engines": re.compile(r"/\*[+!]"),
    "a character that ends the text for some engines, or that is none": re.compile("[\0\ud800-\udfff]"),
}
"""Where engine and parser may part the text differently, wherever it stands."""

UNUSUAL = re.compile(r"[^\t\n\r -~]")
VARIABLE = re.compile(r"[$@#:][\w$]*\(|::")
"""`$a(b c)` is one parameter to SQLite, whatever stands in the parentheses."""

RUN_OF_SIGNS = re.compile(r"[-+*/<>=~!@#%^&|`?]+")
ORDINARY = frozenset("+-*/<>=")
OPERATORS = split_words(
    "+ - * / % ^ < > = <> != <= >= || ~ ~* !~ !~* ~~ ~~* !~~ !~~* -> ->> #> #>> @> <@ && & | # << >>"
)
"""Operators of Postgres that the parser reads in the same way. It reads `@ x`, `<%` and `?` in another way."""

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
DOUBLING = frozenset(Parser.TYPE_TOKENS) | {
    TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH, TokenType.LATERAL, TokenType.ROW,
}  # fmt: skip
"""Before an opening bracket. Measured with a script that nests each construct and looks for times that double."""

STRINGS = {
    TokenType.STRING, TokenType.BYTE_STRING, TokenType.HEREDOC_STRING, TokenType.UNICODE_STRING,
    TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEX_STRING, TokenType.BIT_STRING,
}  # fmt: skip
QUOTED = STRINGS | {TokenType.IDENTIFIER}
WORDS = {TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING}

SYNTAX = split_words(
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


class UnreadableStatement(Exception):
    """A text that is not given to the parser; says why, in words that can be shown to a person."""


class Depth(NamedTuple):
    levels: int
    doubling: int


def tokenize(statement: str, dialect: Dialect) -> list[Token]:
    """The tokens of a text that is short and shallow enough to be parsed."""
    if len(statement) > MAX_LENGTH:
        raise UnreadableStatement(f"{len(statement):,} characters are too many to read")
    try:
        tokens = SqlglotDialect.get_or_raise(dialect).tokenize(statement)
    except SqlglotError:
        raise UnreadableStatement("a string, a name or a comment does not end") from None
    depth = measure_depth(tokens)
    if depth.levels > MAX_DEPTH or depth.doubling > MAX_DOUBLING:
        raise UnreadableStatement("nested too deep to be read")
    return tokens


def measure_depth(tokens: Sequence[Token]) -> Depth:
    """Parentheses within parentheses, `NOT NOT NOT`, `a[1][1][1]`; and of them, those that the parser tries twice."""
    deepest = most = prefixes = brackets = doubling = 0
    open_ones: list[bool] = []
    before: TokenType | None = None
    for token in tokens:
        kind = token.token_type
        if kind in OPENING:
            open_ones.append(before in DOUBLING)
            doubling += open_ones[-1]
        elif kind in CLOSING and open_ones:
            doubling -= open_ones.pop()
        prefixes = prefixes + 1 if kind in PREFIXES else 0
        if kind is TokenType.L_BRACKET:
            brackets = brackets + 1 if before is TokenType.R_BRACKET else 0
        deepest, most = max(deepest, len(open_ones) + prefixes, brackets), max(most, doubling)
        before = kind
    return Depth(deepest, most)


def find_doubts(statement: str, tokens: Sequence[Token], dialect: Dialect) -> Iterator[str]:
    """Reasons not to trust that the engine sees the same tokens."""
    for reason, pattern in DOUBTFUL.items():
        if pattern.search(statement):
            yield reason
    if UNUSUAL.search(statement):
        bare, comments = split_text(statement, tokens)
        if not all(map(is_usual, UNUSUAL.findall(bare))):
            yield "a character that some engines take for a space or for a word of their own"
        if any(unicodedata.category(char)[0] in "CZ" for char in UNUSUAL.findall(comments)):
            yield "a character in a comment that may end it for some engines"
    if dialect == "sqlite" and VARIABLE.search(split_text(statement, tokens)[0]):
        yield "a parameter that reaches further for the engine than for the parser"
    if dialect == "postgres":
        runs = RUN_OF_SIGNS.findall(split_text(statement, tokens)[0])
        yield from (
            f"an operator that is not known: {run}"[:80] for run in runs if not is_known_operator(run)
        )
    for number, word in pairwise(tokens):
        is_number = number.token_type is TokenType.NUMBER and word.start == number.end + 1
        if is_number and word.token_type in WORDS:
            yield f"engines part this differently: {number.text}{word.text}"[:80]


def is_known_operator(run: str) -> bool:
    """Whether Postgres reads these signs as an operator that the parser reads likewise, and not as a parameter.

    Postgres takes the longest run of signs, but for a + or - at the end of one that has ordinary signs alone.
    """
    while len(run) > 1 and run[-1] in "+-" and ORDINARY.issuperset(run):
        run = run[:-1]
    return run in OPERATORS


def split_text(statement: str, tokens: Sequence[Token]) -> tuple[str, str]:
    """The text outside of strings, quoted names and comments; and the text between the tokens."""
    bare: list[str] = []
    between: list[str] = []
    end = 0
    for token in tokens:
        if token.start > end:
            between.append(statement[end : token.start])
            bare.append(" ")
        bare.append('"' if token.token_type in QUOTED else statement[token.start : token.end + 1])
        end = token.end + 1
    return "".join(bare), "".join((*between, statement[end:]))


def is_usual(char: str) -> bool:
    """A letter beyond ASCII, or a mark on one, that no change of case turns into a letter of ASCII.

    Digits beyond ASCII are numbers to the parser and letters to engines.
    """
    forms = char.upper() + char.lower() + char.casefold() + unicodedata.normalize("NFKC", char)
    return unicodedata.category(char)[0] in "LM" and not any(form.isascii() for form in forms)


def split_statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement, parted at semicolons."""
    statement: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def find_unknown_functions(tokens: Sequence[Token], dialect: Dialect, declared: set[int]) -> Iterator[str]:
    """Names before a parenthesis that are no harmless function; `declared` are the places of names like `t(a, b)`."""
    harmless = harmless_functions(dialect)
    for position, (word, after) in enumerate(pairwise(tokens)):
        if after.token_type is not TokenType.L_PAREN or word.start in declared or not is_word(word):
            continue
        is_quoted = word.token_type is TokenType.IDENTIFIER
        name = word.text if is_quoted else word.text.lower().split()[-1]  # `ORDER BY` is one token
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

CLAUSES = split_words(
    "at both by conflict do ignore if indexed lambda leading matched name nothing nulls only placing respect sample "
    "trailing value within zone"
)
"""Words of a clause, of which the tree has no name; where a column has such a name, they count as names."""


def find_losses(tree: exp.Expr, tokens: Sequence[Token], columns: frozenset[str]) -> Iterator[str]:
    """Names, subqueries, stars and parameters that the text has more often than the tree."""
    kept: Counter[str] = Counter()
    for node in tree.walk():
        kind = type(node)
        if kind in NAMED:
            kept[node.name.lower()] += 1
        elif kind in COUNTED:
            kept[COUNTED[kind]] += 1
    for name, times in Counter(list_written(tokens)).items():
        if times > kept[name] and (name not in CLAUSES or name in columns or kept[name]):
            yield name


def list_written(tokens: Sequence[Token]) -> Iterator[str]:
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
