"""Trino as an engine: plans of the shapes that its documentation and tests show. No live server was asked."""

import json
from typing import Any

import pytest

from askback.guards.sql.engines import Inspection
from askback.guards.sql.engines.trino import NO_PLAN, OTHER_PLAN, OTHER_TABLES, TrinoEngine

ORDERS = {"catalog": "tpch", "schemaTable": {"schema": "tiny", "table": "orders"}}


def io_plan(*tables: dict[str, Any], constrained: tuple[str, ...] = (), output: Any = None) -> str:
    constraint = {"none": False, "columnConstraints": [{"columnName": name} for name in constrained]}
    told: dict[str, Any] = {
        "inputTableColumnInfos": [{"table": table, "constraint": constraint} for table in tables]
    }
    return json.dumps(told if output is None else {**told, "outputTable": output})


def scan(handle: str, *details: str, name: str = "TableScan") -> dict[str, Any]:
    return {"id": "0", "name": name, "descriptor": {"table": handle}, "details": details, "children": []}


def above(*children: dict[str, Any], name: str = "Output") -> dict[str, Any]:
    return {
        "id": "9",
        "name": name,
        "descriptor": {"columnNames": "[x]"},
        "details": ["_col1 := count"],
        "children": children,
    }


def engine(io: str, *fragments: dict[str, Any]) -> TrinoEngine:
    """A cluster with one answer to each kind of EXPLAIN."""

    def run(statement: str) -> str:
        plans = {str(number): fragment for number, fragment in enumerate(fragments)}
        return io if "TYPE IO" in statement else json.dumps(plans)

    return TrinoEngine(run)


async def test_columns_of_every_scan_are_found_in_any_fragment_and_in_what_the_connector_filters() -> None:
    found = await engine(
        io_plan(ORDERS, constrained=("orderdate",)),
        above(),
        above(scan("tpch:tiny:orders", "custkey_1 := tpch:custkey", "tpch:orderstatus", "    :: [[F], [O]]")),
    ).inspect("SELECT count(DISTINCT custkey) FROM orders WHERE orderstatus IN ('F', 'O')")
    assert {
        "tpch.tiny.orders.custkey",
        "tpch.tiny.orders.orderstatus",
        "tpch.tiny.orders.orderdate",
    } <= found.columns
    assert not any(column.endswith((".comment", ".clerk")) for column in found.columns)
    assert found.is_query and found.can_be_planned and not found.doubts and not found.writes


async def test_a_single_tree_is_read_like_fragments() -> None:
    tree = above(scan("hive:tpch:nation", "regionkey := regionkey:bigint:REGULAR"))
    nation = {"catalog": "hive", "schemaTable": {"schema": "tpch", "table": "nation"}}
    found = await TrinoEngine(
        lambda text: io_plan(nation) if "TYPE IO" in text else json.dumps(tree)
    ).inspect("SELECT 1")
    assert "hive.tpch.nation.regionkey" in found.columns and not found.doubts


async def test_an_insert_is_a_change_of_its_table() -> None:
    found = await engine(
        io_plan(ORDERS, output={**ORDERS, "schemaTable": {"schema": "tiny", "table": "copies"}}),
        above(scan("tpch:tiny:orders", "custkey := tpch:custkey")),
    ).inspect("INSERT INTO copies SELECT custkey FROM orders")
    assert found.writes == ("insert into tpch.tiny.copies",) and not found.is_query


@pytest.mark.parametrize(
    ("io", "plan", "doubt"),
    [
        (io_plan(), above(scan("postgres:Query[SELECT * FROM people]", "x := x")), OTHER_TABLES),
        (io_plan(ORDERS), above(), OTHER_TABLES),
        (io_plan(ORDERS), above(scan("tpch:tiny:orders", "x := 17")), OTHER_PLAN),
        (io_plan(ORDERS), above({"name": "TableFunctionProcessor", "children": []}), OTHER_PLAN),
        ("[]", above(), OTHER_PLAN),
        ("not JSON", above(), OTHER_PLAN),
        ("{}", above(), OTHER_PLAN),
    ],
)
async def test_what_a_plan_does_not_say_is_a_doubt(io: str, plan: dict[str, Any], doubt: str) -> None:
    found = await engine(io, plan).inspect("SELECT 1")
    assert doubt in found.doubts and not found.can_be_planned


async def test_no_error_of_the_driver_is_told_and_nothing_that_would_run_is_explained() -> None:
    asked: list[str] = []

    def fail(statement: str) -> str:
        asked.append(statement)
        raise RuntimeError("line 1:8: the value was secret@example.org")

    refused = Inspection(doubts=(NO_PLAN,))
    assert await TrinoEngine(fail).inspect("SELECT 1") == refused
    assert len(asked) == 1
    for statement in (
        "EXPLAIN ANALYZE SELECT 1",
        " execute x",
        "CALL system.runtime.kill_query()",
        "(" * 10_000,
    ):
        assert (await TrinoEngine(fail).inspect(statement)).doubts
    assert len(asked) == 1


async def test_a_cluster_that_is_not_reached_is_no_answer() -> None:
    def fail(_: str) -> str:
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        await TrinoEngine(fail).inspect("SELECT 1")
