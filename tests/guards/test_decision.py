"""Whatever is missing when a guard has to ask, nothing runs: counted in a real database, on every revision and host."""

import re
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from askback import guard
from askback.guards.cost import CostLimits
from askback.guards.cost.sqlite import SQLiteEstimator
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.stores import MemoryStore, Store
from askback.stores.redis import RedisStore
from askback.testing import accept, decline, run_tool, silence
from askback.testing.script import Asked, Reply
from scripts.services import redis_server
from tests.guards.serving import Serve
from tests.support.services import found

pytestmark = pytest.mark.anyio

KNOWN = SQLCatalogue(tables={"main.letters": {"id": "INTEGER", "said": "TEXT"}})
HARMLESS = "SELECT count(*) FROM letters"
WRITES = "INSERT INTO letters (said) VALUES ('hello')"
HOUR, ONCE = accept(decision="for 3600"), accept(decision="once")
FORMS: dict[str, Any] = {"elicitation": {}}


class Book:
    """A database, and the one tool that runs what it is given there; what really ran is written into it too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE letters (id INTEGER PRIMARY KEY, said TEXT)")
            connection.execute("CREATE TABLE ran (statement TEXT)")

    @property
    def ran(self) -> list[str]:
        with closing(sqlite3.connect(self.path)) as connection:
            return [statement for (statement,) in connection.execute("SELECT statement FROM ran")]

    def run(self, statement: str) -> str:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("INSERT INTO ran VALUES (?)", [statement])
            return str(connection.execute(statement).fetchall())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """One thing that is missing; the person says yes to everything, unless they are told otherwise."""

    says: str
    """Where the call ends, part of what is told."""
    statement: str = WRITES
    answers: list[Reply] = field(default_factory=lambda: [HOUR])
    capabilities: dict[str, Any] = field(default_factory=lambda: FORMS)
    timeout: float = 60
    engine: str = "book.db"
    is_store_down: bool = False
    asks: str = ""
    """What the person is asked all the same."""


NOWHERE = "no such database"
CANNOT_ASK = "nobody can be asked here|did not declare that it can show a form"

LACKS = {
    "the client cannot ask": Lack(capabilities={}, says=CANNOT_ASK),
    "the store is down": Lack(is_store_down=True, says="cannot keep what this call needs"),
    "the estimate fails": Lack(
        statement=HARMLESS,
        engine=NOWHERE,
        answers=[decline()],
        asks="nobody can tell what it would cost",
        says="the person said no",
    ),
    "the estimate fails and nobody can be asked": Lack(
        statement=HARMLESS, engine=NOWHERE, capabilities={}, says=CANNOT_ASK
    ),
    "the person is silent": Lack(
        answers=[silence()], timeout=0.05, asks="It changes:", says="nobody answered in time"
    ),
}
"""A store is needed for the yes that lasts, before anybody is asked; an estimate, to pass what is harmless unasked."""


def tool_of(book: Book, lack: Lack) -> Any:
    @guard_sql(
        "statement",
        dialect="sqlite",
        catalogue=KNOWN,
        cost=SQLiteEstimator(book.path.with_name(lack.engine)),
        limits=CostLimits(rows=1_000_000),
        offers=[3600],
        timeout=lack.timeout,
    )
    async def run(statement: str) -> str:
        return book.run(statement)

    return run


@asynccontextmanager
async def store_for(lack: Lack) -> AsyncGenerator[Store]:
    """Where it is to be down, a real Redis, which is killed once something was kept there."""
    if not lack.is_store_down:
        yield MemoryStore()
        return
    with found(), redis_server(keeps=False) as redis:
        store = RedisStore(redis.url)
        await store.put("somebody", "something", b"kept")
        redis.kill()
        yield store
        await store.close()


async def end_of(server: Any, lack: Lack, revision: str) -> tuple[str, list[str]]:
    """What the agent is told in the end, and what the person was asked."""
    asked: list[str] = []
    answers = iter(lack.answers)

    def answer(question: Asked) -> Reply:
        asked.append(question.message)
        return next(answers)

    given = {"statement": lack.statement}
    try:
        run = await run_tool(
            server,
            "run",
            given,
            answer,
            revision=revision,
            capabilities=lack.capabilities,
            always_replay=False,
        )
    except MCPError as error:
        return str(error), asked
    assert run.is_error
    return run.text, asked


@pytest.mark.verifies("R15")
@pytest.mark.parametrize(
    "lack",
    [
        pytest.param(name, marks=[pytest.mark.services] if lack.is_store_down else [])
        for name, lack in LACKS.items()
    ],
)
async def test_nothing_runs_where_something_is_missing(
    serve: Serve, revision: str, tmp_path: Path, lack: str
):
    given, book = LACKS[lack], Book(tmp_path / "book.db")
    async with store_for(given) as store:
        told, asked = await end_of(serve(tool_of(book, given), store=store), given, revision)
    assert book.ran == []
    assert re.search(given.says, told)
    assert len(asked) == bool(given.asks) and given.asks in "".join(asked)


@pytest.mark.services
async def test_on_a_yes_that_cannot_be_kept_nothing_runs(serve: Serve, revision: str, tmp_path: Path):
    log = tmp_path / "ran"

    @guard("Write to {to}?")
    async def write(to: str) -> str:
        log.touch()
        return f"written to {to}"

    with found(), redis_server(keeps=False) as redis:

        def answer(question: Asked) -> Reply:
            redis.kill()
            return accept(yes=True)

        store = RedisStore(redis.url)
        call = run_tool(
            serve(write, store=store),
            "write",
            {"to": "ada"},
            answer,
            revision=revision,
            always_replay=False,
        )
        with pytest.raises(MCPError, match="cannot keep what this call needs"):
            await call
        await store.close()
    assert not log.exists()


@pytest.mark.parametrize("statement", [HARMLESS, WRITES])
async def test_with_all_there_it_runs_once(serve: Serve, revision: str, tmp_path: Path, statement: str):
    book = Book(tmp_path / "book.db")
    tool = tool_of(book, Lack(says=""))
    run = await run_tool(
        serve(tool),
        "run",
        {"statement": statement},
        [ONCE] if statement == WRITES else [],
        revision=revision,
        always_replay=False,
    )
    assert not run.is_error and book.ran == [statement]
