"""Where a catalogue comes from: a source, in the forms in which an author may give one."""

import inspect
import os
import time
import tomllib
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast, runtime_checkable

import anyio.to_thread

from askback.errors import AuthorError, OperatorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines import Engine
from askback.guards.sql.names import Dialect

SECTIONS = ("columns", "tags", "tables", "views")

FACTS = ("title", "example")


FRESH = 2.0
"""Seconds in which a file that was just written may be written again without another time of change."""


class TOMLSource:
    """A file that is read again whenever it was changed, so that a tag counts as soon as the file is saved."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)

    async def version(self, _: Hashable) -> Hashable:
        """The file's identity, size and times; None while it is so fresh that these might not differ after a change."""
        found = os.stat(self._path)
        is_fresh = time.time() - max(found.st_mtime, found.st_ctime) < FRESH
        return None if is_fresh else (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    async def load(self) -> SQLCatalogue:
        return parse_toml(await anyio.to_thread.run_sync(self._path.read_text, "utf-8"))


def parse_toml(text: str) -> SQLCatalogue:
    """Read the text of such a file. An unknown word is refused, since it may have been meant as a tag."""
    try:
        file = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        refuse(f"it is no TOML ({error})")
    for name, section in file.items():
        if name not in SECTIONS or not isinstance(section, dict):
            refuse(f"[{name}] is no section of it; those are {', '.join(f'[{known}]' for known in SECTIONS)}")
    tags = dict(read_facts(file.get("tags", {})))
    return SQLCatalogue(
        tables=read_tables(file.get("tables", {})),
        views=dict(read_texts(file.get("views", {}), "views")),
        tagged=dict(read_texts(file.get("columns", {}), "columns")),
        examples={tag: facts["example"] for tag, facts in tags.items() if "example" in facts},
        titles={tag: facts["title"] for tag, facts in tags.items() if "title" in facts},
    )


def read_texts(section: Mapping[str, Any], where: str, before: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts. `a.b.c = "x"` without quotes is a table in a table to TOML, and means the same."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from read_texts(cast("dict[str, Any]", value), where, f"{before}{name}.")
        elif isinstance(value, str) and value.strip():
            yield f"{before}{name}", value
        else:
            refuse(f"[{where}] {before}{name} is not a text that says something")


def read_tables(section: Mapping[str, Any], before: str = "") -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for name, value in section.items():
        if isinstance(value, list):
            tables[f"{before}{name}"] = {str(column): "" for column in cast("list[object]", value)}
        elif isinstance(value, dict):
            tables |= read_tables(cast("dict[str, Any]", value), f"{before}{name}.")
        elif isinstance(value, str) and before:
            tables.setdefault(before[:-1], {})[name] = value
        else:
            refuse(f"[tables] {before}{name} is neither a list of columns nor a table of columns and types")
    return tables


def read_facts(section: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for tag, facts in section.items():
        if not isinstance(facts, dict):
            refuse(f"[tags] {tag} is no table; write [tags.{tag}] with {' and '.join(FACTS)}")
        found = dict(read_texts(cast("dict[str, Any]", facts), f"tags.{tag}"))
        if unknown := sorted(found.keys() - set(FACTS)):
            refuse(f"[tags.{tag}] {unknown[0]} means nothing; it can say {' and '.join(FACTS)}")
        yield tag, found


def refuse(problem: str) -> NoReturn:
    raise OperatorError(f"The catalogue's file cannot be followed: {problem}. Mend it.")


@runtime_checkable
class Source(Protocol):
    """Gives the catalogue of a database. It is asked for each statement, many times at once."""

    async def load(self) -> SQLCatalogue:
        """Load all of it as it is now. Raises if a part cannot be read, and never leaves that part out in silence."""
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
    """Several sources as one: tables from one place, tags from another. If one fails, all fail."""

    sources: tuple[Source, ...]

    async def load(self) -> SQLCatalogue:
        known = SQLCatalogue()
        for source in self.sources:
            known |= await source.load()
        return known

    async def version(self, schema: Hashable) -> Hashable:
        versions = [await find_version(source, schema) for source in self.sources]
        return None if None in versions else tuple(versions)


async def find_version(source: Source, schema: Hashable) -> Hashable:
    """A token that differs whenever `load()` would; None without one. `schema` is the engine's token for the schema.

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
        f"catalogue={catalogue!r:.80} is no catalogue. Give the path of a TOML file, a function, a SQLCatalogue, "
        "a source of askback.guards.sql.sources, or a list of these."
    )


def find_engine(source: Source, dialect: Dialect) -> Engine | None:
    """The engine behind a source of a live database, if it speaks this dialect; else None."""
    if isinstance(source, JoinedSource):
        engines = [engine for one in source.sources if (engine := find_engine(one, dialect)) is not None]
        if len(engines) > 1:
            raise AuthorError(
                "catalogue=[...] has several live databases, and only one of them runs the statements. Say which with "
                "engine=..., for example engine=source.engine."
            )
        return engines[0] if engines else None
    engine = getattr(source, "engine", None)
    return engine if isinstance(engine, Engine) and getattr(engine, "dialect", dialect) == dialect else None
