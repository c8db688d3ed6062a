"""What a source of a catalogue is, and the forms in which an author may give one."""

import inspect
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Protocol, cast, runtime_checkable

from askback.errors import AuthorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines import Engine
from askback.guards.sql.names import Dialect
from askback.guards.sql.sources.toml import TOMLSource


@runtime_checkable
class Source(Protocol):
    """Tells what is known of a database. It is asked anew for each statement, many times at once."""

    async def load(self) -> SQLCatalogue:
        """All of it, as it is now; raises where something cannot be told, and never leaves it out in silence."""
        ...


One = SQLCatalogue | Source | str | PathLike[str] | Callable[[], SQLCatalogue | Awaitable[SQLCatalogue]]
"""A catalogue itself, a source, the path of a TOML file, or a function."""

Catalogued = One | Sequence[One]


@dataclass(frozen=True, slots=True)
class CalledSource:
    """An author's own function in a source's place."""

    call: Callable[[], SQLCatalogue | Awaitable[SQLCatalogue]]

    async def load(self) -> SQLCatalogue:
        answer = self.call()
        known = await answer if inspect.isawaitable(answer) else answer
        if not isinstance(known, SQLCatalogue):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            name = getattr(self.call, "__qualname__", type(self.call).__name__)
            raise AuthorError(
                f"{name} gave {type(known).__name__} for a catalogue. Return an askback.guards.sql.SQLCatalogue."
            )
        return known


@dataclass(frozen=True, slots=True)
class FixedSource:
    """A catalogue that does not change."""

    catalogue: SQLCatalogue

    async def load(self) -> SQLCatalogue:
        return self.catalogue

    async def version(self, _: Hashable) -> Hashable:
        return "fixed"


@dataclass(frozen=True, slots=True)
class JoinedSource:
    """Tables from one place, tags from another. Where one cannot tell, nothing is told."""

    sources: tuple[Source, ...]

    async def load(self) -> SQLCatalogue:
        known = SQLCatalogue()
        for source in self.sources:
            known |= await source.load()
        return known

    async def version(self, schema: Hashable) -> Hashable:
        versions = [await version_of(source, schema) for source in self.sources]
        return None if None in versions else tuple(versions)


async def version_of(source: Source, schema: Hashable) -> Hashable:
    """What differs whenever `known()` would; None where that is not known. `schema` is the engine's token.

    A source that can say it for less than a whole reading has a method `version`.
    """
    version: Callable[[Hashable], Awaitable[Hashable]] | None = getattr(source, "version", None)
    return None if version is None else await version(schema)


def source_of(catalogue: Catalogued) -> Source:
    """The source that an author means."""
    if isinstance(catalogue, SQLCatalogue):
        return FixedSource(catalogue)
    if isinstance(catalogue, str | PathLike):
        return TOMLSource(cast("str | PathLike[str]", catalogue))
    if isinstance(catalogue, Source):
        return catalogue
    if isinstance(catalogue, Sequence) and catalogue:
        return JoinedSource(tuple(map(source_of, cast("Sequence[One]", catalogue))))
    if callable(cast("object", catalogue)):
        return CalledSource(cast("Callable[[], SQLCatalogue | Awaitable[SQLCatalogue]]", catalogue))
    raise AuthorError(
        f"catalogue={catalogue!r:.80} tells of no tables. Give the path of a TOML file, a function, a SQLCatalogue, "
        "a source of askback.guards.sql.sources, or a list of these."
    )


def engine_of(source: Source, dialect: Dialect) -> Engine | None:
    """The engine behind a source of a live database, where it speaks this dialect; None where there is none."""
    if isinstance(source, JoinedSource):
        engines = [engine for one in source.sources if (engine := engine_of(one, dialect)) is not None]
        if len(engines) > 1:
            raise AuthorError(
                "catalogue=[...] has several live databases, and only one of them runs the statements. Say which with "
                "engine=..., for example engine=source.engine."
            )
        return engines[0] if engines else None
    engine = getattr(source, "engine", None)
    return engine if isinstance(engine, Engine) and getattr(engine, "dialect", dialect) == dialect else None
