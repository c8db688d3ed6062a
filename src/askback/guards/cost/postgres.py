"""What Postgres expects a statement to read: it is put behind EXPLAIN, in a transaction that can write nothing."""

import asyncio
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import asyncpg

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import A_PERSON, Estimate, PlanEstimator
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.engines.postgres.connection import Connection, Database, open_connection

ENGINE = "Postgres"

PAGE_SIZE = 8192

ROW_HEADER = 28
"""Bytes that Postgres adds to each row: its header and its pointer."""

BY_INDEX = frozenset({"Index Scan", "Index Only Scan"})

FOREIGN = frozenset({"Foreign Scan", "Custom Scan"})
"""What they read is elsewhere."""

CONDITIONS = frozenset({"Output", "Filter", "Join Filter", "One-Time Filter"})
"""Expressions, in which names are quoted; elsewhere they are not."""

QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
"""What the statement's author may have put into an expression: texts and quoted names."""

SERIES = re.compile(r"\bgenerate_series\(([^()]*)(\)|\()")

CONSTANT = re.compile(r"'(?:[^']|'')*'|::[\w \[\]]+")
"""What may stand among the arguments beside `NUMBERS`, for how much it makes to be known beforehand."""

NUMBERS = re.compile(r"[\d\s.,+-]*")

Node = Mapping[str, Any]


class RelationName(NamedTuple):
    """A relation's name, as plans give it."""

    schema: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSize:
    """How large a relation is now. `bytes` counts what is stored out of line, since it may be fetched too."""

    pages: float
    bytes: float
    density: float | None
    """Rows to a page at the last ANALYZE; None before the first."""

    def rows(self, width: float) -> float:
        """As the planner reckons: the density of then on the pages of now, or of rows of that width."""
        return self.pages * (self.density if self.density is not None else PAGE_SIZE / (width + ROW_HEADER))


Sizes = Mapping[RelationName, RelationSize]


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A node of a plan, with how often it runs."""

    node: Node
    times: float = 1.0
    workers: float = 1.0
    """Among how many its rows are divided."""
    parent: Node | None = None

    @property
    def kind(self) -> str:
        return self.node["Node Type"]

    @property
    def rows(self) -> float:
        """Handed on in one run, by all workers."""
        return self.node["Plan Rows"] * self.workers

    @property
    def relation(self) -> RelationName | None:
        """The relation that this step scans."""
        is_scan = "Relation Name" in self.node and "Schema" in self.node and self.kind != "ModifyTable"
        return RelationName(self.node["Schema"], self.node["Relation Name"]) if is_scan else None

    def rows_from(self, relationship: str) -> float:
        """Rows that its children of one kind hand on in one run of theirs."""
        children: list[Node] = self.node.get("Plans", [])
        return sum(each["Plan Rows"] for each in children if each.get("Parent Relationship") == relationship)


def read_plan(root: Node, sizes: Sizes, *, per_row: float) -> Estimate:
    """`per_row` is what the planner charges at the least for a row that it looks at."""
    steps = list(_walk_steps(PlanStep(root), sizes))
    kinds = {step.kind for step in steps}
    scans = [
        _measure_scan(step, _size_of(step.relation, sizes), per_row)
        for step in steps
        if step.relation is not None and step.kind not in FOREIGN
    ]
    is_local = FOREIGN.isdisjoint(kinds)
    return Estimate(
        engine=ENGINE,
        rows=sum(rows for rows, _ in scans) if is_local else None,
        bytes=sum(size for _, size in scans) if is_local else None,
        widest=None if "Recursive Union" in kinds else max(map(_width, steps)),
        cost=root["Total Cost"],
    )


def find_names(root: Node) -> set[RelationName]:
    """The relations that a plan scans."""
    return {name for node in _walk(root) if (name := PlanStep(node).relation) is not None}


def has_open_series(root: Node) -> bool:
    """Whether generate_series takes its bounds from the data: how many rows it makes is in no plan."""
    text = "\n".join(text for node in _walk(root) for text in _texts_of(node))
    return any(
        end == "(" or NUMBERS.fullmatch(CONSTANT.sub("", arguments)) is None
        for arguments, end in SERIES.findall(text)
    )


def _texts_of(node: Node) -> Iterator[str]:
    for value in node.values():
        parts = cast("list[object]", value) if isinstance(value, list) else [value]
        yield from (part for part in parts if isinstance(part, str))


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)


def _walk_steps(step: PlanStep, sizes: Sizes, once: float = 1.0) -> Iterator[PlanStep]:
    """All steps with how often they run; `once` is how often that is outside the innermost loop."""
    yield step
    planned = step.node.get("Workers Planned")
    # The planner's own formula: a leader helps its workers, the less the more there are.
    workers = step.workers if planned is None else planned + max(0.0, 1 - 0.3 * planned)
    for child in step.node.get("Plans", ()):
        times = _times(step, child, sizes, once)
        again = step.times if times > step.times else once
        yield from _walk_steps(PlanStep(child, times, workers, step.node), sizes, again)


def _times(step: PlanStep, child: Node, sizes: Sizes, once: float) -> float:
    match child.get("Parent Relationship"):
        case "SubPlan" if not _is_hashed(step.node, child):
            return step.times * max(1.0, _evaluations(step, sizes))
        case "Inner" if step.kind == "Nested Loop":
            return step.times * max(1.0, step.rows_from("Outer") * step.workers)
        case _:
            # What is below Materialize runs once, however often it is asked for.
            return once if step.kind == "Materialize" else step.times


def _is_hashed(node: Node, child: Node) -> bool:
    """Whether a subquery runs once and is looked up then. No text or name in the statement can claim it."""
    mark = re.compile(rf"\bhashed {re.escape(child.get('Subplan Name', ''))}\b")
    conditions = {key: value for key, value in node.items() if key in CONDITIONS}
    return any(mark.search(QUOTED.sub("", text)) for text in _texts_of(conditions))


def _evaluations(step: PlanStep, sizes: Sizes) -> float:
    """For how many rows a step may work out an expression."""
    size = None if step.relation is None else sizes.get(step.relation)
    read = 0.0 if size is None else size.rows(step.node["Plan Width"])
    return max(step.rows, read, *(child["Plan Rows"] * step.workers for child in step.node.get("Plans", ())))


def _width(step: PlanStep) -> float:
    """How many rows a step makes, or compares; what it reads counts elsewhere."""
    if step.relation is not None:
        return 0.0
    pairs = step.rows_from("Outer") * step.workers * step.rows_from("Inner")
    return max(step.rows, pairs if step.kind == "Nested Loop" else 0.0) * step.times


def _size_of(name: RelationName, sizes: Sizes) -> RelationSize:
    if name not in sizes:
        raise EstimateFailed(engine=ENGINE, problem=f"no catalogue has {name.name}", advice=A_PERSON)
    return sizes[name]


def _measure_scan(step: PlanStep, size: RelationSize, per_row: float) -> tuple[float, float]:
    """Rows and bytes that all runs of a scan read."""
    whole = size.rows(step.node["Plan Width"])
    rows = min(whole, _rows_read(step, whole, per_row))
    return rows * step.times, size.bytes * (rows / whole if whole else 1.0) * step.times


def _rows_read(step: PlanStep, whole: float, per_row: float) -> float:
    """Rows that one run of a scan looks at."""
    node, limit = step.node, step.parent
    if step.kind == "Bitmap Heap Scan":
        return node["Plans"][0]["Plan Rows"] * step.workers
    if step.kind in BY_INDEX and "Index Cond" in node:
        # Where a filter hides how many rows the index finds: the most that its cost leaves room for.
        hidden = (node["Total Cost"] - node["Startup Cost"]) / per_row if "Filter" in node else 0.0
        return max(step.rows, hidden * step.workers)
    if step.kind == "Tid Scan":
        return step.rows
    if limit is not None and limit["Node Type"] == "Limit" and "Filter" not in node and node["Total Cost"]:
        return whole * limit["Total Cost"] / node["Total Cost"]  # whose cost counts what OFFSET skips as well
    return whole


EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE) "

SIZES = """
SELECT place.schema, place.name, relation.reltuples, relation.relpages,
       pg_relation_size(relation.oid) AS heap, pg_table_size(relation.oid) AS whole
FROM unnest($1::text[], $2::text[]) AS place (schema, name)
JOIN pg_namespace AS space
  ON CASE WHEN place.schema = 'pg_temp' THEN space.oid = pg_my_temp_schema() ELSE space.nspname = place.schema END
JOIN pg_class AS relation ON relation.relnamespace = space.oid AND relation.relname = place.name
"""

GRACE_SECONDS = 2.0
"""Beyond the server's own time limit, before it is given up."""


class PostgresEstimator(PlanEstimator):
    """Estimates for a database by its URL, connected to each time, for a pool, or for a function that connects.

    Planning runs functions that are declared IMMUTABLE or STABLE. So a statement is planned only if it calls none but
    harmless functions, in a transaction that is read-only and limited in time. Statistics are those of the last
    ANALYZE, scaled to the size that tables have now.
    """

    late_errors = (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError)
    driver_errors = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)

    def __init__(self, source: Database, *, timeout: float = 5.0) -> None:
        super().__init__(PostgresEngine(source, timeout=timeout))
        self._source, self._timeout = source, timeout

    async def _plan(self, statement: str) -> Estimate:
        milliseconds = max(1, round(self._timeout * 1000))
        async with (
            asyncio.timeout(self._timeout + GRACE_SECONDS),
            open_connection(self._source, self._timeout) as connection,
            connection.transaction(readonly=True),
        ):
            for limit in ("statement_timeout", "lock_timeout"):
                await connection.execute(f"SET LOCAL {limit} = {milliseconds}")
            return await _explain(connection, statement)


async def _explain(connection: Connection, statement: str) -> Estimate:
    # With a prepared statement, as fetchval makes, the server itself refuses more than one.
    text = cast("str", await connection.fetchval(EXPLAIN + statement))
    root = cast("list[dict[str, Any]]", json.loads(text))[0]["Plan"]
    if has_open_series(root):
        problem = "what generate_series makes of bounds from the data is in no plan"
        raise EstimateFailed(engine=ENGINE, problem=problem, advice=A_PERSON)
    sizes = await _find_sizes(connection, find_names(root))
    per_row = float(cast("str", await connection.fetchval("SELECT current_setting('cpu_tuple_cost')")))
    return read_plan(root, sizes, per_row=per_row)


async def _find_sizes(
    connection: Connection, names: Collection[RelationName]
) -> Mapping[RelationName, RelationSize]:
    found = await connection.fetch(SIZES, [name.schema for name in names], [name.name for name in names])
    return {
        RelationName(schema, name): RelationSize(
            pages=heap / PAGE_SIZE,
            bytes=float(whole),
            density=rows / pages if pages > 0 and rows >= 0 else None,
        )
        for schema, name, rows, pages, heap, whole in found
    }
