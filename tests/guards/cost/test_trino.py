"""The plans that Trino's documentation shows, and shapes that they may take. No live server was asked."""

import json
from typing import Any

import pytest

from askback.guards.cost import CostLimits, EstimateFailed
from askback.guards.cost.trino import TrinoEstimator, read_plan

UNKNOWN = dict.fromkeys(("outputRowCount", "outputSizeInBytes", "cpuCost", "maxMemory", "networkCost"), "NaN")


def cost(rows: Any, size: Any) -> dict[str, Any]:
    return {
        "outputRowCount": rows,
        "outputSizeInBytes": size,
        "cpuCost": size,
        "maxMemory": 0,
        "networkCost": 0,
    }


def table(name: str, estimate: dict[str, Any]) -> dict[str, Any]:
    return {
        "table": {"catalog": "hive", "schemaTable": {"schema": "tpch", "table": name}},
        "constraint": {
            "none": False,
            "columnConstraints": [
                {
                    "columnName": "orderkey",
                    "type": "bigint",
                    "domain": {
                        "nullsAllowed": False,
                        "ranges": [
                            {
                                "low": {"value": "1", "bound": "EXACTLY"},
                                "high": {"value": "1", "bound": "EXACTLY"},
                            }
                        ],
                    },
                }
            ],
        },
        "estimate": estimate,
    }


def plan(*tables: dict[str, Any], whole: dict[str, Any]) -> str:
    return json.dumps({"inputTableColumnInfos": list(tables), "estimate": whole})


DOCUMENTED = json.dumps(
    {
        "inputTableColumnInfos": [table("test_orders", cost(2, 40))],
        "outputTable": {"catalog": "hive", "schemaTable": {"schema": "tpch", "table": "test_orders"}},
        "estimate": UNKNOWN,
    }
)


def answering(text: str) -> TrinoEstimator:
    return TrinoEstimator(lambda _: text)


def test_the_documented_plan_is_read():
    estimate = read_plan(DOCUMENTED)
    assert (estimate.rows, estimate.bytes, estimate.widest) == (2, 40, None)
    assert CostLimits(rows=100).exceeded(estimate) == ("rows",), "what the whole gives is not known"


async def test_tables_are_summed_up_and_the_whole_is_kept():
    text = plan(table("a", cost(1000, 5000)), table("b", cost(20.0, 100.5)), whole=cost(70_000, 1))
    estimate = await answering(text).estimate("select * from a join b on a.x = b.x")
    assert (estimate.rows, estimate.bytes, estimate.widest) == (1020, 5100.5, 70_000)


@pytest.mark.parametrize("number", ["NaN", float("nan"), "Infinity", None, -1, True])
def test_one_table_without_statistics_leaves_the_sum_unknown(number: Any):
    estimate = read_plan(
        plan(table("a", cost(1000, 5000)), table("b", cost(number, number)), whole=cost(1, 1))
    )
    assert (estimate.rows, estimate.bytes) == (None, None)
    assert CostLimits(rows=1e12, bytes=1e12).exceeded(estimate) == ("rows", "bytes")


@pytest.mark.parametrize(
    "statement",
    [
        "select count(*) from a, b",
        "select count(*) from a cross join b",
        "select count(*) from a join b on a.x < b.x",
        "select count(*) from a join b on a.x = b.x or true",
        "select count(*) from a join b on a.x = a.y",
        "select count(*) from a join b on 1 = 1",
        "select count(*) from a where exists (select 1 from b where b.x > a.x)",
        "select x from a where x in (select x from b where b.y > a.y)",
        "select (select max(x) from b where b.x < a.x) from a",
        "select * from a where x > (select max(x) from b where b.y < a.y)",
        "select count(*) from unnest(sequence(1, 1000000000)) as t (n)",
        "with recursive r (n) as (select 1 union all select n + 1 from r) select count(*) from r",
    ],
)
async def test_a_plan_that_hides_a_product_is_not_trusted(statement: str):
    estimate = await answering(plan(table("a", cost(1000, 5000)), whole=cost(1, 8))).estimate(statement)
    assert CostLimits(rows=1e6).exceeded(estimate) == ("rows",)


@pytest.mark.parametrize(
    "statement",
    [
        "select x from a",
        "select count(*) from a join b using (x)",
        "with c as (select x from a) select count(*) from c join (select x from b) d on c.x = d.x and c.y > d.y",
        "select x from a union all (select x from b)",
        "insert into c select x from a",
    ],
)
async def test_a_plan_that_shows_all_is_trusted(statement: str):
    estimate = await answering(plan(table("a", cost(1000, 5000)), whole=cost(1, 8))).estimate(statement)
    assert CostLimits(rows=1e6).exceeded(estimate) == ()


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", '"plan"', '{"inputTableColumnInfos": [{}], "estimate": {}}', "Query Plan\n----"],
)
async def test_a_plan_of_another_shape_gives_no_estimate(text: str):
    with pytest.raises(EstimateFailed, match="another shape"):
        await answering(text).estimate("select 1")


async def test_the_statement_is_only_explained():
    sent: list[str] = []

    async def run(statement: str) -> str:
        sent.append(statement)
        return plan(whole=cost(1, 1))

    assert (await TrinoEstimator(run).estimate("delete from orders;")).rows == 0
    assert sent == ["EXPLAIN (TYPE IO, FORMAT JSON) delete from orders"]
    for statement in [
        "select 1; select 2",
        "analyze orders",
        "explain analyze select 1",
        "call x.y()",
        "execute p",
    ]:
        with pytest.raises(EstimateFailed):
            await TrinoEstimator(run).estimate(statement)
    assert len(sent) == 1


async def test_a_server_that_refuses_gives_no_estimate():
    def refuse(_: str) -> str:
        raise ConnectionError("away")

    with pytest.raises(EstimateFailed, match="away"):
        await TrinoEstimator(refuse).estimate("select 1")
