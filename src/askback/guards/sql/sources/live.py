"""Sources of live databases: their options, and tags in comments on columns or in a table of the database."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from askback.errors import OperatorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.names import quote_name

NOTE = re.compile(r"@personal(?:\s*:\s*([\w-]+))?", re.IGNORECASE)
"""As in `COMMENT ON COLUMN customers.email IS 'For receipts. @personal:contact'`; without a tag it is "personal"."""

UNNAMED = "personal"


Database = TypeVar("Database")


class LiveSource(Generic[Database]):
    """A source that asks a database, with its options."""

    def __init__(
        self,
        database: Database,
        *,
        comments: bool = True,
        tag_table: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        self._database, self._comments, self._tag_table = database, comments, tag_table
        self._timeout = timeout

    async def version(self, schema: Hashable) -> Hashable:
        """The engine's token for the schema, on which all of this depends; None with a table of tags."""
        return None if self._tag_table else schema


class Column(NamedTuple):
    """A column as an engine's own tables describe it."""

    table: str
    """The full name."""
    name: str
    kind: str
    comment: str | None = None


def make_catalogue(columns: Iterable[Column], views: Mapping[str, str], *, comments: bool) -> SQLCatalogue:
    """Leave out tables with a dot within a name, which could be mistaken. So statements on them are asked about."""
    tables: dict[str, dict[str, str]] = {}
    tagged: dict[str, str] = {}
    odd: set[str] = set()
    for table, name, kind, comment in columns:
        tables.setdefault(table, {})[name] = kind
        if "." in name:
            odd.add(table)
        if comments and comment and (note := NOTE.search(comment)):
            tagged[f"{table}.{name}"] = note[1] or UNNAMED
    return SQLCatalogue(
        tables={name: of for name, of in tables.items() if name not in odd and name not in views},
        views={name: query for name, query in views.items() if name not in odd},
        tagged={name: tag for name, tag in tagged.items() if name.rpartition(".")[0] not in odd},
    )


def join_name(*parts: str) -> str | None:
    """The name in a catalogue; None where a part has a dot itself."""
    return None if any("." in part for part in parts) else ".".join(parts)


def write_tag_query(table: str) -> str:
    """All of the table of tags, whose name the operator gives as `schema.table`."""
    return "SELECT * FROM " + ".".join(map(quote_name, table.split(".")))


def read_tag_rows(table: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> SQLCatalogue:
    """Its columns are `name` (schema.table.column), `tag` and, where there is one, `example`."""
    places = {name.lower(): place for place, name in enumerate(names)}
    if missing := {"name", "tag"} - places.keys():
        raise OperatorError(
            f"The table of tags, {table}, has no column {min(missing)!r}. It needs `name`, which holds "
            "schema.table.column, and `tag`; it may have `example`."
        )
    tagged: dict[str, str] = {}
    examples: dict[str, str] = {}
    for row in rows:
        name, tag = row[places["name"]], row[places["tag"]]
        if not isinstance(name, str) or not isinstance(tag, str) or not name.strip() or not tag.strip():
            raise OperatorError(f"The table of tags, {table}, has a row without a name or a tag. Mend it.")
        tagged[name] = tag
        example = row[places["example"]] if "example" in places else None
        if isinstance(example, str) and example.strip():
            examples[tag] = example
    return SQLCatalogue(tagged=tagged, examples=examples)


def read_tags(cursor: Any, table: str) -> SQLCatalogue:
    """The table of tags, read with a cursor of Python's database API."""
    found = cursor.execute(write_tag_query(table))
    return read_tag_rows(table, [column[0] for column in found.description], found.fetchall())
