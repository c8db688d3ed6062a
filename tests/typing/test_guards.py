"""The types of guards: a function keeps its parameters and what it gives, and is awaited."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, assert_type

import pytest

from askback import guard
from askback.guards import Guard, Risk, RiskOption
from askback.guards.cost import Estimator
from askback.guards.cost.duckdb import DuckDBEstimator
from askback.guards.cost.postgres import PostgresEstimator
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.guards.sql.engines import Engine
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.engines.trino import TrinoEngine
from askback.testing import accept, run_tool
from tests.guards.serving import mcpserver


@guard("Delete {path}?")
async def delete(path: str, *, recursive: bool = False) -> int:
    return len(path) + recursive


@guard(when=lambda amount: amount > 100, offers=["conversation", timedelta(hours=1), 60], key="{to}")
def pay(to: str, amount: int) -> str:
    return f"{to} {amount}"


async def weigh(statement: str) -> Risk | None:
    limit = RiskOption(value="limit", title="At most ten", change=lambda arguments: arguments)
    return Risk(message=statement, options=(limit,)) if statement else None


@guard(say=weigh, even_if=("cannot ask", "timed out"), timeout=timedelta(minutes=5), name="query")
@guard(say=lambda statement, tool: f"{tool} {statement}", even_if="cancelled")
async def query(statement: str) -> list[str]:
    return [statement]


SERVER_WIDE: list[Guard] = [
    guard("Send to {to}?", tools="send_*"),
    guard(tools=["a", "b"], hints=("destructiveHint", "openWorldHint"), arguments="path"),
]


async def awaited() -> None:
    """Parameters are checked, and results have their type."""
    assert_type(await delete("a", recursive=True), int)
    assert_type(await pay("ada", 5), str)
    assert_type(await query("select 1"), list[str])
    assert_type(asyncio.create_task(pay("ada", 5)), asyncio.Task[str])
    await delete(1)  # type: ignore[arg-type] # the point
    await pay("ada")  # type: ignore[call-arg] # the point
    kept: Callable[[str, int], Coroutine[Any, Any, str]] = pay
    assert_type(await kept("ada", 5), str)


def mistakes() -> None:
    """What a checker finds before Python does."""
    guard(even_if="declined")  # type: ignore[arg-type] # the point
    guard(offers=["for ever"])  # type: ignore[list-item] # the point
    guard(hints="safeHint")  # type: ignore[arg-type] # the point
    guard(say=lambda path: 5)  # type: ignore[arg-type] # the point


@pytest.mark.anyio
async def test_the_types_hold_at_run_time() -> None:
    run = await run_tool(mcpserver(pay), "pay", {"to": "ada", "amount": 500}, [accept(decision="once")])
    assert run.text == "ada 500"


def test_every_engine_and_estimator_is_taken() -> None:
    async def plan(statement: str) -> str:
        return statement

    engines: list[Engine] = [
        DuckDBEngine("shop.duckdb"),
        PostgresEngine("postgresql://shop"),
        TrinoEngine(plan),
    ]
    estimators: list[Estimator] = [DuckDBEstimator("shop.duckdb"), PostgresEstimator("postgresql://shop")]
    for engine in engines:
        guard_sql(dialect="trino", catalogue=SQLCatalogue(), engine=engine, cost=estimators[0])
    assert [engine.name for engine in engines] == ["DuckDB", "Postgres", "Trino"]
