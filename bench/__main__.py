"""Measures Askback against the SDK's own ways of asking. A missed target is said and is no failure."""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio

from bench import table
from bench.blocks import QUICK, Plan
from bench.connect import ROOT
from bench.contests import all_contests
from bench.growth import Grown, measure
from bench.growths import all_growths
from bench.results import Outcome, as_json
from bench.run import run_contests
from bench.thinking import NAME, measure_memory


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    contests = [contest for contest in all_contests() if options.only in contest.name]
    growths = [growth for growth in all_growths() if options.only in growth.name]
    if not contests and not growths and options.only not in NAME:
        names = "\n  ".join([*(one.name for one in (*all_contests(), *all_growths())), NAME])
        print(
            f"Nothing is called {options.only!r}. --only takes a part of one of these:\n  {names}",
            file=sys.stderr,
        )
        return 2
    plan = _plan(options)
    print(table.title(plan))
    outcomes: list[Outcome] = []
    anyio.run(run_contests, contests, plan, partial(_show, outcomes))
    grown = [_shown(anyio.run(measure, growth, plan), growth is growths[0]) for growth in growths]
    memory = anyio.run(measure_memory, plan.people) if options.only in NAME else None
    if memory is not None:
        print(table.memory_lines(memory))
    print(table.summary(outcomes, grown, memory))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(as_json(outcomes, grown, memory, plan), indent=2) + "\n")
    return 0


def _show(outcomes: list[Outcome], outcome: Outcome) -> None:
    contest = outcome.contest
    before = outcomes[-1].contest if outcomes else None
    if before is None or (before.transport, before.part) != (contest.transport, contest.part):
        print(table.heading(contest))
    print(table.line(outcome), flush=True)
    outcomes.append(outcome)


def _shown(grown: Grown, is_first: bool) -> Grown:
    print("\n".join([*([table.growth_heading()] if is_first else []), table.growth_line(grown)]), flush=True)
    return grown


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute, with wider intervals")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="what has this in its name; a wrong one lists all"
    )
    parser.add_argument("--pairs", type=int, metavar="N", help="how many pairs of blocks for each ratio")
    parser.add_argument("--json", type=Path, default=ROOT / ".build" / "bench.json", metavar="PATH")
    return parser.parse_args(arguments)


def _plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else Plan()
    pairs = plan.pairs if options.pairs is None else max(2, options.pairs)
    return Plan(pairs=pairs, block_seconds=plan.block_seconds, people=plan.people)


if __name__ == "__main__":
    sys.exit(main())
