"""Runs the contests, shows them, writes `.build/bench.json`. Measuring is no gate: a missed target is said, not fatal."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import count, groupby
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult

from bench import table
from bench.blocks import Call, Clock, Plan, time_pairs
from bench.connect import ROOT, Transport, connected
from bench.contests import COUNT, Contest, all_contests
from bench.interval import estimate
from bench.order import expected
from bench.results import Outcome, as_json
from bench.thinking import NAME, Memory, measure_memory

QUICK = Plan(pairs=15, block_seconds=0.015)

CLOCKS: dict[Transport, Clock] = {"in-memory": process_time, "stdio": perf_counter, "http": perf_counter}
"""In memory nobody waits for anybody: the time of this process is all of it, without what the neighbours take."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    contests = [contest for contest in all_contests() if options.only in contest.name]
    if not contests and options.only not in NAME:
        names = "\n  ".join([*(contest.name for contest in all_contests()), NAME])
        print(f"Nothing is called {options.only!r}. --only takes a part of one of these:\n  {names}", file=sys.stderr)
        return 2
    plan = _plan(options)
    print(f"Ratios of our time to theirs, {plan.pairs} pairs of blocks each. Load average {table.load()}.")
    outcomes = anyio.run(_run, contests, plan)
    memory = anyio.run(measure_memory, plan.people) if options.only in NAME else None
    if memory is not None:
        print(table.memory_lines(memory))
    print(table.summary(outcomes, memory))
    _write(options.json, outcomes, memory, plan)
    return 0


async def _run(contests: list[Contest], plan: Plan) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for transport, over_it in groupby(contests, lambda contest: contest.transport):
        print(table.heading(transport))
        for revision, group in groupby(over_it, lambda contest: contest.revision):
            async with AsyncExitStack() as stack:
                ours = await stack.enter_async_context(connected("askback", transport, revision))
                theirs = await stack.enter_async_context(connected("sdk", transport, revision))
                for contest in group:
                    outcomes.append(await _outcome(contest, ours, theirs, plan))
                    print(table.line(outcomes[-1]), flush=True)
    return outcomes


async def _outcome(contest: Contest, ours: Client, theirs: Client, plan: Plan) -> Outcome:
    tools = (ours, contest.questions), (theirs, contest.their_tool)
    for client, tool in tools:
        await _check(client, tool, contest)
    own, other = (_call(client, tool, contest) for client, tool in tools)
    timing = await time_pairs(own, other, plan, CLOCKS[contest.transport])
    return Outcome(contest=contest, timing=timing, ratio=estimate(timing.ratios))


async def _check(client: Client, tool: str, contest: Contest) -> None:
    """Only what does the same work is compared."""
    if client.protocol_version != contest.revision:
        raise RuntimeError(f"{contest.name}: connected on {client.protocol_version}")
    result = await client.call_tool(tool, {"guest": "you"})
    if _text(result) != expected(COUNT[contest.questions]):
        raise RuntimeError(f"{contest.name}: {tool} gave {result}")


def _text(result: CallToolResult) -> Any:
    return None if result.is_error else (result.structured_content or {}).get("result")


def _call(client: Client, tool: str, contest: Contest) -> Call:
    guests = _new_guests() if contest.in_new_words else None
    return lambda: client.call_tool(tool, {"guest": "you" if guests is None else next(guests)})


def _new_guests() -> Iterator[str]:
    return (f"guest {number}" for number in count())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute, with wider intervals")
    parser.add_argument("--only", default="", metavar="NAME", help="what has this in its name; a wrong one lists all")
    parser.add_argument("--pairs", type=int, metavar="N", help="how many pairs of blocks for each ratio")
    parser.add_argument("--json", type=Path, default=ROOT / ".build" / "bench.json", metavar="PATH")
    return parser.parse_args(arguments)


def _plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else Plan()
    pairs = plan.pairs if options.pairs is None else max(2, options.pairs)
    return Plan(pairs=pairs, block_seconds=plan.block_seconds, people=plan.people)


def _write(path: Path, outcomes: list[Outcome], memory: Memory | None, plan: Plan) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(as_json(outcomes, memory, plan), indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
