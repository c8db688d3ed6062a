"""The tables, views and tags that the operator knows of, by the names a statement may use for them."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from askback.errors import AuthorError
from askback.guards.sql.names import Dialect, Path, agree, fold, path_of
from askback.guards.sql.relations import OPAQUE, Output, Relation, Sources
from askback.guards.sql.systems import describes_the_schema, is_of_the_system

ROW_NUMBERS: dict[Dialect, tuple[str, ...]] = {
    "duckdb": ("rowid",),
    "postgres": ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"),
    "sqlite": ("rowid", "oid", "_rowid_"),
    "trino": (),
}
"""Columns that every stored table has and `*` leaves out."""


class Stored(NamedTuple):
    """A table or a view of the catalogue."""

    name: str
    path: Path
    relation: Relation | None  # None: a view, which is read when it is met
    query: str


class Catalogue:
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
        ordered = {name: list(columns.items()) for name, columns in tables.items()}
        self.digest = digest_of(dialect, ordered, views, tagged)
        self.tags: dict[str, str] = dict(tagged)
        self._by_name: dict[str, list[Stored]] = {}
        tags = self._tags = Tags(tagged, dialect)
        for name, columns in tables.items():
            if name not in views:
                self._enter(name, self._table(name, columns, tags), "")
        for name, query in views.items():
            self._enter(name, None, query)
            self.tags |= {f"{name}.{column}": tag for column, tag in tags.of(name).items()}
        self.columns = frozenset(column.lower() for columns in tables.values() for column in columns)

    def find(self, path: Path) -> list[Stored]:
        """All that a name can mean: unqualified, a table of any schema."""
        found = [stored for stored in self._by_name.get(path[-1], ()) if self._means(path, stored.path)]
        exact = [stored for stored in found if len(stored.path) >= len(path)]
        return exact or found

    def mentioned(self, text: str) -> set[str]:
        """The tagged columns whose names stand in a text that nobody has understood."""
        small = text.lower()
        words = set(re.findall(r"\w+", small))
        spelled = {name.lower(): name for name in self.tags}  # as the table has it, where a table has it
        return {name for name in spelled.values() if is_in(name.rpartition(".")[2].lower(), small, words)}

    def untold(self, path: Path) -> Relation:
        """Of a table that is not here: its tagged columns, which count all the same."""
        names = self._tags.spelled(path)
        columns = ((fold(name.rpartition(".")[2], self.dialect, quoted=True), name) for name in names)
        return Relation(tuple(Output(column, frozenset({name})) for column, name in columns), is_open=True)

    def system(self, path: Path) -> Relation | None:
        """The engine's own relations that tell of the schema and not of what is stored."""
        return OPAQUE if describes_the_schema(path, self.dialect) else None

    def is_shadowed(self, path: Path) -> bool:
        """Whether the engine looks among its own tables first."""
        return is_of_the_system(path, self.dialect)

    def view_tags(self, view: Stored) -> dict[str, str]:
        """Stored name by folded name of the columns of a view that carry a tag themselves."""
        prefix = f"{view.name}."
        names = (name for name in self.tags if name.startswith(prefix))
        return {fold(name.removeprefix(prefix), self.dialect, quoted=True): name for name in names}

    def _means(self, path: Path, stored: Path) -> bool:
        if len(path) <= len(stored):
            if path == stored[-len(path) :]:
                return True
            return self.dialect == "duckdb" and len(path) == 2 and stored == (path[0], "main", path[1])
        return self.dialect == "postgres" and agree(path, stored)  # which knows no database but its own

    def _enter(self, name: str, relation: Relation | None, query: str) -> None:
        path = path_of(name, self.dialect)
        self._by_name.setdefault(path[-1], []).append(Stored(name, path, relation, query))

    def _table(self, name: str, columns: Mapping[str, str], tags: "Tags") -> Relation:
        known = dict(columns)
        spelled = {column.lower(): column for column in known}
        for column, tag in tags.of(name).items():
            here = column if column in known else spelled.get(column.lower(), column)
            known.setdefault(here, "")  # a tag tells of a column that the list of tables has missed
            self.tags[f"{name}.{here}"] = tag
        outputs = tuple(
            Output(fold(column, self.dialect, quoted=True), frozenset({f"{name}.{column}"}))
            for column in known
        )
        is_shuffled = len(known) > len(columns)  # nobody knows where the missed one stands
        return Relation(outputs, is_shuffled=is_shuffled, hidden=self._hidden(name, known))

    def _hidden(self, name: str, columns: Mapping[str, str]) -> dict[str, Sources]:
        numbers: set[str] = set()
        if self.dialect == "sqlite":  # where the row number is another name of an integer primary key
            whole = (column for column, kind in columns.items() if not kind or "int" in kind.lower())
            numbers = {f"{name}.{column}" for column in whole}
        taken = {fold(column, self.dialect, quoted=True) for column in columns}
        return {word: frozenset(numbers) for word in ROW_NUMBERS[self.dialect] if word not in taken}


class Tags:
    """The tags of each table, however much of its name they spell."""

    def __init__(self, tagged: Mapping[str, str], dialect: Dialect) -> None:
        self._dialect: Dialect = dialect
        self._by_table: dict[str, list[tuple[Path, str, str]]] = {}
        self._names: dict[str, list[tuple[Path, str]]] = {}
        for name, tag in tagged.items():
            table, _, column = name.rpartition(".")
            if not table or not column:
                raise AuthorError(
                    f"tagged[{name!r}] names no column of a table. Write it as schema.table.column."
                )
            path = path_of(table.lower(), dialect)
            self._by_table.setdefault(path[-1], []).append((path, column, tag))
            self._names.setdefault(path[-1], []).append((path, name))

    def of(self, table: str) -> dict[str, str]:
        path = path_of(table.lower(), self._dialect)
        return {column: tag for other, column, tag in self._by_table.get(path[-1], ()) if agree(other, path)}

    def spelled(self, path: Path) -> list[str]:
        """The tagged columns of a table as the operator wrote them."""
        small = tuple(part.lower() for part in path)
        return [name for other, name in self._names.get(small[-1], ()) if agree(other, small)]


def is_in(column: str, text: str, words: Collection[str]) -> bool:
    return column in words or (not column.isidentifier() and column in text)


def digest_of(*parts: object) -> str:
    """Equal for equal catalogues, in whatever order their tables and tags were written."""
    text = json.dumps(parts, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()
