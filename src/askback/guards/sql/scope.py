"""Where an expression stands: the relations and names it can see, and the account of everything it touches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from askback.guards.sql.names import Path, name_of

if TYPE_CHECKING:
    from askback.guards.sql.queries import Queries

Sources = frozenset[str]
"""Stored columns, as `schema.table.column`."""

NOTHING: Sources = frozenset()

Output = tuple[str | None, Sources]
"""A column of a result; its name is None where the engine's own rule names it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Columns by name. An open relation may have more of them, which reveal `rest`."""

    columns: Mapping[str, Sources] = field(default_factory=dict[str, Sources])
    rest: Sources = NOTHING
    is_open: bool = False
    hidden: Mapping[str, Sources] = field(default_factory=dict[str, Sources])
    """Row numbers and the like, which have a name and are not part of `*`."""
    twins: Sources = NOTHING
    """Names that several of its columns have. Engines rename all but the first, each by its own rule."""
    everything: Sources = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "everything", self.rest.union(*self.columns.values()))

    def find(self, name: str) -> Sources | None:
        """The stored columns that a name can reveal; None if no column has that name."""
        found = self.columns.get(name)
        return self.hidden.get(name) if found is None else found


OPAQUE = Relation(is_open=True)
"""A relation whose columns were counted already, or are reported as a doubt."""


def make_relation(
    outputs: Iterable[Output], *, rest: Sources = NOTHING, is_open: bool = False, twins: Sources = NOTHING
) -> Relation:
    columns: dict[str, Sources] = {}
    unnamed, again = set(rest), set(twins)
    for name, sources in outputs:
        if name is None:
            is_open = True
            unnamed |= sources
        elif name in columns:
            again.add(name)
            columns[name] |= sources
        else:
            columns[name] = sources
    unnamed.update(*(columns[name] for name in again if name in columns))
    return Relation(columns, frozenset(unnamed), is_open or bool(again), twins=frozenset(again))


def merge(relations: Sequence[Relation]) -> Relation:
    """One relation of all the columns side by side."""
    return make_relation(
        (output for relation in relations for output in relation.columns.items()),
        rest=NOTHING.union(*(relation.rest for relation in relations)),
        is_open=any(relation.is_open for relation in relations),
        twins=NOTHING.union(*(relation.twins for relation in relations)),
    )


def blend(relation: Relation, names: Iterable[str] = ()) -> Relation:
    """With these names besides its own, each of which may mean any of its columns."""
    everything = relation.everything
    return Relation(dict.fromkeys((*relation.columns, *names), everything), everything, is_open=True)


class ScopeEntry(NamedTuple):
    path: Path  # its alias, or the dotted name it has in the catalogue
    relation: Relation


class NameMeanings(NamedTuple):
    """All that a name can mean."""

    sources: Sources
    is_anything: bool
    is_row: bool
    """Whether it may be a function of a row, in the notation of a column (Postgres: `c.to_json`)."""


class NameScope:
    """The relations of one FROM, the names of its SELECT, and the scope around.

    A subquery `beside` others in a FROM sees them on some engines and not on others.
    """

    def __init__(self, around: "NameScope | None" = None, *, beside: bool = False) -> None:
        self.around = around
        self.beside = beside
        self.sources: list[ScopeEntry] = []
        self.names: dict[str, Sources] = {}  # of the SELECT, and of parameters of a lambda
        self._columns: dict[str, set[str]] = {}
        self._by_alias: dict[str, list[ScopeEntry]] = {}
        self._open: set[str] | None = None

    def add(self, source: ScopeEntry) -> None:
        self.sources.append(source)
        if source.path:
            self._by_alias.setdefault(source.path[-1], []).append(source)
        if source.relation.is_open:
            self._open = set() if self._open is None else self._open
            self._open |= source.relation.rest
        for columns in (source.relation.columns, source.relation.hidden):
            for name, sources in columns.items():
                self._columns.setdefault(name, set()).update(sources)

    def merged(self) -> Relation:
        """The columns of `*` here. Parameters of a lambda have none, so those of the scope around it."""
        if not self.sources and self.around is not None:
            return self.around.merged()
        return merge([source.relation for source in self.sources])

    def named(self, path: Path) -> list[Relation]:
        """The relations that `path.*` can mean, here and around."""
        return [relation for scope in self.outwards() for relation in scope._called(path)]

    def outwards(self) -> "Iterator[NameScope]":
        scope: NameScope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    def find(self, path: Path) -> NameMeanings:
        """Gather the meanings from the inside out, up to the scope where every engine stops looking."""
        gathered: set[str] = set()
        is_anything = is_column = is_row = False
        sees_all = True
        for scope in self.outwards():
            exact, loose, is_row_here = scope._meanings(path)
            gathered.update(*exact, *loose)
            is_anything = is_anything or bool(exact or loose)
            is_column, is_row = is_column or bool(exact), is_row or is_row_here
            if exact and sees_all:
                break
            sees_all = not scope.beside
        return NameMeanings(frozenset(gathered), is_anything, is_row and not is_column)

    def _meanings(self, path: Path) -> tuple[list[Sources], list[Sources], bool]:
        """Columns that are meant for sure; what else it may be; whether that is a function of a row."""
        first, is_dotted = path[0], len(path) > 1
        here = self._columns.get(first)
        exact = [frozenset(here)] if here is not None and not is_dotted else []
        loose = [frozenset(here)] if here is not None and is_dotted else []  # a field of it
        loose += [self.names[first]] if first in self.names else []
        loose += [relation.everything for relation in self._called(path)]
        is_row = False
        for size in range(1, len(path)):
            for relation in self._called(path[:size]):
                sources = relation.find(path[size])
                is_row = is_row or (sources is None and not relation.is_open)
                (loose if sources is None else exact).append(
                    relation.everything if sources is None else sources
                )
        if self._open is not None and not exact and not is_dotted:
            loose.append(frozenset(self._open) or NOTHING)
        return exact, loose, is_row

    def _called(self, path: Path) -> list[Relation]:
        near = self._by_alias.get(path[-1], ())
        return [source.relation for source in near if source.path[-len(path) :] == path]


QUOTED_LENGTH = 80
"""Characters of a statement that a sentence quotes: enough to find the piece."""


@dataclass(slots=True)
class Account:
    """Columns, changes and doubts that were found so far. A reading changes nothing else."""

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


def quote(what: exp.Expr | str) -> str:
    """The piece of text on one line and not too long. Of a tree only its name: to print it could cost too much."""
    text = what if isinstance(what, str) else name_or_kind(what)
    line = " ".join(text.split())
    return line if len(line) <= QUOTED_LENGTH else f"{line[:QUOTED_LENGTH]}…"


def name_or_kind(node: exp.Expr) -> str:
    named = node.this if isinstance(node, exp.Into | exp.Schema) else node
    parts = named.parts if isinstance(named, exp.Column | exp.Table) else [named]
    return ".".join(part.name for part in parts) or node.key


Tables = dict[str, Relation | None]
"""Common table expressions of one WITH; None for one that is named before its turn."""


@dataclass(frozen=True, slots=True)
class ExpressionContext:
    reader: "Queries"
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


def get_argument(node: exp.Expr, name: str) -> object:
    """An argument whose name is a word of Python: sqlglot spells it with an underscore from 28 on."""
    return node.args.get(f"{name}_") or node.args.get(name)


def list_parts(node: exp.Expr, *names: str) -> Iterator[exp.Expr]:
    """The trees right below a tree, or those of these arguments."""
    for value in [node.args.get(name) for name in names] if names else node.args.values():
        if isinstance(value, exp.Expr):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, exp.Expr))  # pyright: ignore[reportUnknownVariableType] # args are untyped


def check_clauses(node: exp.Expr, known: frozenset[str], account: Account) -> None:
    """Report each clause that is not on the list as a doubt, since it may read something."""
    for name, value in node.args.items():
        if value and name.rstrip("_") not in known:
            account.doubt(f"{node.key} with {name.rstrip('_')}", value if isinstance(value, exp.Expr) else "")
