"""What runs in worker threads beside the event loop."""

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from askback.guards.sql import threads
from askback.guards.sql.engines import Engine
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.engines.sqlite import SQLiteEngine

WIDE = f"SELECT {', '.join(f'a + {number}' for number in range(500))} FROM t"


async def count_turns(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> int:
    pauses: list[float] = []
    monkeypatch.setattr(threads.time, "sleep", pauses.append)
    inspection = await engine.inspect(WIDE)
    assert inspection.columns == {"main.t.a"} and not inspection.doubts
    return len(pauses)


async def test_a_wide_statement_gives_turns_to_other_threads_on_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(tmp_path / "wide.db")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    assert await count_turns(SQLiteEngine(tmp_path / "wide.db"), monkeypatch) > 10


async def test_a_wide_statement_gives_turns_to_other_threads_on_duckdb(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        assert await count_turns(DuckDBEngine(connection), monkeypatch) > 10


async def test_a_short_statement_does_not_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(threads.time, "sleep", pauses.append)
    with duckdb.connect() as connection:
        await DuckDBEngine(connection).inspect("SELECT 1 AS a, 2 AS b")
    assert not pauses
