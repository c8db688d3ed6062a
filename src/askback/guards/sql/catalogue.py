"""What is known of a database: its tables and views, which columns are personal, and what such data looks like."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from askback.errors import AuthorError
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.names import Path, agree
from askback.guards.sql.readings import SQLReading
from askback.guards.sql.text import find_mentioned
from askback.schema.forms import MAX_MESSAGE_LENGTH

Family = frozenset[str]
"""Tables that hold each other's rows, as a partitioned one and its partitions do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLCatalogue:
    """One catalogue, with names as the engine keeps them. `a | b` knows what both know; `b` has the last word."""

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """`schema.table` to its columns, in their order, and their types."""
    views: Mapping[str, str] = field(default_factory=dict[str, str])
    """`schema.view` to its query."""
    tagged: Mapping[str, str] = field(default_factory=dict[str, str])
    """`schema.table.column` to its tag."""
    examples: Mapping[str, str] = field(default_factory=dict[str, str])
    """A tag to a value that such a column could hold: made up, and never taken from the data."""
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """A tag to what people call it."""
    families: frozenset[Family] = frozenset()

    def __or__(self, other: "SQLCatalogue") -> "SQLCatalogue":
        tables = dict(self.tables)
        for name, columns in other.tables.items():
            tables[name] = {**tables.get(name, {}), **columns}
        return SQLCatalogue(
            tables=tables,
            views={**self.views, **other.views},
            tagged={**self.tagged, **other.tagged},
            examples={**self.examples, **other.examples},
            titles={**self.titles, **other.titles},
            families=self.families | other.families,
        )

    @property
    def digest(self) -> str:
        """Equal for equal knowledge, in whatever order tables and tags were written; columns count in theirs."""
        tables = {name: list(columns.items()) for name, columns in self.tables.items()}
        families = sorted(sorted(family) for family in self.families)
        return digest_of(tables, self.views, self.tagged, self.examples, self.titles, families)

    def spread_tags(self) -> Mapping[str, str]:
        """The tags, and those of a table's relatives on its own columns: the rows are the same."""
        tagged = dict(self.tagged)
        for family in join_families(self.families):
            tags = {
                column: tag
                for (path, column), tag in _split(self.tagged)
                if any(agree(path, _path(member)) for member in family)
            }
            tagged |= {f"{member}.{column}": tag for member in family for column, tag in tags.items()}
        return tagged

    def find_strays(self) -> tuple[str, ...]:
        """Tagged columns that no table or view here has: misspelt, or gone."""
        known: dict[str, list[tuple[Path, frozenset[str] | None]]] = {}
        for name, columns in self.tables.items():
            path = _path(name)
            known.setdefault(path[-1], []).append((path, frozenset(column.lower() for column in columns)))
        for name in self.views:
            known.setdefault(_path(name)[-1], []).append((_path(name), None))
        return tuple(
            ".".join((*path, column))
            for (path, column), _ in _split(self.tagged)
            if not any(
                agree(path, other) and (columns is None or column.lower() in columns)
                for other, columns in known.get(path[-1], ())
            )
        )


def digest_of(*parts: object) -> str:
    """A digest that is equal for equal values, in whatever order dictionaries were written."""
    text = json.dumps(parts, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def join_families(families: frozenset[Family]) -> list[Family]:
    """With those that share a table made one: a partition may have partitions."""
    found: list[Family] = []
    for family in families:
        near = [other for other in found if other & family]
        found = [other for other in found if not other & family]
        found.append(family.union(*near))
    return found


def _split(tagged: Mapping[str, str]) -> Iterator[tuple[tuple[Path, str], str]]:
    for name, tag in tagged.items():
        table, _, column = name.rpartition(".")
        yield (_path(table), column), tag


def _path(name: str) -> Path:
    return tuple(name.lower().split("."))


class PersonalColumns:
    """The tagged columns of one catalogue, looked up by the names that engines use."""

    def __init__(self, tagged: Mapping[str, str]) -> None:
        self._by_column: dict[Path, list[tuple[Path, str, str]]] = {}
        self._tagged = tagged
        for name, tag in tagged.items():
            path = _path(name)
            if len(path) < 2 or not all(path):
                raise AuthorError(
                    f"tagged[{name!r}] names no column of a table. Write it as schema.table.column."
                )
            self._by_column.setdefault(path[-2:], []).append((path, name, tag))

    def read(self, inspection: Inspection, statement: str) -> SQLReading:
        """The engine's findings with the tags of this catalogue. Where it has doubts, names in the text count too."""
        personal = dict(self._find_tags(inspection))
        if inspection.doubts and len(statement) <= MAX_MESSAGE_LENGTH:  # what is longer is shown to nobody
            personal |= {name: self._tagged[name] for name in find_mentioned(statement, self._tagged)}
        return SQLReading(
            columns=inspection.columns,
            personal=MappingProxyType(dict(sorted(personal.items()))),
            writes=inspection.writes,
            unresolved=inspection.doubts,
        )

    def _find_tags(self, inspection: Inspection) -> Iterator[tuple[str, str]]:
        """A column that is tagged by its own name goes by the tag's spelling; a relative's tag counts for it, too."""
        for column in inspection.columns:
            for _, name, tag in self._tags_of(column):
                yield name, tag
            table, _, last = column.rpartition(".")
            relatives = frozenset[str]().union(*(one for one in inspection.families if table in one)) - {
                table
            }
            for _, _, tag in (found for other in relatives for found in self._tags_of(f"{other}.{last}")):
                yield column, tag

    def _tags_of(self, column: str) -> Iterator[tuple[Path, str, str]]:
        path = _path(column)
        return (found for found in self._by_column.get(path[-2:], ()) if agree(found[0], path))
