"""The protocol that every engine implements, and its answer about a statement: an inspection."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Protocol, runtime_checkable

from askback.errors import AuthorError


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The columns a statement reads and the changes it makes, as the engine resolved them. Nothing of it has run."""

    columns: frozenset[str] = frozenset()
    """Every stored column that the result or an error can depend on, as `schema.table.column`, spelled as the engine
    stores it. Columns of views that the statement reads count too. A table of an attached database has its database
    in front."""
    families: frozenset[frozenset[str]] = frozenset()
    """Tables that hold each other's rows, as a partitioned one and its partitions do, by `schema.table`: for each table
    among those read that has such relatives, all of them. What is tagged on one counts on the others."""
    writes: tuple[str, ...] = ()
    """Changes in words: `insert into main.orders`."""
    doubts: tuple[str, ...] = ()
    """Reasons why the engine cannot say more before the statement runs, in our words and not the engine's."""
    is_query: bool = False
    """Whether it is exactly one query that changes nothing."""
    can_be_planned: bool = False
    """Whether EXPLAIN is safe: it opens no file, calls no unknown function and leaves nothing behind."""
    schema: Hashable = field(default=None, compare=False, repr=False)
    """A token for the schema as it was at this moment: equal tokens, equal tables, views and comments. None where the
    engine cannot tell."""


def doubt(*sentences: str) -> Inspection:
    """The inspection of a statement that is looked at no further, with the reasons."""
    return Inspection(doubts=sentences)


@dataclass(frozen=True, slots=True)
class SQLRows:
    """The result of a statement."""

    names: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    has_more: bool = False
    """Whether there were more rows than `max_rows`."""


def cut_rows(names: tuple[str, ...], rows: Sequence[tuple[Any, ...]], max_rows: int | None) -> SQLRows:
    """The result of a statement of which one row more than `max_rows` was fetched, or all rows."""
    return SQLRows(names, rows[:max_rows], has_more=max_rows is not None and len(rows) > max_rows)


@runtime_checkable
class Engine(Protocol):
    """A live database that says what a statement reads and changes. It is asked many times at once."""

    @property
    def name(self) -> str:
        """The name that people know: "DuckDB"."""
        ...

    async def inspect(self, statement: str) -> Inspection:
        """Find out what a statement reads and changes without running any of it.

        Never raises for a statement, however broken: it gives a doubt instead. Raises only where the database
        cannot be reached. Never blocks the event loop, and ends within the engine's timeout.
        """
        ...


@dataclass(frozen=True, slots=True)
class CalledEngine:
    """A function of the author's in an engine's place."""

    call: Callable[[str], Inspection | Awaitable[Inspection]]
    name: str = "The database"

    async def inspect(self, statement: str) -> Inspection:
        answer = self.call(statement)
        inspection = await answer if isawaitable(answer) else answer
        if not isinstance(inspection, Inspection):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise AuthorError(
                f"The function in CalledEngine(...) gave an object of type {type(inspection).__name__}. Return an "
                "askback.guards.sql.engines.Inspection."
            )
        return inspection


DOTTED = "a name in it has a dot"


def join_columns(columns: Iterable[tuple[str, ...]]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Columns by their full names, and a doubt where the dots of a name could be taken for those between names."""
    found = set(columns)
    is_dotted = any("." in part for parts in found for part in parts)
    return frozenset(map(".".join, found)), (DOTTED,) if is_dotted else ()
