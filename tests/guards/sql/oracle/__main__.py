"""One long run of the oracle: `python -m tests.guards.sql.oracle --engine duckdb --count 200000 --seed 1`."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import get_context
from random import SystemRandom

from scripts.services import postgres_server
from tests.guards.sql.oracle.batches import Batch, run_batch
from tests.guards.sql.oracle.oracle import Findings
from tests.guards.sql.oracle.twins import create_databases

COUNT = 235_000
"""Of which engines accept seven in eight: 200,000 valid ones."""

BATCH_SIZE = 1_000
HARMLESS_PERCENT = 5
SECONDS_BETWEEN_LINES = 10.0
MAX_SHOWN = 20


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.guards.sql.oracle", description=__doc__)
    parser.add_argument("--engine", choices=("duckdb", "postgres", "sqlite"), required=True)
    parser.add_argument("--count", type=int, default=COUNT, help="how many statements")
    parser.add_argument("--seed", type=int, help="repeats a run; otherwise one is drawn and printed")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument(
        "--url", help="of a Postgres server for throw-away databases; otherwise one is started"
    )
    parser.add_argument(
        "--stand-in", choices=("blind", "suspicious"), help="in the engine's place, to try the oracle"
    )
    return parser.parse_args()


def split(arguments: argparse.Namespace, seed: int, url: str | None) -> Iterator[Batch]:
    """Batches of one size, the last one with what is left."""
    for start in range(0, arguments.count, BATCH_SIZE):
        count = min(BATCH_SIZE, arguments.count - start)
        yield Batch(
            dialect=arguments.engine,
            seed=f"{seed}/{start // BATCH_SIZE}",
            count=count,
            harmless=count * HARMLESS_PERCENT // 100,
            url=url,
            stand_in=arguments.stand_in,
        )


def run(batches: list[Batch], jobs: int) -> Findings:
    """All batches, with a line from time to time. One in which the engine ends its process is told and left out."""
    progress = Progress()
    while lost := run_together(batches, jobs, progress):
        for batch in lost[: 2 * jobs]:  # one of these was running
            if run_together([batch], 1, progress):
                say(f"the engine ended the process in batch {batch.seed}")
        batches = lost[2 * jobs :]
    progress.tell()
    return progress.findings


def run_together(batches: list[Batch], jobs: int, progress: "Progress") -> list[Batch]:
    """Those that were lost because a process ended, in their order."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run_batch, batch): batch for batch in batches}
        lost: list[Batch] = []
        for done in as_completed(running):
            try:
                progress.add(done.result())
            except BrokenProcessPool:
                lost.append(running[done])
    return sorted(lost, key=batches.index)


class Progress:
    """What was found so far, and how quickly."""

    def __init__(self) -> None:
        self.findings = Findings()
        self._began = self._told = time.monotonic()

    def add(self, findings: Findings) -> None:
        self.findings.add(findings)
        if time.monotonic() - self._told > SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            self.tell()

    def tell(self) -> None:
        pace = self.findings.statements / (time.monotonic() - self._began)
        say(f"{self.findings}, {pace:.0f} per second")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    arguments = read_arguments()
    seed = SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    say(f"{arguments.engine}: seed {seed}")
    with ExitStack() as stack:
        url: str | None = arguments.url
        if arguments.engine == "postgres":
            url = url or stack.enter_context(postgres_server()).url
            asyncio.run(create_databases(url))
        findings = run(list(split(arguments, seed, url)), arguments.jobs)
    for statement in findings.needless[:MAX_SHOWN]:
        say(f"needless: {statement}")
    for failure in findings.failures[:MAX_SHOWN]:
        say(f"FAILURE: {failure}")
    for leak in findings.leaks[:MAX_SHOWN]:
        say(f"LEAK: {leak}")
    return 1 if findings.leaks or findings.failures else 0


if __name__ == "__main__":
    sys.exit(main())
