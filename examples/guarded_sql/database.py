"""A shop's database, made up by arithmetic: the same customers and orders on every machine, and nobody real."""

import os
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

ORDERS = 1_000_000
EACH = 10
"""Orders for each customer."""

SHUFFLED = "CREATE TEMP MACRO shuffled(i, salt) AS (i * 2654435761 + salt * 40503) % 4294967296 >> 7"
"""Numbers that look random; `random()` and `hash()` may differ from version to version."""

CUSTOMERS = """
CREATE TABLE customers AS
SELECT
    i AS id,
    format('customer-{:06d}', i) AS name,
    format('customer-{:06d}@example.org', i) AS email,
    DATE '1940-01-01' + CAST(shuffled(i, 1) % 24000 AS INTEGER) AS born,
    ['Delft', 'Leiden', 'Gouda', 'Utrecht', 'Zwolle'][CAST(shuffled(i, 2) % 5 + 1 AS INTEGER)] AS city
FROM range(1, $customers + 1) AS numbers(i)
"""

ORDERED = """
CREATE TABLE orders AS
SELECT
    i AS id,
    shuffled(i, 3) % $customers + 1 AS customer_id,
    DATE '2025-01-01' + CAST(shuffled(i, 4) % 365 AS INTEGER) AS placed,
    ['tea', 'coffee', 'cheese', 'bread'][CAST(shuffled(i, 5) % 4 + 1 AS INTEGER)] AS product,
    CAST((shuffled(i, 6) % 9900 + 100) / 100 AS DECIMAL(9, 2)) AS euro,
    concat('Canal ', shuffled(i, 7) % 300 + 1, ', door ', shuffled(i, 8) % 40 + 1) AS deliver_to
FROM range(1, $orders + 1) AS numbers(i)
"""

VIEWS = (
    "CREATE VIEW sales AS SELECT product, month(placed) AS month, sum(euro) AS euro FROM orders GROUP BY ALL",
    "CREATE VIEW mailing AS SELECT id, email FROM customers",
)


def make_database(path: Path, *, orders: int = ORDERS) -> Path:
    """Make the file unless it is there; under its own name only when it is whole."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent) as folder:
        begun = Path(folder) / path.name
        with closing(duckdb.connect(str(begun))) as connection:
            _fill(connection, orders)
        os.replace(begun, path)
    return path


def _fill(connection: duckdb.DuckDBPyConnection, orders: int) -> None:
    amounts = {"orders": orders, "customers": max(1, orders // EACH)}
    connection.execute(SHUFFLED)
    connection.execute(CUSTOMERS, {"customers": amounts["customers"]})
    connection.execute(ORDERED, amounts)
    for view in VIEWS:
        connection.execute(view)


# --8<-- [start:hardened]
HARDENED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,  # no files but this one, no hosts, no extensions
    "lock_configuration": True,  # and nothing of that can be set otherwise
    "memory_limit": "1GB",
    "temp_directory": "",  # what needs more memory ends, instead of filling the disk
    "threads": 2,
}


def open_hardened(path: Path) -> duckdb.DuckDBPyConnection:
    """For statements by strangers. A guard is no sandbox: the engine must refuse what is never allowed."""
    return duckdb.connect(str(path), read_only=True, config=HARDENED)


# --8<-- [end:hardened]
