"""Tables and views of the oracle's shop as values: names, kinds and what depends on tagged values. Knows no engine."""

from dataclasses import dataclass
from typing import Literal

Dialect = Literal["duckdb", "postgres", "sqlite"]

Kind = Literal["int", "text", "date", "list", "json", "struct", "bool", "any"]
"""What a value is to the grammar; each dialect has its own type for it. `any` is never asked for by kind."""

Cell = str | int | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column that statements can name. Its values depend on tagged ones where `is_tagged`."""

    name: str
    kind: Kind
    is_tagged: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """What can stand in FROM under a name, with its columns."""

    name: str
    columns: tuple[Column, ...]
    has_tagged_rows: bool = False
    """Whether its number of rows, or their order, depends on tagged values."""
    is_call: bool = False
    """Whether the name is a text to be written as it is, such as a call of a table macro, and no identifier."""
    is_opaque: bool = False
    """Whether an engine may have a doubt about all that reads it: then no harmless statement does."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored column with its values. Where `twin` is given, the second database has those: the column is tagged."""

    name: str
    kind: Kind
    values: tuple[Cell, ...]
    twin: tuple[Cell, ...] | None = None

    @property
    def column(self) -> Column:
        return Column(self.name, self.kind, self.twin is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """A stored table."""

    name: str
    columns: tuple[Stored, ...]
    generated: tuple[tuple[Column, str], ...] = ()
    """Columns that the engine computes from the others, with their expressions."""
    key: str | None = "id"
    schema: tuple[str, ...] = ()
    """Where it is, unless that is the schema of most."""
    ending: str = ""
    """What follows its columns where it is created."""
    creation: str = ""
    """The whole statement that creates it, where it is no plain table."""
    has_tagged_rows: bool = False

    @property
    def relation(self) -> Relation:
        computed = (column for column, _ in self.generated)
        columns = (*(stored.column for stored in self.columns), *computed)
        name = ".".join((*self.schema, self.name))
        return Relation(
            name, columns, self.has_tagged_rows, is_call=bool(self.schema), is_opaque=bool(self.creation)
        )


@dataclass(frozen=True, slots=True)
class View:
    """A view with what its columns are."""

    name: str
    query: str
    columns: tuple[Column, ...]
    has_tagged_rows: bool = False
    names: tuple[str, ...] = ()
    """The names that the view gives to its query's columns."""
    is_opaque: bool = False
    is_materialized: bool = False

    @property
    def relation(self) -> Relation:
        return Relation(self.name, self.columns, self.has_tagged_rows, is_opaque=self.is_opaque)


def columns(listed: str) -> tuple[Column, ...]:
    """Columns from a short notation: `id:int, reach:text!`, where `!` is tagged."""
    parts = (part.strip().rpartition(":") for part in listed.split(","))
    return tuple(Column(name, _kind(kind), kind.endswith("!")) for name, _, kind in parts)


def _kind(written: str) -> Kind:
    kinds: dict[str, Kind] = {
        "int": "int", "text": "text", "date": "date", "list": "list", "json": "json", "struct": "struct",
    }  # fmt: skip
    return kinds[written.removesuffix("!")]
