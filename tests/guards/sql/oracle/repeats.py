"""Statements that repeat something many times, each inspected in a process of its own with limits on time and memory.

    python -m tests.guards.sql.oracle.repeats --engine duckdb --count 20000 --seed 1

Parsers take time with the square or the cube of some repetitions, or double it with each one. The engines bound what is
known; this looks for what is not. A statement whose inspection takes longer than a second, or all memory, is a failure.
"""

import argparse
import asyncio
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice, product
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random, SystemRandom
from tempfile import TemporaryDirectory

from scripts.services import postgres_server
from tests.guards.sql.oracle.engines import open_engine
from tests.guards.sql.oracle.relations import Dialect
from tests.guards.sql.oracle.twins import create_databases, open_twins

COUNT = 20_000

MAX_SECONDS = 1.0

GIVEN_UP = 15.0
"""Seconds after which the process is killed: more than any engine's own limit."""

MAX_MEMORY = 6 << 30

MAX_LENGTH = 95_000

TIMES = (8, 15, 25, 40, 60, 90, 150, 400, 1_500, 5_000, 12_000)

STARTS = (
    "", "FROM ", "SELECT ", "SELECT id, ", "SELECT id FROM orders WHERE ", "SELECT * FROM orders ORDER BY ",
    "WITH a AS (SELECT 1) SELECT ",
)  # fmt: skip

ENDS = ("", " FROM orders", " FROM orders GROUP BY ALL", " %%")

BETWEEN = ("", " ", ",", "+", " AND ", " UNION SELECT ", "\n", "/**/")

UNITS = tuple(
    word.replace("_", " ").replace("\\u2060", "\u2060")
    for word in Path(__file__).with_name("units.txt").read_text().split()
)
"""What is repeated. In the file a blank is written as `_`, and the word joiner, a blank to DuckDB, by its number."""

CLOSING = {"(": ")", "[": "]", "{": "}"}


def write_repeats(seed: str) -> Iterator[str]:
    """First every unit by itself, so many times, open and closed; then units together, without end."""
    random = Random(seed)
    alone = list(product(("SELECT ", "FROM "), UNITS, ("", " "), TIMES, (False, True), ("",)))
    random.shuffle(alone)
    for each in alone:
        yield repeat(*each)
    while True:
        unit = random.choice(("", " ")).join(random.choices(UNITS, k=random.choice((1, 2, 2, 3))))
        is_closed = random.random() < 0.7
        between, times = random.choice(BETWEEN), random.choice(TIMES)
        yield repeat(random.choice(STARTS), unit, between, times, is_closed, random.choice(ENDS))


def repeat(start: str, unit: str, between: str, times: int, is_closed: bool, end: str) -> str:
    times = min(times, MAX_LENGTH // (len(unit) + len(between)))
    closed = f"1{close(unit) * times}" if is_closed else ""
    return f"{start}{between.join([unit] * times)}{closed}{end}"


def close(unit: str) -> str:
    """What closes the brackets that are open in it."""
    closing = ""
    for sign in unit:
        if sign in CLOSING:
            closing = CLOSING[sign] + closing
        elif closing.startswith(sign):
            closing = closing[1:]
    return f" END{closing}" if unit.startswith("CASE") else closing


def inspect_there(pipe: Connection, dialect: Dialect, url: str | None) -> None:
    """Inspect what comes through a pipe; answer with the seconds that each took."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    asyncio.run(_inspect_all(pipe, dialect, url))


async def _inspect_all(pipe: Connection, dialect: Dialect, url: str | None) -> None:
    with TemporaryDirectory(prefix="askback-repeats-") as folder:
        async with open_twins(dialect, Path(folder), url) as twins, open_engine(twins) as engine:
            await engine.inspect("SELECT 1")
            while statement := await asyncio.to_thread(pipe.recv):
                started = time.perf_counter()
                await engine.inspect(statement)
                pipe.send(time.perf_counter() - started)


class Watched:
    """A process that inspects, and is begun anew where it was ended."""

    def __init__(self, dialect: Dialect, url: str | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self._process = context.Process(target=inspect_there, args=(there, dialect, url))
        self._process.start()
        there.close()

    def inspect(self, statement: str) -> float | None:
        """The seconds that it took; None where there was no answer, and so no process any more."""
        self._pipe.send(statement)
        try:
            return self._pipe.recv() if self._pipe.poll(GIVEN_UP) else None
        except EOFError:
            return None

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def find_slow(
    dialect: Dialect, url: str | None, seed: str, count: int, max_seconds: float = MAX_SECONDS
) -> list[str]:
    """Inspect so many statements; tell those that took too long."""
    failures: list[str] = []
    watched = Watched(dialect, url)
    for statement in islice(write_repeats(seed), count):
        seconds = watched.inspect(statement)
        if seconds is None or seconds > max_seconds:
            took = "no answer" if seconds is None else f"{seconds:.1f} s"
            failures.append(f"{took}: {len(statement)} characters, {statement[:150]!r}")
        if seconds is None:
            watched.close()
            watched = Watched(dialect, url)
    watched.close()
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.guards.sql.oracle.repeats", description=__doc__)
    parser.add_argument("--engine", choices=("duckdb", "postgres", "sqlite"), required=True)
    parser.add_argument("--count", type=int, default=COUNT, help="how many statements")
    parser.add_argument("--seed", type=int, help="repeats a run; otherwise one is drawn and printed")
    arguments = parser.parse_args()
    seed = SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    with ExitStack() as stack:
        url: str | None = None
        if arguments.engine == "postgres":
            url = stack.enter_context(postgres_server()).url
            asyncio.run(create_databases(url))
        failures = find_slow(arguments.engine, url, str(seed), arguments.count)
    sys.stdout.write(
        f"{arguments.engine}: seed {seed}, {arguments.count} repetitions, {len(failures)} slow\n"
    )
    sys.stdout.writelines(f"SLOW: {failure}\n" for failure in failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
