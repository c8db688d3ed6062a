"""A catalogue in a TOML file.

[columns]
"main.customers.email" = "contact"

[tags.contact]
title = "contact details"
example = "ada@example.org"

[tables]                                  # these two where no live database tells of them
"main.customers" = ["id", "email"]        # or a table of names and types

[views]
"main.people" = "SELECT * FROM customers"
"""

import os
import time
import tomllib
from collections.abc import Hashable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, cast

import anyio.to_thread

from askback.errors import OperatorError
from askback.guards.sql.catalogue import SQLCatalogue

SECTIONS = ("columns", "tags", "tables", "views")

FACTS = ("title", "example")


FRESH = 2.0
"""Seconds in which a file that was just written may be written again without another time of change."""


class TOMLSource:
    """A file that is read again whenever it was changed, so that a tag counts as soon as the file is saved."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)

    async def version(self, _: Hashable) -> Hashable:
        """What the file system says of it; None while it is so fresh that this might not tell two versions apart."""
        told = os.stat(self._path)
        is_fresh = time.time() - max(told.st_mtime, told.st_ctime) < FRESH
        return None if is_fresh else (told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)

    async def load(self) -> SQLCatalogue:
        return parsed(await anyio.to_thread.run_sync(self._path.read_text, "utf-8"))


def parsed(text: str) -> SQLCatalogue:
    """What such a file says; a word that is not understood is refused, for it may have been meant as a tag."""
    try:
        file = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        refuse(f"it is no TOML ({error})")
    for name, section in file.items():
        if name not in SECTIONS or not isinstance(section, dict):
            refuse(f"[{name}] is no section of it; those are {', '.join(f'[{known}]' for known in SECTIONS)}")
    tags = dict(facts_of(file.get("tags", {})))
    return SQLCatalogue(
        tables=tables_of(file.get("tables", {})),
        views=dict(texts(file.get("views", {}), "views")),
        tagged=dict(texts(file.get("columns", {}), "columns")),
        examples={tag: facts["example"] for tag, facts in tags.items() if "example" in facts},
        titles={tag: facts["title"] for tag, facts in tags.items() if "title" in facts},
    )


def texts(section: Mapping[str, Any], where: str, before: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts. `a.b.c = "x"` without quotes is a table in a table to TOML, and means the same."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from texts(cast("dict[str, Any]", value), where, f"{before}{name}.")
        elif isinstance(value, str) and value.strip():
            yield f"{before}{name}", value
        else:
            refuse(f"[{where}] {before}{name} is not a text that says something")


def tables_of(section: Mapping[str, Any], before: str = "") -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for name, value in section.items():
        if isinstance(value, list):
            tables[f"{before}{name}"] = {str(column): "" for column in cast("list[object]", value)}
        elif isinstance(value, dict):
            tables |= tables_of(cast("dict[str, Any]", value), f"{before}{name}.")
        elif isinstance(value, str) and before:
            tables.setdefault(before[:-1], {})[name] = value
        else:
            refuse(f"[tables] {before}{name} is neither a list of columns nor a table of columns and types")
    return tables


def facts_of(section: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for tag, facts in section.items():
        if not isinstance(facts, dict):
            refuse(f"[tags] {tag} is no table; write [tags.{tag}] with {' and '.join(FACTS)}")
        told = dict(texts(cast("dict[str, Any]", facts), f"tags.{tag}"))
        if unknown := sorted(told.keys() - set(FACTS)):
            refuse(f"[tags.{tag}] {unknown[0]} means nothing; it can say {' and '.join(FACTS)}")
        yield tag, told


def refuse(problem: str) -> NoReturn:
    raise OperatorError(f"The catalogue's file cannot be followed: {problem}. Mend it.")
