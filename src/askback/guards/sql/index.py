"""The tables, views and tags that the operator knows of, by the names a statement may use for them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from askback.guards.sql.names import Dialect, Path, agree, fold, path_of
from askback.guards.sql.scope import NOTHING, Relation, Sources, make_relation
from askback.guards.sql.text import find_mentioned

ROW_NUMBERS: dict[Dialect, tuple[str, ...]] = {
    "duckdb": ("rowid",),
    "postgres": ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"),
    "sqlite": ("rowid", "oid", "_rowid_"),
    "trino": (),
}
"""Columns that every stored table has and `*` leaves out."""


MAX_MENTIONING = 200_000
"""Characters that are looked through for the names of tagged columns."""


class Stored(NamedTuple):
    """A table or a view of the catalogue."""

    name: str
    path: Path
    relation: Relation | None  # None: a view, which is read when it is met
    query: str


class Tag(NamedTuple):
    path: Path  # of its table, in small letters
    column: str
    name: str  # as the operator wrote it
    tag: str


class CatalogueIndex:
    """Reads no statement; says which stored table a name means."""

    def __init__(
        self,
        *,
        dialect: Dialect,
        tables: Mapping[str, Mapping[str, str]],
        views: Mapping[str, str],
        tagged: Mapping[str, str],
    ) -> None:
        self.dialect: Dialect = dialect
        self.tags: dict[str, str] = dict(tagged)
        self.columns = frozenset(column.lower() for columns in tables.values() for column in columns)
        self._by_name: dict[str, list[Stored]] = {}
        self._tagged: dict[str, list[Tag]] = {}
        for name, tag in tagged.items():
            table, _, column = name.rpartition(".")
            path = path_of(table.lower(), dialect)
            self._tagged.setdefault(path[-1], []).append(Tag(path, column, name, tag))
        for name, columns in tables.items():
            if name not in views:
                self._enter(name, self._table(name, columns), "")
        for name, query in views.items():
            self._enter(name, None, query)
            self.tags |= {f"{name}.{tag.column}": tag.tag for tag in self._tags(path_of(name, dialect))}

    def find(self, path: Path) -> list[Stored]:
        """All that a name can mean: unqualified, a table of any schema."""
        found = [stored for stored in self._by_name.get(path[-1], ()) if self._means(path, stored.path)]
        exact = [stored for stored in found if len(stored.path) >= len(path)]
        return exact or found

    def find_mentions(self, text: str) -> set[str]:
        """The tagged columns whose names stand in a text that was not understood."""
        spelled = {name.lower(): name for name in self.tags}  # as the table has it, where a table has it
        return find_mentioned(text[:MAX_MENTIONING], spelled.values())

    def untold(self, path: Path) -> Relation:
        """The relation of a table that is not here. Its tagged columns count all the same."""
        return make_relation(
            (
                (fold(tag.column, self.dialect, quoted=True), frozenset({tag.name}))
                for tag in self._tags(path)
            ),
            is_open=True,
        )

    def with_tags(self, view: Stored, relation: Relation) -> Relation:
        """A column of a view may carry a tag of its own, besides those of what it is made from."""
        own = {
            fold(tag.column, self.dialect, quoted=True): frozenset({f"{view.name}.{tag.column}"})
            for tag in self._tags(view.path)
        }
        columns = {name: sources | own.get(name, NOTHING) for name, sources in relation.columns.items()}
        rest = relation.rest.union(*own.values())
        return replace(relation, columns=columns, rest=rest) if own else relation

    def _means(self, path: Path, stored: Path) -> bool:
        if len(path) <= len(stored):
            if path == stored[-len(path) :]:
                return True
            return self.dialect == "duckdb" and len(path) == 2 and stored == (path[0], "main", path[1])
        return self.dialect == "postgres" and agree(path, stored)  # which knows no database but its own

    def _enter(self, name: str, relation: Relation | None, query: str) -> None:
        path = path_of(name, self.dialect)
        self._by_name.setdefault(path[-1], []).append(Stored(name, path, relation, query))

    def _tags(self, path: Path) -> list[Tag]:
        """The tags of a table, however much of its name they spell."""
        small = tuple(part.lower() for part in path)
        return [tag for tag in self._tagged.get(small[-1], ()) if agree(tag.path, small)]

    def _table(self, name: str, columns: Mapping[str, str]) -> Relation:
        known = dict(columns)
        spelled = {column.lower(): column for column in known}
        for _, column, _, tag in self._tags(path_of(name, self.dialect)):
            here = column if column in known else spelled.get(column.lower(), column)
            known.setdefault(here, "")  # a tag names a column that the list of tables has missed
            self.tags[f"{name}.{here}"] = tag
        outputs = (
            (fold(column, self.dialect, quoted=True), frozenset({f"{name}.{column}"})) for column in known
        )
        relation = make_relation(outputs)
        return replace(relation, hidden=self._hidden(name, known, relation))

    def _hidden(self, name: str, columns: Mapping[str, str], relation: Relation) -> dict[str, Sources]:
        numbers: set[str] = set()
        if self.dialect == "sqlite":  # where the row number is another name of an integer primary key
            whole = (column for column, kind in columns.items() if not kind or "int" in kind.lower())
            numbers = {f"{name}.{column}" for column in whole}
        words = (word for word in ROW_NUMBERS[self.dialect] if word not in relation.columns)
        return {word: frozenset(numbers) for word in words}
