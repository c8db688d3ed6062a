"""Where an expression stands: what it can see, and the account into which all that it touches goes."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from askback.guards.sql.names import Dialect, Path, name_of
from askback.guards.sql.relations import Relation
from askback.guards.sql.scopes import Scope

QUOTED_LENGTH = 80
"""Characters of a statement that a sentence quotes: enough to find the piece."""

MOST_OUTPUTS = 200_000
"""Columns that all queries of one text may make together. `SELECT *, * FROM (SELECT *, * FROM …)` doubles them at each
step, and no engine takes as many."""


class TooMuch(Exception):
    """The text unfolds to more than is worth reading."""


@dataclass(slots=True)
class Account:
    """What was touched so far; the only thing that a reading changes."""

    read: set[str] = field(default_factory=set[str])
    writes: dict[str, None] = field(default_factory=dict[str, None])
    unresolved: dict[str, None] = field(default_factory=dict[str, None])
    is_view: bool = False  # written by the operator: what it computes counts where it is used
    outputs: int = 0

    def count(self, sources: Iterable[str]) -> None:
        self.read.update(sources)

    def puzzle(self, what: str, node: exp.Expr | str = "") -> None:
        self.unresolved[f"{what}: {quoted(node)}" if node else what] = None

    def change(self, what: str, node: exp.Expr | str = "") -> None:
        self.writes[f"{what} {quoted(node)}" if node else what] = None

    def spend(self, outputs: int) -> None:
        self.outputs += outputs
        if self.outputs > MOST_OUTPUTS:
            raise TooMuch

    @contextmanager
    def apart(self) -> Generator[set[str]]:
        """What is counted inside goes into a set of its own."""
        around, self.read = self.read, set()
        try:
            yield self.read
        finally:
            self.read = around


def quoted(node: exp.Expr | str) -> str:
    """The piece of text, on one line and not too long."""
    text = " ".join((node if isinstance(node, str) else shallow(node)).split())
    return text if len(text) <= QUOTED_LENGTH else f"{text[:QUOTED_LENGTH]}…"


def shallow(node: exp.Expr) -> str:
    """A name as it is written; of anything larger only its kind, for to print it could cost more than to read it."""
    if isinstance(node, exp.Into | exp.Schema):
        node = node.this
    if isinstance(node, exp.Column | exp.Table):
        return ".".join(part.name for part in node.parts) or node.key
    return node.name or node.key


class Reader(Protocol):
    """Reads a query; expressions meet subqueries and hand them back."""

    @property
    def dialect(self) -> Dialect: ...
    def relation(self, query: exp.Expr, place: "Place") -> Relation: ...
    def stored(self, path: Path, account: Account) -> tuple[Path, Relation]: ...


Tables = dict[str, Relation | None]
"""Common table expressions of one WITH; None for one that is named before its turn."""


@dataclass(frozen=True, slots=True)
class Place:
    reader: Reader
    account: Account
    scope: Scope
    withs: tuple[Tables, ...] = ()  # innermost last

    def inside(self, scope: Scope) -> "Place":
        return replace(self, scope=scope)

    def knowing(self, tables: Tables) -> "Place":
        return replace(self, withs=(*self.withs, tables))

    def name(self, node: exp.Expr) -> str:
        return name_of(node, self.reader.dialect)

    def path(self, parts: Iterable[exp.Expr]) -> Path:
        return tuple(self.name(part) for part in parts)


def arg(node: exp.Expr, name: str) -> object:
    """An argument whose name is a word of Python: sqlglot spells it with an underscore from 28 on."""
    return node.args.get(f"{name}_") or node.args.get(name)


def knows(node: exp.Expr, known: frozenset[str], account: Account) -> None:
    """A clause that is not on the list is reported: it may read what nobody looked at."""
    for name, value in node.args.items():
        if value and name.rstrip("_") not in known:
            account.puzzle(
                f"{node.key} with {name.rstrip('_')}", value if isinstance(value, exp.Expr) else ""
            )
