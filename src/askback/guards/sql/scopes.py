"""Which columns a name can mean where it is written: those of its own query, then those of the queries around it."""

from collections.abc import Iterator
from typing import NamedTuple

from askback.guards.sql.names import Path
from askback.guards.sql.relations import NOTHING, Relation, Sources, merge


class Source(NamedTuple):
    path: Path  # its alias, or the dotted name it has in the catalogue
    relation: Relation


class Found(NamedTuple):
    """All that a name can mean."""

    sources: Sources
    is_column: bool  # an engine takes it for a column, and for nothing else
    is_anything: bool


class Scope:
    """The relations of one FROM, the names of its SELECT, and the scope around.

    A subquery beside others in a FROM sees them on some engines and not on others.
    """

    def __init__(self, around: "Scope | None" = None, *, beside: bool = False) -> None:
        self.around = around
        self.beside = beside
        self.sources: list[Source] = []
        self.names: dict[str, Sources] = {}  # of the SELECT, and of parameters of a lambda
        self._columns: dict[str, set[str]] = {}
        self._by_alias: dict[str, list[Source]] = {}
        self._open: set[str] | None = None

    def add(self, source: Source) -> None:
        self.sources.append(source)
        relation = source.relation
        if source.path:
            self._by_alias.setdefault(source.path[-1], []).append(source)
        if relation.is_open:
            self._open = set() if self._open is None else self._open
            self._open |= relation.rest
        for columns in (relation.columns, relation.hidden):
            for name, sources in columns.items():
                self._columns.setdefault(name, set()).update(sources)

    def merged(self) -> Relation:
        """What `*` gives here; for the parameters of a lambda, what it gives around them."""
        if not self.sources and self.around is not None:
            return self.around.merged()
        return merge([source.relation for source in self.sources])

    def named(self, path: Path) -> list[Source]:
        """The relations that `path.*` can mean, here and around."""
        return [source for scope in self.outwards() for source in scope.called(path)]

    def outwards(self) -> "Iterator[Scope]":
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    def called(self, path: Path) -> list[Source]:
        return [found for found in self._by_alias.get(path[-1], ()) if found.path[-len(path) :] == path]

    def find(self, path: Path) -> Found:
        """Gather the meanings from the inside out, up to the scope where every engine stops looking."""
        gathered: set[str] = set()
        is_column = is_anything = False
        sees_all = True
        for scope in self.outwards():
            exact = list(scope._exact(path))
            meanings = [*scope._loose(path), *(exact or scope._open_ones(path))]
            gathered.update(*meanings)
            is_anything = is_anything or bool(meanings)
            is_column = is_column or bool(exact)
            if exact and sees_all:
                break
            sees_all = not scope.beside
        return Found(frozenset(gathered), is_column, is_anything)

    def _exact(self, path: Path) -> Iterator[Sources | set[str]]:
        """A column by its name alone, or by the name of its table and its own."""
        if len(path) == 1:
            if path[0] in self._columns:
                yield self._columns[path[0]]
            return
        for size in range(1, len(path)):
            for source in self.called(path[:size]):
                sources = source.relation.find(path[size])
                if sources is not None:
                    yield sources

    def _loose(self, path: Path) -> Iterator[Sources | set[str]]:
        """A name of the SELECT, a whole row, a field of a column, a function of a row in the notation of a column."""
        if path[0] in self.names:
            yield self.names[path[0]]
        for source in self.called(path):
            yield source.relation.everything
        if len(path) > 1 and path[0] in self._columns:
            yield self._columns[path[0]]
        for size in range(1, len(path)):
            for source in self.called(path[:size]):
                if source.relation.find(path[size]) is None:
                    yield source.relation.everything

    def _open_ones(self, path: Path) -> Iterator[Sources | set[str]]:
        if self._open is not None:
            yield self._open or NOTHING

    def has_closed(self, path: Path) -> bool:
        """Whether the name begins with that of a relation here whose columns are all known."""
        return any(
            not source.relation.is_open
            for scope in self.outwards()
            for size in range(1, len(path))
            for source in scope.called(path[:size])
        )
