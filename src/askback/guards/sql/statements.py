"""Statements: which kind each is by its first word, what it reads, what it writes. Kinds not listed are a doubt."""

import logging
from collections.abc import Callable, Sequence
from threading import Lock, get_ident

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.index import CatalogueIndex
from askback.guards.sql.names import Dialect, split_words
from askback.guards.sql.queries import Queries
from askback.guards.sql.readings import SQLReading, make_reading
from askback.guards.sql.scope import OPAQUE, Account, ExpressionContext, Relation, blend
from askback.guards.sql.tokens import (
    UnreadableStatement,
    find_doubts,
    find_losses,
    find_unknown_functions,
    split_statements,
    tokenize,
)

Tokens = Sequence[Token]
Keep = Callable[[Relation], None]

STUMBLES = (SqlglotError, ValueError, TypeError, AttributeError, LookupError, AssertionError)
"""Errors that the parser raises for unusual texts."""

PARSER_LOCK = Lock()
"""One parser at a time, so that none removes the filter of the log which another one relies on."""

QUERIES = split_words("select with from table values ( pivot unpivot")
ROWS = split_words("insert update delete merge")
DESCRIBING = split_words("summarize describe desc")
TRANSACTIONS = split_words("begin start commit end rollback abort savepoint release")
REMOVALS = split_words("drop truncate")
MAKING = split_words("or replace temp temporary unlogged local global recursive materialized")
NAME_PARTS = {TokenType.DOT, TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING}
SHOWN: dict[Dialect, frozenset[str] | None] = {
    "duckdb": None,
    "postgres": None,
    "sqlite": frozenset(),
    "trino": split_words("tables columns schemas catalogs functions create session"),
}
"""Words that may follow SHOW; None for any. `SHOW STATS` of Trino shows the least and the greatest value."""


class StatementReader:
    """Reads texts of one or more statements against one catalogue."""

    def __init__(self, catalogue: CatalogueIndex) -> None:
        self._queries = Queries(catalogue, self._read_view)
        self._catalogue = catalogue
        self._dialect: Dialect = catalogue.dialect

    def read(self, text: str) -> SQLReading:
        """Read a text. Where there is a doubt, the tagged columns that it mentions count as read."""
        account = Account()
        try:
            self._read(text, account)
        except UnreadableStatement as unreadable:
            account.doubt(str(unreadable))
        if account.doubts:
            account.count(self._catalogue.find_mentions(text))
        return make_reading(account.read, account.writes, account.doubts, self._catalogue.tags)

    def _read(self, text: str, account: Account) -> None:
        tokens = tokenize(text, self._dialect)
        for doubt in find_doubts(text, tokens, self._dialect):
            account.doubt(doubt)
        statements = list(split_statements(tokens))
        if not statements:
            account.doubt("there is no statement")
        for position, statement in enumerate(statements):
            if account.writes and position:
                account.doubt("after a change, names may mean something else", statement[0].text)
            self._attempt(statement, text, account, lambda relation: account.count(relation.everything))

    def _read_view(self, text: str, account: Account) -> Relation:
        """The text of a view, with or without `CREATE VIEW v AS` before it."""
        relations: list[Relation] = []
        try:
            statements = list(split_statements(tokenize(text, self._dialect)))
        except UnreadableStatement as unreadable:
            statements = []
            account.doubt(str(unreadable))
        if len(statements) == 1:
            self._attempt(statements[0], text, account, relations.append)
            if statements[0][0].text.lower() == "create" or not relations:
                account.writes.clear()  # to use a view makes nothing
        if not relations:
            account.doubt("not a query")
        return relations[0] if relations else OPAQUE

    def _attempt(self, tokens: Tokens, text: str, account: Account, keep: Keep) -> None:
        first = tokens[0].text.lower()
        try:
            if first == "explain":  # which runs it, or tells how many rows a condition would find
                self._read(strip_explain(tokens, text, self._dialect), account)
            elif first in QUERIES or first in ROWS:
                self._parsed(tokens, text, account, keep)
            elif first in DESCRIBING or (first == "show" and self._shows_query(tokens)):
                self._described(tokens, text, account, keep)
            elif first == "create":
                self._created(tokens, text, account, keep)
            else:
                self._aside(tokens, text, account)
        except RecursionError:
            account.doubt("nested too deep to be read")
        except (UnreadableStatement, *STUMBLES):
            account.doubt("not understood", text[tokens[0].start : tokens[-1].end + 1])

    def _aside(self, tokens: Tokens, text: str, account: Account) -> None:
        """Judge a statement that is not parsed by its first words. An unknown one is a change and a doubt."""
        first = tokens[0].text.lower()
        second = tokens[1].text.lower().split()[0] if len(tokens) > 1 and tokens[1].text.strip() else ""
        if first == "show":
            known = SHOWN[self._dialect]
            if known is not None and second not in known:
                account.doubt("what it shows is not known", f"show {second}")
        elif first in TRANSACTIONS:
            account.change(first)
        elif first in REMOVALS:
            account.change(f"{first} {second}", " ".join(token.text for token in tokens[2:6]))
        else:
            account.change(first)
            account.doubt("what it does is not known", text[tokens[0].start : tokens[-1].end + 1])

    def _described(self, tokens: Tokens, text: str, account: Account, keep: Keep) -> None:
        """SUMMARIZE tells values. The others tell names and types, which of a PIVOT are values too."""
        rest = tokens[1:]
        is_name = all(token.token_type in NAME_PARTS for token in rest)
        if tokens[0].text.lower() == "summarize":
            self._parsed(tokens if is_name else rest, text, account, keep)
        elif not is_name:
            self._parsed(rest, text, account, lambda relation: None)

    def _shows_query(self, tokens: Tokens) -> bool:
        """`SHOW SELECT …` of DuckDB, another word for DESCRIBE."""
        return (
            self._dialect == "duckdb" and len(tokens) > 1 and tokens[1].text.lower() in QUERIES | DESCRIBING
        )

    def _created(self, tokens: Tokens, text: str, account: Account, keep: Keep) -> None:
        """Only tables and views made from a query are read; of a function or a trigger nothing is known."""
        kinds = (token.text.lower() for token in tokens[1:8])
        kind = next((kind for kind in kinds if kind not in MAKING), "")
        account.change(f"create {kind}".strip())
        if kind in {"table", "view"} and any(token.text.lower() in {"as", "like"} for token in tokens):
            self._parsed(tokens, text, account, keep)
        elif kind not in {"table", "schema", "sequence"}:
            account.doubt("what it makes is not known", text[tokens[0].start : tokens[-1].end + 1])

    def _parsed(self, tokens: Tokens, text: str, account: Account, keep: Keep) -> None:
        tree = parse(tokens, text, self._dialect)
        for name in find_unknown_functions(tokens, self._dialect, find_declared(tree, tokens, self._dialect)):
            account.doubt("a function of which nothing is known", name)
        keep(self._relation(tree, self._queries.place(account)))
        for name in find_losses(tree, tokens, self._catalogue.columns):
            account.doubt("the parser has lost something", name)

    def _relation(self, tree: exp.Expr, place: ExpressionContext) -> Relation:
        """The rows of a query; of `CREATE VIEW v(a, b) AS`, with the names that are given to its columns."""
        if not isinstance(tree, exp.Create):
            return self._queries.relation(tree, place)
        query = tree.args.get("expression")
        if not isinstance(query, exp.Query | exp.Values):
            place.account.doubt("what it makes is not known", tree)
            return OPAQUE
        relation = self._queries.relation(query, self._queries.with_tables(tree, place))
        columns = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
        names = [
            place.name(column.this if isinstance(column, exp.ColumnDef) else column) for column in columns
        ]
        return blend(relation, names) if names else relation


def list_first_words(text: str, dialect: Dialect) -> tuple[str, ...] | None:
    """The first word of each statement in a text; None where it cannot be parted into statements."""
    try:
        return tuple(tokens[0].text.lower() for tokens in split_statements(tokenize(text, dialect)))
    except UnreadableStatement:
        return None


def parse(tokens: Tokens, text: str, dialect: Dialect) -> exp.Expr:
    """The tree of one statement."""
    logger, thread = logging.getLogger("sqlglot"), get_ident()

    def is_wanted(record: logging.LogRecord) -> bool:
        return record.thread != thread

    # The parser quotes in the log what it cannot parse, and a statement may hold what belongs in no log.
    with PARSER_LOCK:
        logger.addFilter(is_wanted)
        try:
            trees = SqlglotDialect.get_or_raise(dialect).parser().parse(list(tokens), text)
        finally:
            logger.removeFilter(is_wanted)
    if len(trees) != 1 or not isinstance(trees[0], exp.Expr):
        raise UnreadableStatement("not one statement")
    return trees[0]


def strip_explain(tokens: Tokens, text: str, dialect: Dialect) -> str:
    """The statement after EXPLAIN and its options; to sqlglot it is a command with one long string."""
    text = text[tokens[0].end + 1 : tokens[-1].end + 1]
    rest = tokenize(text, dialect)
    while rest and rest[0].text.lower() in {"analyze", "verbose", "query", "plan"}:
        rest = rest[1:]
    if len(rest) > 1 and rest[0].token_type is TokenType.L_PAREN and rest[1].text.lower() not in QUERIES:
        closing = next(at for at, token in enumerate(rest) if token.token_type is TokenType.R_PAREN)
        rest = rest[closing + 1 :]
    if not rest or rest[0].text.lower() == "explain":
        raise UnreadableStatement("nothing is explained")
    return text[rest[0].start :]


def find_declared(tree: exp.Expr, tokens: Tokens, dialect: Dialect) -> set[int]:
    """Where `t(a, b)` gives names to columns and calls nothing; looked for only where something seems to be called."""
    if next(find_unknown_functions(tokens, dialect, set()), None) is None:
        return set()
    holders = tree.find_all(exp.TableAlias, exp.Schema)
    names = (holder.this.this if isinstance(holder, exp.Schema) else holder.this for holder in holders)
    return {name.meta["start"] for name in names if isinstance(name, exp.Identifier) and "start" in name.meta}
