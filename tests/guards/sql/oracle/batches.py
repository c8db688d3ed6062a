"""Batches of statements: each makes its databases and its statements by itself, from a seed, in any process."""

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from tests.guards.sql.oracle.dialects import WRITERS
from tests.guards.sql.oracle.engines import Blind, Suspicious, open_engine
from tests.guards.sql.oracle.minimum import minimise
from tests.guards.sql.oracle.oracle import Findings, Inspector, find_leaks, find_needless
from tests.guards.sql.oracle.relations import Dialect
from tests.guards.sql.oracle.shops import SHOPS
from tests.guards.sql.oracle.twins import AnyTwins, open_twins

MAX_SHOWN = 5
"""How many leaks of a batch are made smaller. More would say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some statements, determined by their seed."""

    dialect: Dialect
    seed: str
    count: int
    harmless: int
    url: str | None = None
    stand_in: str | None = None
    """`blind` or `suspicious` in the engine's place."""


def write_statements(dialect: Dialect, seed: str, *, is_harmless: bool = False) -> Iterator[str]:
    """Statements without end."""
    writer = WRITERS[dialect](Random(seed), SHOPS[dialect].relations, is_harmless=is_harmless)
    while True:
        yield writer.statement()


def run_batch(batch: Batch) -> Findings:
    """Run a batch in this process."""
    return asyncio.run(find_in(batch))


async def find_in(batch: Batch) -> Findings:
    with tempfile.TemporaryDirectory(prefix="askback-oracle-") as folder:
        async with open_twins(batch.dialect, Path(folder), batch.url) as twins:
            if batch.stand_in:
                stand_in = Blind() if batch.stand_in == "blind" else Suspicious()
                return await find_with(stand_in, twins, batch)
            async with open_engine(twins) as engine:
                return await find_with(engine, twins, batch)


async def find_with(engine: Inspector, twins: AnyTwins, batch: Batch) -> Findings:
    statements = write_statements(batch.dialect, batch.seed)
    findings = await find_leaks(engine, twins, islice(statements, batch.count))
    harmless = write_statements(batch.dialect, batch.seed, is_harmless=True)
    findings.add(await find_needless(engine, twins, islice(harmless, batch.harmless)))
    shown = [await minimise(leak, engine, twins) for leak in findings.leaks[:MAX_SHOWN]]
    findings.leaks[: len(shown)] = shown
    return findings
