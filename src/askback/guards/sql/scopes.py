"""Which relations a name can mean where it is written: those of its own query, then those around it."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from askback.guards.sql.names import Path
from askback.guards.sql.relations import NOTHING, Relation, Sources

FEW = 8
"""Relations of one query that are asked one by one; more get an index, so that long joins stay linear."""


class Source(NamedTuple):
    path: Path  # its alias, or the dotted name it has in the catalogue
    relation: Relation


class Scope:
    """The relations of one FROM, the names of its SELECT, and the scope around.

    Beside siblings in a FROM, engines differ in what a subquery sees: then a name may mean theirs or one further out.
    """

    def __init__(self, around: "Scope | None" = None, *, beside: bool = False, binds: bool = False) -> None:
        self.around = around
        self.beside = beside
        self.binds = binds  # parameters of a lambda, and no FROM of its own
        self.is_shuffled = False  # by a join that merges or hides columns, which engines place differently
        self.sources: list[Source] = []
        self.outputs: dict[str, Sources] = {}
        self._by_alias: dict[str, list[Source]] = {}
        self._open: set[str] | None = None
        self._index: dict[str, set[str]] | None = None
        self._times: dict[str, int] = {}

    def add(self, source: Source) -> None:
        self.sources.append(source)
        if source.path:
            self._by_alias.setdefault(source.path[-1], []).append(source)
        if source.relation.other is not None:
            self._open = set() if self._open is None else self._open
            self._open |= source.relation.other
        if self._index is not None:
            self._enter(self._index, source.relation)

    def everything(self, left_out: Collection[str] = ()) -> Sources:
        """What `*` reveals here, but for columns of these names."""
        if self.binds and self.around is not None:
            return self.around.everything(left_out)
        return NOTHING.union(*(source.relation.but_for(left_out) for source in self.sources))

    @property
    def is_open(self) -> bool:
        """Whether a relation here may have columns that are not known."""
        return self._open is not None

    def shared(self, relation: Relation) -> Sources:
        """The columns of this relation that others here have too, by which NATURAL joins."""
        index = self._indexed()
        names = (output.name for output in relation.outputs if output.name is not None)
        return NOTHING.union(*(index[name] for name in names if self._times.get(name, 0) > 1))

    def named(self, path: Path) -> list[Source]:
        """The relations that `path.*` can mean, here or around."""
        scope: Scope | None = self
        while scope is not None:
            if found := scope._called(path):
                return found
            scope = scope.around
        return []

    def find(self, path: Path) -> Sources | None:
        """All that this name can mean; None where it can mean nothing."""
        gathered: set[str] = set()
        is_found = False
        scope: Scope | None = self
        firm = True
        while scope is not None:
            columns = scope._columns(path)
            possible = [columns] if columns is not None else scope._maybe(path)
            for sources in (scope.outputs.get(path[0]), *possible):
                if sources is not None:
                    gathered |= sources
                    is_found = True
            if columns is not None and firm:
                break
            firm = not scope.beside
            scope = scope.around
        return frozenset(gathered) if is_found else None

    def _columns(self, path: Path) -> Sources | None:
        found = self._unqualified(path[0])
        for size in range(1, len(path)):
            for source in self._called(path[:size]):
                sources = source.relation.named.get(path[size])
                if sources is not None:
                    found = sources if found is None else found | sources
        return found

    def _maybe(self, path: Path) -> Iterator[Sources | None]:
        """A whole row by its relation's name, and columns of relations that are not known in full."""
        for source in self._called(path):
            yield source.relation.everything
        if len(path) == 1:
            yield None if self._open is None else frozenset(self._open)
        for size in range(1, len(path)):
            for source in self._called(
                path[:size]
            ):  # to Postgres, `t.row_to_json` may be a function of the row
                yield None if source.relation.other is None else source.relation.everything

    def _called(self, path: Path) -> list[Source]:
        return [found for found in self._by_alias.get(path[-1], ()) if found.path[-len(path) :] == path]

    def _unqualified(self, name: str) -> Sources | None:
        if len(self.sources) > FEW:
            found = self._indexed().get(name)
            return None if found is None else frozenset(found)
        known = [source.relation.named[name] for source in self.sources if name in source.relation.named]
        return NOTHING.union(*known) if known else None

    def _indexed(self) -> dict[str, set[str]]:
        if self._index is None:
            self._index = {}
            for source in self.sources:
                self._enter(self._index, source.relation)
        return self._index

    def _enter(self, index: dict[str, set[str]], relation: Relation) -> None:
        for name, sources in relation.named.items():
            index.setdefault(name, set()).update(sources)
            self._times[name] = self._times.get(name, 0) + 1


def merged(sources: Sequence[Source], *, is_shuffled: bool = False) -> Relation:
    """One relation of all the columns side by side."""
    relations = [source.relation for source in sources]
    return Relation(
        tuple(output for relation in relations for output in relation.outputs),
        is_open=any(relation.is_open for relation in relations),
        rest=NOTHING.union(*(relation.rest for relation in relations)),
        is_shuffled=is_shuffled or any(relation.is_shuffled for relation in relations),
    )
