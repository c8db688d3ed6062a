"""Statements: which kind each is by its first word, what it reads, what it writes. Kinds not listed are reported."""

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from askback.guards.sql.changes import CHANGES
from askback.guards.sql.lexis import (
    Unreadable,
    doubts,
    runs_on,
    statements_of,
    trees_of,
    unknown_functions,
    words_of,
)
from askback.guards.sql.lost import lost_names
from askback.guards.sql.names import Dialect, listed
from askback.guards.sql.place import Account, Place, TooMuch
from askback.guards.sql.queries import Queries
from askback.guards.sql.relations import OPAQUE, Relation, renamed

Words = Sequence[Token]

STUMBLES = (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, LookupError, AssertionError)
"""What a parser by others raises on texts that nobody thought of."""

QUERIES = listed("select with from table values ( pivot unpivot")
ROWS = listed("insert update delete merge")
DESCRIBING = listed("summarize describe desc")
TRANSACTIONS = listed("begin start commit end rollback abort savepoint release")
REMOVALS = listed("drop truncate")
MAKING = listed("or replace temp temporary unlogged local global recursive materialized")
SHOWN: dict[Dialect, frozenset[str] | None] = {
    "duckdb": None,
    "postgres": None,
    "sqlite": frozenset(),
    "trino": listed("tables columns schemas catalogs functions create session"),
}
"""What SHOW may be followed by; None is anything. `SHOW STATS` of Trino tells the least and the greatest value."""


class Statements:
    """Reads a text of one or more statements against one catalogue."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._dialect: Dialect = queries.dialect

    def read(self, text: str, account: Account) -> None:
        for doubt in doubts(text):
            account.puzzle(doubt)
        try:
            statements = list(statements_of(words_of(text, self._dialect)))
        except Unreadable as unreadable:
            account.puzzle(str(unreadable))
            return
        if not statements:
            account.puzzle("there is no statement")
        for position, words in enumerate(statements):
            if account.writes and position:
                account.puzzle("after a change, names may mean something else", words[0].text)
            self._attempt(words, text, account)

    def read_query(self, text: str, account: Account) -> Relation:
        """The text of a view, with or without `CREATE VIEW v AS` before it."""
        relations: list[Relation] = []
        try:
            statements = list(statements_of(words_of(text, self._dialect)))
        except Unreadable as unreadable:
            statements = []
            account.puzzle(str(unreadable))
        if len(statements) == 1:
            self._attempt(statements[0], text, account, relations.append)
            if statements[0][0].text.lower() == "create" or not relations:
                account.writes.clear()  # to use a view makes nothing
        if not relations:
            account.puzzle("not a query")
        return relations[0] if relations else OPAQUE

    def _attempt(
        self, words: Words, text: str, account: Account, keep: Callable[[Relation], None] | None = None
    ) -> None:
        try:
            self._statement(
                words, text, account, keep or (lambda relation: account.count(relation.everything))
            )
        except TooMuch:
            account.puzzle("it unfolds to more columns than are worth reading")
        except RecursionError:
            self._give_up("nested too deep", words, text, account)
        except (Unreadable, *STUMBLES):
            self._give_up("not understood", words, text, account)

    def _give_up(self, what: str, words: Words, text: str, account: Account) -> None:
        """Whatever it does, what it names is all that can be told."""
        piece = text[words[0].start : words[-1].end + 1]
        account.puzzle(what, piece)
        account.count(self._queries.catalogue.mentioned(piece))

    def _statement(self, words: Words, text: str, account: Account, keep: Callable[[Relation], None]) -> None:
        first = words[0].text.lower()
        if first == "explain":  # which runs it, or tells how many rows a condition would find
            self.read(explained(words, text, self._dialect), account)
        elif first in QUERIES or first in ROWS:
            self._parsed(words, text, account, keep)
        elif first in DESCRIBING or (first == "show" and self._shows_query(words)):
            self._described(words, text, account, keep)
        elif first == "create":
            self._created(words, text, account, keep)
        elif first == "copy":
            way = copied(words)
            account.change(f"copy {way}")
            if way != "from":
                self._parsed(words, text, account, keep)
        else:
            self._aside(words, text, account)

    def _aside(self, words: Words, text: str, account: Account) -> None:
        """Statements that are not taken apart: the first words tell what they do, or that nobody knows."""
        first = words[0].text.lower()
        second = words[1].text.lower().split()[0] if len(words) > 1 and words[1].text.strip() else ""
        if first == "show":
            known = SHOWN[self._dialect]
            if known is not None and second not in known:
                account.puzzle("what it shows is not known", f"show {second}")
        elif first in TRANSACTIONS:
            account.change(first)
        elif first in REMOVALS:
            account.change(f"{first} {second}", " ".join(word.text for word in words[2:6]))
        else:
            account.change(first)
            self._give_up("what it does is not known", words, text, account)

    def _described(self, words: Words, text: str, account: Account, keep: Callable[[Relation], None]) -> None:
        """SUMMARIZE tells values. The others tell names and types, which of a PIVOT are values too."""
        rest = words[1:]
        is_name = all(word.token_type is TokenType.DOT or is_name_like(word) for word in rest)
        if words[0].text.lower() == "summarize":
            self._parsed(words if is_name else rest, text, account, keep)
        elif not is_name:
            self._parsed(rest, text, account, lambda relation: None)

    def _shows_query(self, words: Words) -> bool:
        """`SHOW SELECT …` of DuckDB, another word for DESCRIBE."""
        return self._dialect == "duckdb" and len(words) > 1 and words[1].text.lower() in QUERIES | DESCRIBING

    def _created(self, words: Words, text: str, account: Account, keep: Callable[[Relation], None]) -> None:
        """Only tables and views made from a query are read; of a function or a trigger nothing is known."""
        kinds = (word.text.lower() for word in words[1:8])
        kind = next((kind for kind in kinds if kind not in MAKING), "")
        account.change(f"create {kind}".strip())
        if kind in {"table", "view"} and any(word.text.lower() in {"as", "like"} for word in words):
            self._parsed(words, text, account, keep)
        elif kind not in {"table", "schema", "sequence"}:
            self._give_up("what it makes is not known", words, text, account)

    def _parsed(self, words: Words, text: str, account: Account, keep: Callable[[Relation], None]) -> None:
        trees = trees_of(words, text, self._dialect)
        tree = trees[0]
        if len(trees) != 1 or not isinstance(tree, exp.Expr):
            self._give_up("not understood", words, text, account)
            return
        for run in runs_on(words):
            account.puzzle("engines part this differently", run)
        for name in unknown_functions(words, self._dialect, declared_in(tree, words, self._dialect)):
            account.puzzle("a function of which nothing is known", name)
        self._tree(tree, self._queries.place(account), keep)
        for name in lost_names(tree, words, self._queries.catalogue.columns):
            account.puzzle("the parser has lost a name", name)

    def _tree(self, tree: exp.Expr, place: Place, keep: Callable[[Relation], None]) -> None:
        if isinstance(tree, exp.Create):
            query = tree.args.get("expression")
            if isinstance(query, exp.Query | exp.Values):
                relation = self._queries.relation(query, self._queries.with_tables(tree, place))
                keep(renamed(relation, named_by(tree, place)))
            else:
                place.account.puzzle("what it makes is not known", tree)
        elif isinstance(tree, exp.Copy | exp.Summarize | exp.Pivot):
            self._queries.whole(tree, place)
        elif isinstance(tree, (exp.Query, exp.Values, *CHANGES)):
            keep(self._queries.relation(tree, place))
        else:
            place.account.puzzle("not understood", tree)


def explained(words: Words, text: str, dialect: Dialect) -> str:
    """The statement after EXPLAIN and its options; to sqlglot it is a command with one long string."""
    text = text[words[0].end + 1 : words[-1].end + 1]
    rest = words_of(text, dialect)
    while rest and rest[0].text.lower() in {"analyze", "verbose", "query", "plan"}:
        rest = rest[1:]
    if len(rest) > 1 and rest[0].token_type is TokenType.L_PAREN and rest[1].text.lower() not in QUERIES:
        closing = next(at for at, word in enumerate(rest) if word.token_type is TokenType.R_PAREN)
        rest = rest[closing + 1 :]
    if not rest or rest[0].text.lower() == "explain":
        raise Unreadable("nothing is explained")
    return text[rest[0].start :]


def copied(words: Words) -> str:
    """Which way COPY goes: the first TO or FROM outside parentheses."""
    depth = 0
    for word in words:
        depth += (word.token_type is TokenType.L_PAREN) - (word.token_type is TokenType.R_PAREN)
        if depth == 0 and word.text.lower() in {"to", "from"}:
            return word.text.lower()
    return "to"


def named_by(tree: exp.Create, place: Place) -> list[str]:
    """The names in `CREATE VIEW v(a, b) AS`."""
    columns = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    return [place.name(column.this if isinstance(column, exp.ColumnDef) else column) for column in columns]


def is_name_like(word: Token) -> bool:
    return word.token_type in {TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING}


def declared_in(tree: exp.Expr, words: Words, dialect: Dialect) -> set[int]:
    """Where `t(a, b)` gives names to columns and calls nothing; looked for only where something seems to be called."""
    if next(unknown_functions(words, dialect, set()), None) is None:
        return set()
    holders = tree.find_all(exp.TableAlias, exp.Schema)
    names = (holder.this.this if isinstance(holder, exp.Schema) else holder.this for holder in holders)
    return {name.meta["start"] for name in names if isinstance(name, exp.Identifier) and "start" in name.meta}
