"""Where an expression stands: what it can see, and the account into which all that it touches goes."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from askback.guards.sql.names import Dialect, Path, name_of
from askback.guards.sql.relations import Relation
from askback.guards.sql.scopes import NameScope

QUOTED_LENGTH = 80
"""Characters of a statement that a sentence quotes: enough to find the piece."""


@dataclass(slots=True)
class Account:
    """What was touched so far; the only thing that a reading changes."""

    read: set[str] = field(default_factory=set[str])
    writes: dict[str, None] = field(default_factory=dict[str, None])
    doubts: dict[str, None] = field(default_factory=dict[str, None])
    is_view: bool = False  # written by the operator: what it computes counts where it is used

    def count(self, sources: Iterable[str]) -> None:
        self.read.update(sources)

    def doubt(self, what: str, node: exp.Expr | str = "") -> None:
        self.doubts[f"{what}: {quote(node)}" if node else what] = None

    def change(self, what: str, node: exp.Expr | str = "") -> None:
        self.writes[f"{what} {quote(node)}" if node else what] = None

    @contextmanager
    def apart(self) -> Generator[set[str]]:
        """What is counted inside goes into a set of its own."""
        around, self.read = self.read, set()
        try:
            yield self.read
        finally:
            self.read = around


def quote(what: exp.Expr | str) -> str:
    """The piece of text on one line and not too long. Of a tree only its name: to print it could cost too much."""
    text = what if isinstance(what, str) else name_or_kind(what)
    line = " ".join(text.split())
    return line if len(line) <= QUOTED_LENGTH else f"{line[:QUOTED_LENGTH]}…"


def name_or_kind(node: exp.Expr) -> str:
    named = node.this if isinstance(node, exp.Into | exp.Schema) else node
    parts = named.parts if isinstance(named, exp.Column | exp.Table) else [named]
    return ".".join(part.name for part in parts) or node.key


class QueryReader(Protocol):
    """Reads a query; expressions meet subqueries and hand them back."""

    @property
    def dialect(self) -> Dialect: ...
    def relation(self, query: exp.Expr, place: "ExpressionContext") -> Relation: ...
    def stored(self, path: Path, account: Account) -> tuple[Path, Relation]: ...


Tables = dict[str, Relation | None]
"""Common table expressions of one WITH; None for one that is named before its turn."""


@dataclass(frozen=True, slots=True)
class ExpressionContext:
    reader: QueryReader
    account: Account
    scope: NameScope
    withs: tuple[Tables, ...] = ()  # innermost last

    def inside(self, scope: NameScope) -> "ExpressionContext":
        return replace(self, scope=scope)

    def knowing(self, tables: Tables) -> "ExpressionContext":
        return replace(self, withs=(*self.withs, tables))

    def name(self, node: exp.Expr) -> str:
        return name_of(node, self.reader.dialect)

    def path(self, parts: Iterable[exp.Expr]) -> Path:
        return tuple(self.name(part) for part in parts)


def arg(node: exp.Expr, name: str) -> object:
    """An argument whose name is a word of Python: sqlglot spells it with an underscore from 28 on."""
    return node.args.get(f"{name}_") or node.args.get(name)


def parts_of(node: exp.Expr, *names: str) -> Iterator[exp.Expr]:
    """The trees right below a tree, or those of these arguments."""
    for value in [node.args.get(name) for name in names] if names else node.args.values():
        if isinstance(value, exp.Expr):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, exp.Expr))  # pyright: ignore[reportUnknownVariableType] # args are untyped


def knows(node: exp.Expr, known: frozenset[str], account: Account) -> None:
    """A clause that is not on the list is a doubt: it may read what nobody looked at."""
    for name, value in node.args.items():
        if value and name.rstrip("_") not in known:
            account.doubt(f"{node.key} with {name.rstrip('_')}", value if isinstance(value, exp.Expr) else "")
