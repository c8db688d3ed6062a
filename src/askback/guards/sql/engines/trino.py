"""Trino, asked through a function of the author's that runs one EXPLAIN and returns its only value.

Built on the plans that Trino's documentation and tests show, and not run against a live server. Names of columns are
written differently by each connector, so every word of a scan's assignments counts as a column of its table.
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, cast

import anyio

from askback.guards.sql.engines.engine import Inspection, doubt
from askback.guards.sql.names import Dialect
from askback.guards.sql.text import find_excess, find_nesting

IO_PLAN = "EXPLAIN (TYPE IO, FORMAT JSON) "
PLAN = "EXPLAIN (TYPE DISTRIBUTED, FORMAT JSON) "

NO_PLAN = "Trino gives no plan for it"
OTHER_PLAN = "Trino's plan has a shape that is not known"
OTHER_TABLES = "Trino's plan reads something that is not one of its tables"

EXPLAINED = re.compile(r"\s*(explain|prepare|execute|call)\b", re.IGNORECASE)
"""Statements that EXPLAIN cannot be put before, or that run another one."""

WORD = re.compile(r"[^\W\d]\w*")
NUMBERED = re.compile(r"_\d+$")
"""Trino puts this behind the name of a column that it has met before."""

Node = Mapping[str, Any]
Run = Callable[[str], str | Awaitable[str]]


class TrinoEngine:
    """A Trino cluster, asked for its plans through the author's own connection."""

    name: str = "Trino"
    dialect: Dialect = "trino"

    def __init__(self, run: Run, *, timeout: float = 30.0) -> None:
        self._run, self._timeout = run, timeout

    async def inspect(self, statement: str) -> Inspection:
        """Read the plans of a statement. A statement that Trino does not plan is a doubt."""
        if excess := find_excess(statement) or find_nesting(statement):
            return doubt(excess)
        if EXPLAINED.match(statement):
            return doubt(NO_PLAN)
        text = statement.rstrip().rstrip(";")
        with anyio.fail_after(self._timeout):
            try:
                plans = await self._explain(IO_PLAN + text), await self._explain(PLAN + text)
            except OSError:
                raise
            except Exception:  # noqa: BLE001 - whatever a driver raises for a statement
                return doubt(NO_PLAN)
        try:
            return read_plans(*plans)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            return doubt(OTHER_PLAN)

    async def _explain(self, text: str) -> str:
        answer = self._run(text)
        return await answer if inspect.isawaitable(answer) else answer


def read_plans(io_plan: str, plan: str) -> Inspection:
    """Join what both plans say: the first names the tables, the second the columns that each scan reads."""
    io = cast("dict[str, Any]", json.loads(io_plan))
    tables = {_table(one["table"]): one for one in io["inputTableColumnInfos"]}
    columns = {
        f"{table}.{constraint['columnName']}"
        for table, one in tables.items()
        for constraint in one["constraint"]["columnConstraints"]
    }
    doubts: list[str] = []
    scanned: set[str] = set()
    for node in _scans(json.loads(plan)):
        table = _scanned(node, tables)
        if table is None:
            doubts.append(OTHER_TABLES)
        else:
            scanned.add(table)
            columns |= {f"{table}.{word}" for word in _words(node)}
    if scanned != set(tables):
        doubts.append(OTHER_TABLES)
    output = io.get("outputTable")
    return Inspection(
        columns=frozenset(columns),
        writes=() if output is None else (f"insert into {_table(output)}",),
        doubts=tuple(dict.fromkeys(doubts)),
        is_query=output is None,
        can_be_planned=not doubts,
    )


def _table(named: Node) -> str:
    place = named["schemaTable"]
    return f"{named['catalog']}.{place['schema']}.{place['table']}".lower()


def _scans(plan: Any) -> Iterator[Node]:
    """Every step that reads from outside: in a tree of steps, or in trees by the number of their fragment."""
    if isinstance(plan, list):
        for each in cast("list[Any]", plan):
            yield from _scans(each)
    elif isinstance(plan, dict):
        node = cast("dict[str, Any]", plan)
        if "Scan" in str(node.get("name", "")) or "table" in node.get("descriptor", {}):
            yield node
        elif "TableFunction" in str(node.get("name", "")):
            raise ValueError("a function that gives a table")
        for key, each in node.items():
            if key == "children" or key.isdigit():
                yield from _scans(each)


def _scanned(node: Node, tables: Mapping[str, Node]) -> str | None:
    """The one table whose catalogue, schema and name are all in the handle that the connector prints."""
    words = re.split(r"[^\w$]+", str(node["descriptor"]["table"]).lower())
    found = [name for name in tables if set(name.split(".")) <= set(words)]
    return found[0] if len(found) == 1 else None


def _words(node: Node) -> Iterator[str]:
    """The words of `custkey_1 := tpch:custkey` and of `tpch:orderstatus`, the first one without its number."""
    for detail in node["details"]:
        if str(detail).lstrip().startswith("::"):
            continue
        symbol, _, column = str(detail).rpartition(":=")
        words = WORD.findall(column)
        if not words:
            raise ValueError("a column without a name")
        yield from (word.lower() for word in words)
        yield NUMBERED.sub("", symbol.strip()).lower()
