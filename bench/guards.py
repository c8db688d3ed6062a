"""What a guard before SQL costs: against sqlglot alone on the same statement, by length, and for one seen before."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import perf_counter

import sqlglot
from sqlglot.optimizer.qualify import qualify

from askback.guards.sql import SQLCatalogue, StatementAssessor
from bench.blocks import Call
from bench.contests import Target
from bench.growth import Growth

TWICE = Target(ratio=2.0)
"""Of what sqlglot needs to parse and qualify it: the catalogue, the reading and the question are all in it."""

STARTED = Target(ratio=4.0)
"""A process is started for what takes long to read: a tenth of a second."""

IN_PROPORTION = Target(ratio=12)
"""Ten times the text, and a fifth for memory that is no longer near."""

NEXT_TO_NOTHING = Target(ratio=0.05)

FEW_PAIRS, FEWER_PAIRS = 20, 6
"""Of the long ones: a call takes a twentieth of a second, and half a second."""

TABLES = {
    "main.customers": {"id": "INTEGER", "name": "VARCHAR", "email": "VARCHAR", "country": "VARCHAR"},
    "main.orders": {
        "id": "INTEGER",
        "customer_id": "INTEGER",
        "total": "DOUBLE",
        "day": "DATE",
        "status": "VARCHAR",
    },
    "main.countries": {"code": "VARCHAR", "title": "VARCHAR"},
}
TAGGED = {"main.customers.name": "names", "main.customers.email": "contact"}
SCHEMA: dict[str, object] = {"main": {name.partition(".")[2]: columns for name, columns in TABLES.items()}}

NUMBERS = count()
"""One for all that is measured, since readings are kept for the whole process."""

JOINS = """
WITH spending AS (
    SELECT o.customer_id, sum(o.total) AS spent, max(o.day) AS latest
    FROM orders AS o
    WHERE o.status <> 'void {number}'
    GROUP BY o.customer_id
    HAVING sum(o.total) > 100
), near AS (
    SELECT c.id, c.name, c.email, n.title
    FROM customers AS c JOIN countries AS n ON n.code = c.country
    WHERE n.code IN ('NL', 'BE')
)
SELECT near.name, near.email, near.title, spending.spent, spending.latest
FROM spending JOIN near ON near.id = spending.customer_id
ORDER BY spending.spent DESC
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One that is new with each number, so that nothing kept from the one before helps."""

    what: str
    text: Callable[[int], str]
    is_asked: bool
    """Whether a person is, so that the question is made as well."""
    most_pairs: int | None = None


def report(size: int, number: int) -> str:
    """So many characters, as a program writes them: sums side by side, of orders with their customers."""
    sums: list[str] = []
    while sum(map(len, sums)) < size:
        place = len(sums)
        sums.append(
            f"sum(CASE WHEN o.status = 's{place} {number}' AND o.total > {place} THEN o.total END) AS sum_{place},\n"
        )
    joined = "FROM orders AS o JOIN customers AS c ON c.id = o.customer_id GROUP BY c.country"
    return f"SELECT {''.join(sums)} c.country {joined}"


SHORT = Statement(
    what="short",
    text=lambda number: f"SELECT id, total FROM orders WHERE status = 's{number}'",
    is_asked=False,
)
ASKED = Statement(
    what="short, asked about",
    text=lambda number: f"SELECT name, email FROM customers WHERE country = 'c{number}'",
    is_asked=True,
)
JOINED = Statement(
    what="joins, asked about",
    text=lambda number: JOINS.format(number=number),
    is_asked=True,
)
LONG = Statement(what="10 kB", text=partial(report, 10_000), is_asked=False, most_pairs=FEW_PAIRS)
LONGEST = Statement(what="100 kB", text=partial(report, 100_000), is_asked=False, most_pairs=FEWER_PAIRS)


def guard_growths() -> list[Growth]:
    """By the clock: what is long is read by a process of its own."""
    against_sqlglot = [
        Growth(
            name=f"guards/sqlglot/{statement.what}",
            much=f"guard SQL, {statement.what}",
            little="sqlglot",
            target=STARTED if statement is LONG else TWICE,
            clock=perf_counter,
            sides=partial(_against_sqlglot, statement),
            most_pairs=statement.most_pairs,
        )
        for statement in (SHORT, ASKED, JOINED, LONG, LONGEST)
    ]
    return [
        *against_sqlglot,
        Growth(
            name="guards/length",
            much=f"guard SQL, {LONGEST.what}",
            little=LONG.what,
            target=IN_PROPORTION,
            clock=perf_counter,
            sides=_by_length,
            most_pairs=LONGEST.most_pairs,
        ),
        Growth(
            name="guards/again",
            much=f"guard SQL, {LONG.what}, seen before",
            little="first time",
            target=NEXT_TO_NOTHING,
            clock=perf_counter,
            sides=_seen_before,
            most_pairs=LONG.most_pairs,
        ),
    ]


def _against_sqlglot(statement: Statement) -> AbstractAsyncContextManager[tuple[Call, Call]]:
    return _ready(_guarding(statement), _qualifying(statement))


def _by_length() -> AbstractAsyncContextManager[tuple[Call, Call]]:
    return _ready(_guarding(LONGEST), _guarding(LONG))


def _seen_before() -> AbstractAsyncContextManager[tuple[Call, Call]]:
    return _ready(_guarding(LONG, is_new=False), _guarding(LONG))


@asynccontextmanager
async def _ready(much: Call, little: Call) -> AsyncGenerator[tuple[Call, Call]]:
    yield much, little


def _guarding(statement: Statement, *, is_new: bool = True) -> Call:
    """All that a guard does until there is a question, or none."""
    scales = StatementAssessor(dialect="duckdb", catalogue=SQLCatalogue(tables=TABLES, tagged=TAGGED))
    same = statement.text(next(NUMBERS))

    async def weigh() -> None:
        risk = await scales.assess(statement.text(next(NUMBERS)) if is_new else same)
        if (risk is not None) != statement.is_asked:
            raise RuntimeError(f"{statement.what}: the guard gave {risk}.")

    return weigh


def _qualifying(statement: Statement) -> Call:
    async def parse_and_qualify() -> None:
        tree = sqlglot.parse_one(statement.text(next(NUMBERS)), dialect="duckdb")
        qualify(tree, dialect="duckdb", schema=SCHEMA, db="main")

    return parse_and_qualify
