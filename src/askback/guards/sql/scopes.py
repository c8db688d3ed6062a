"""Which columns a name can mean where it is written: those of its own query, then those of the queries around it."""

from collections.abc import Iterator
from typing import NamedTuple

from askback.guards.sql.names import Path
from askback.guards.sql.relations import NOTHING, Relation, Sources, merge


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
        """What `*` gives here; for the parameters of a lambda, what it gives around them."""
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
