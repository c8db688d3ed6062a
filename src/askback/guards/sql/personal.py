"""Which of the columns that an engine names are tagged as personal."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from askback.errors import AuthorError
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.names import Path, agree
from askback.guards.sql.readings import SQLReading
from askback.schema.forms import MAX_MESSAGE_LENGTH

WORD = re.compile(r"\w+")


class PersonalColumns:
    """The tagged columns of one catalogue, looked up by the names that engines use."""

    def __init__(self, tagged: Mapping[str, str]) -> None:
        self._by_column: dict[Path, list[tuple[Path, str, str]]] = {}
        self._names: dict[str, tuple[str, str]] = {}
        for name, tag in tagged.items():
            path = _path(name)
            if len(path) < 2 or not all(path):
                raise AuthorError(
                    f"tagged[{name!r}] names no column of a table. Write it as schema.table.column."
                )
            self._by_column.setdefault(path[-2:], []).append((path, name, tag))
            self._names[name] = path[-1], tag

    def read(self, inspection: Inspection, statement: str) -> SQLReading:
        """The engine's findings with the tags of this catalogue. Where it has doubts, names in the text count too."""
        personal = dict(self._find_tags(inspection))
        if inspection.doubts and len(statement) <= MAX_MESSAGE_LENGTH:  # what is longer is shown to nobody
            personal |= self._find_mentions(statement)
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

    def _find_mentions(self, statement: str) -> dict[str, str]:
        """Tagged columns whose names stand in a text that the engine could not take apart."""
        text = statement.lower()
        words = set(WORD.findall(text))
        return {
            name: tag
            for name, (column, tag) in self._names.items()
            if column in words or (not column.isidentifier() and column in text)
        }


def _path(name: str) -> Path:
    return tuple(name.lower().split("."))
