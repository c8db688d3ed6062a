"""Errands with real effects, each behind a guard: a file that goes, a letter that is sent, a table that is queried."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from askback import guard
from askback.guards.sql import SQLCatalogue, guard_sql

KNOWN = SQLCatalogue(
    tables={"main.people": {"id": "INTEGER", "name": "TEXT", "town": "TEXT"}},
    tagged={"main.people.name": "names"},
    examples={"names": "Robin Example"},
)

FEW = 2
"""Rows, for who chooses to run it for fewer."""

NAMES = ("ada", "bob", "cyd")

STATEMENT = """SELECT name, town,
    'a text that is so long that it is broken somewhere, and then: It shows and tests no personal columns.' AS said
FROM people
WHERE town IN ('Delft', 'Leiden')
  AND id > 0
  AND id < 100
  AND name <> 'nobody'
  AND name <> 'somebody'
  AND name <> 'anybody'
ORDER BY id"""

PATIENCE = timedelta(minutes=1)


class Errands:
    """The functions, and the folder in which they leave their marks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database, self.letters = folder / "people.db", folder / "letters.txt"

    def prepare(self) -> "Errands":
        """A table to query."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, town TEXT)")
            connection.executemany(
                "INSERT INTO people (name, town) VALUES (?, 'Delft')", [(name,) for name in NAMES]
            )
        return self

    @property
    def sent(self) -> list[str]:
        return self.letters.read_text().splitlines() if self.letters.exists() else []

    def add(self, name: str) -> Path:
        """A file to delete."""
        file = self.folder / name
        file.write_text("old")
        return file

    def functions(self) -> list[Callable[..., Any]]:
        @guard("Delete {path}?", timeout=PATIENCE)
        async def delete(path: str) -> str:
            (self.folder / path).unlink()
            return f"{path} is gone"

        @guard("Send {text} to {to}?", offers=["conversation", timedelta(hours=1)], key="{to}")
        def send(to: str, text: str) -> str:
            with self.letters.open("a") as letters:
                letters.write(f"{to}: {text}\n")
            return f"sent to {to}"

        @guard_sql("statement", dialect="sqlite", catalogue=KNOWN, most_rows=FEW)
        async def query(statement: str) -> str:
            with closing(sqlite3.connect(self.database)) as connection:
                return " ".join(str(row[0]) for row in connection.execute(statement))

        return [delete, send, query]
