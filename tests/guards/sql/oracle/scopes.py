"""What a query can name where it is written: the sources of its FROM, and those of the queries around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.guards.sql.oracle.relations import Column


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query with its columns."""

    text: str
    columns: Sequence[Column]


@dataclass(slots=True)
class Source:
    """One item of FROM under its alias."""

    alias: str
    columns: Sequence[Column]
    merged: set[str] = field(default_factory=set[str])
    """Columns that a join by name has merged into those of an earlier source."""

    @property
    def is_tagged(self) -> bool:
        return any(column.is_tagged for column in self.columns)


@dataclass(frozen=True, slots=True)
class Place:
    """A column that can be named, with how to name it."""

    source: Source
    column: Column
    is_outer: bool
    is_unique: bool
    """Whether its bare name means this column and no other."""


@dataclass(slots=True)
class Scope:
    """The sources of one query, within the scope of the query around it."""

    parent: "Scope | None" = None
    sources: list[Source] = field(default_factory=list[Source])
    ignores_case: bool = True

    def fold(self, name: str) -> str:
        return name.lower() if self.ignores_case else name

    def star(self) -> list[Column]:
        """The columns of `*`, in their order."""
        return [
            column
            for source in self.sources
            for column in source.columns
            if self.fold(column.name) not in source.merged
        ]

    def aliases(self) -> set[str]:
        return {self.fold(source.alias) for source in self.sources}

    def levels(self) -> "Iterator[Scope]":
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def places(self) -> Iterator[Place]:
        """Every column that can be named here. Aliases of inner queries hide those of outer ones."""
        hidden: set[str] = set()
        names: set[str] = set()
        for level, scope in enumerate(self.levels()):
            listed = [self.fold(column.name) for column in scope.star()]
            for source in scope.sources:
                if self.fold(source.alias) in hidden:
                    continue
                own = [self.fold(column.name) for column in source.columns]
                for column in source.columns:
                    name = self.fold(column.name)
                    if own.count(name) == 1:
                        is_unique = listed.count(name) == 1 and name not in names
                        yield Place(source, column, level > 0, is_unique)
            hidden |= scope.aliases()
            names |= set(listed)
