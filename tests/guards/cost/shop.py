"""One shop on three engines, and what statements over it really read."""

from askback.guards.cost import CostLimits, Estimator

ORDERS = 200_000
CUSTOMERS = 1_000

READS: dict[str, float] = {
    "select * from orders": ORDERS,
    "select name from orders where price > 100": ORDERS,
    "select name from orders where name like '%77'": ORDERS,
    "select max(price), min(name) from orders where price > 0": ORDERS,
    "select customer, sum(price) from orders group by customer": ORDERS,
    "select name from orders order by price desc": ORDERS,
    "select distinct name from customers": CUSTOMERS,
    "select c.name, o.price from orders o join customers c on c.id = o.customer": ORDERS + CUSTOMERS,
    "select c.name, sum(o.price) from orders o, customers c where c.id = o.customer group by c.name": ORDERS
    + CUSTOMERS,
    "with x as (select * from orders where price > 5) select count(name) from x": ORDERS,
    "with x as (select * from orders), y as (select * from x) select max(price) from y where name > 'a'": ORDERS,
    "select name from dear": ORDERS,
    "select d.name from dear d join customers c on c.id = d.customer": ORDERS + CUSTOMERS,
    "select name from (select * from orders where price > 3) as inside": ORDERS,
    "select name from customers union all select name from orders": ORDERS + CUSTOMERS,
    'select "O".name from "orders" as "O"': ORDERS,
    "select name from customers where id in (select customer from orders)": ORDERS + CUSTOMERS,
}
"""Rows that each has to look at. `orders` has an index on nothing but its id."""

PRODUCTS = [
    "select * from orders a, orders b",
    "select count(*) from orders a cross join orders b",
    "select 1 from orders a join orders b on a.price < b.price + length(a.name)",
    "with x as (select * from orders) select count(*) from x a, x b where a.name > b.name",
]
"""They read little and handle the square of it."""

BROKEN = [
    "selec * from orders",
    "select * from nowhere",
    "select nothing from orders",
    "",
    "-- nothing",
    "select 1; select 2",
    "select * from orders; delete from orders",
    "explain select * from orders",
    "explain analyze delete from orders",
    "analyze",
    "drop table orders",
    "begin",
    "select * from orders where",
]

WRITES = [
    "insert into customers (id, name) select id + 5000, name from customers",
    "update customers set name = 'x'",
    "delete from customers",
]


def is_near(estimate: float | None, truth: float) -> bool:
    """Within a factor of three."""
    return estimate is not None and truth / 3 <= estimate <= truth * 3


async def check_rows(estimator: Estimator, statement: str) -> None:
    """That one of `READS` is taken for as many rows as it reads."""
    estimate = await estimator.estimate(statement)
    assert is_near(estimate.rows, READS[statement])
    assert CostLimits(rows=4 * ORDERS).exceeded(estimate) == ()
