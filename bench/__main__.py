"""Measures Askback against the SDK's own ways of asking. A missed target is said and is no failure."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from bench import finished_flows, memory, table
from bench.blocks import QUICK, Plan
from bench.connect import ROOT
from bench.contests import Contest, all_contests
from bench.growth import Grown, Growth, measure
from bench.growths import all_growths
from bench.results import Outcome, Report, as_json
from bench.runner import run_contests
from scripts.machine import Missing
from scripts.services.programs import REDIS

OF_MEMORY = (memory.NAME, finished_flows.NAME)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    contests = [contest for contest in all_contests() if options.only in contest.name]
    growths = [growth for growth in all_growths() if options.only in growth.name]
    if not contests and not growths and not any(options.only in name for name in OF_MEMORY):
        names = "\n  ".join([*(one.name for one in (*all_contests(), *all_growths())), *OF_MEMORY])
        print(
            f"Nothing is called {options.only!r}. --only takes a part of one of these:\n  {names}",
            file=sys.stderr,
        )
        return 2
    plan = _plan(options)
    print(table.title(plan))
    outcomes: list[Outcome] = []
    anyio.run(run_contests, _possible(contests), plan, partial(_show, outcomes))
    measured = (_measured(growth, plan, growth is growths[0]) for growth in growths)
    report = Report(
        outcomes=outcomes,
        growths=[grown for grown in measured if grown is not None],
        thinking=_thinking(plan) if options.only in memory.NAME else None,
        finished=_finished(plan) if options.only in finished_flows.NAME else None,
    )
    print(table.summary(report))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(as_json(report, plan), indent=2) + "\n")
    return 0


def _possible(contests: Sequence[Contest]) -> list[Contest]:
    """Those for which this machine has all it takes."""
    lacking = [contest for contest in contests if contest.needs_redis] if REDIS.find() is None else []
    for contest in lacking:
        _leave_out(contest.name, REDIS.advice)
    return [contest for contest in contests if contest not in lacking]


def _leave_out(name: str, why: str) -> None:
    print(f"{name} is left out. {why}", file=sys.stderr)


def _show(outcomes: list[Outcome], outcome: Outcome) -> None:
    contest = outcome.contest
    before = outcomes[-1].contest if outcomes else None
    if before is None or (before.transport, before.part) != (contest.transport, contest.part):
        print(table.heading(contest))
    print(table.line(outcome), flush=True)
    outcomes.append(outcome)


def _measured(growth: Growth, plan: Plan, is_first: bool) -> Grown | None:
    try:
        grown = anyio.run(measure, growth, plan)
    except Missing as missing:
        return _leave_out(growth.name, str(missing))
    print("\n".join([*([table.growth_heading()] if is_first else []), table.growth_line(grown)]), flush=True)
    return grown


def _thinking(plan: Plan) -> memory.Memory:
    measured = anyio.run(memory.measure_memory, plan.people)
    print(table.memory_lines(measured), flush=True)
    return measured


def _finished(plan: Plan) -> finished_flows.Finished | None:
    try:
        weighed = anyio.run(finished_flows.measure_finished, plan.flows)
    except Missing as missing:
        return _leave_out(finished_flows.NAME, str(missing))
    print(table.finished_lines(weighed), flush=True)
    return weighed


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute or two, with wider intervals")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="what has this in its name; a wrong one lists all"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        metavar="N",
        help="how many pairs of blocks for each ratio; in memory they are shorter, and 5 for every 2",
    )
    parser.add_argument("--json", type=Path, default=ROOT / ".build" / "bench.json", metavar="PATH")
    return parser.parse_args(arguments)


def _plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else Plan()
    pairs = plan.pairs if options.pairs is None else max(2, options.pairs)
    return replace(plan, pairs=pairs)


if __name__ == "__main__":
    sys.exit(main())
