"""The results for a person at a terminal: a line as soon as it is known, the missed targets at the end."""

import os

from bench.blocks import Plan
from bench.contests import Contest, Part, Questions, Rival, Target, Transport
from bench.finished_flows import MANY, TARGET, Finished, Weight
from bench.growth import Grown
from bench.memory import TARGET_BYTES, Memory
from bench.results import Outcome, Report, finished_verdict, growth_verdict, memory_verdict

TRANSPORTS: dict[Transport, str] = {"in-memory": "in memory", "stdio": "over stdio", "http": "over HTTP"}
QUESTIONS: dict[Questions, str] = {
    "nothing": "asks nothing",
    "one": "one question",
    "five": "five in sequence",
}
RIVALS: dict[Rival, str] = {
    "without": "no Askback",
    "elicit": "ctx.elicit",
    "resolver": "resolvers",
    "by-hand": "by hand",
    "no-claims": "no claims",
    "memory": "memory",
}
PARTS: dict[Part, str] = {
    "sdk": "",
    "fastmcp": ", on FastMCP",
    "claims-in-memory": ", claims in memory",
    "claims-in-sqlite": ", claims in SQLite",
    "redis": ", on Redis without a disk",
    "redis-without-ledger": ", on Redis, no ledger",
}

LINE = "{what:<35} {against:<11} {ratio:>6}  {interval:<14}  {target:>7}  {verdict:<9}  {ours:>8} {theirs:>8}"


def title(plan: Plan) -> str:
    return (
        f"Our time as a part of theirs, {plan.pairs} pairs of blocks each, and {plan.finer().pairs} of shorter ones in "
        f"memory, where it is processor time, else time on the clock.\nLoad average {_load()}."
    )


def _load() -> str:
    return " ".join(f"{one:.2f}" for one in os.getloadavg())


def heading(contest: Contest) -> str:
    what = f"{TRANSPORTS[contest.transport]}{PARTS[contest.part]}"
    return _titles(what, against="against", ours="us, ours", theirs="theirs")


def _titles(what: str, *, against: str, ours: str, theirs: str) -> str:
    titles = LINE.format(
        what=what,
        against=against,
        ratio="ratio",
        interval="95 % interval",
        target="target",
        verdict="target is",
        ours=ours,
        theirs=theirs,
    )
    return f"\n{titles}\n{'-' * len(titles)}"


def line(outcome: Outcome) -> str:
    contest, ratio, timing = outcome.contest, outcome.ratio, outcome.timing
    return LINE.format(
        what=_what(contest),
        against=RIVALS[contest.rival],
        ratio=f"{ratio.value:.3f}",
        interval=f"{ratio.low:.3f} - {ratio.high:.3f}",
        target="" if contest.target is None else _target(contest.target),
        verdict="" if contest.target is None else outcome.verdict,
        ours=f"{timing.ours * 1e6:,.0f}",
        theirs=f"{timing.theirs * 1e6:,.0f}",
    )


def _what(contest: Contest) -> str:
    words = ", new words" if contest.in_new_words else ""
    full = ", full store" if contest.when_full else ""
    return f"{contest.revision}  {QUESTIONS[contest.questions]}{words}{full}"


def _target(target: Target) -> str:
    return f"{target.ratio:.2f}{'*' if target.by_estimate else ' '}"


def growth_heading() -> str:
    return _titles("much against little", against="little is", ours="us, much", theirs="little")


def growth_line(grown: Grown) -> str:
    growth, ratio, timing = grown.growth, grown.ratio, grown.timing
    return LINE.format(
        what=growth.much,
        against=growth.little,
        ratio=f"{ratio.value:.2f}",
        interval=f"{ratio.low:.2f} - {ratio.high:.2f}",
        target=_target(growth.target),
        verdict=growth_verdict(grown),
        ours=f"{timing.ours * 1e6:,.0f}",
        theirs=f"{timing.theirs * 1e6:,.0f}",
    )


def memory_lines(memory: Memory) -> str:
    resident = "not told by this system" if memory.resident is None else f"{memory.resident:,.0f} bytes each"
    return (
        f"\nmemory for {memory.people:,} people who are thinking, 2026-07-28\n"
        f"  allocated and kept  {memory.traced:,.0f} bytes each, target under {TARGET_BYTES:,}: "
        f"{memory_verdict(memory)}\n"
        f"  growth of a server process over HTTP, in pages  {resident}"
    )


def finished_lines(finished: Finished) -> str:
    few, many = finished.few, finished.many
    fewer = "" if many.flows == MANY else f", of {MANY:,} that it takes to show it"
    resident = f"{finished.resident:.3f} times" if finished.resident else "not told by this system"
    return (
        f"\na worker with Redis and a ledger after {many.flows:,} finished flows{fewer}, 2026-07-28\n"
        f"  allocated and kept  {finished.blocks:.3f} times what it was after {few.flows:,}, in pages {resident}, "
        f"target {TARGET:.2f}: {finished_verdict(finished)}\n"
        f"  {_weight(few)}\n  {_weight(many)}\n  {many.flows / finished.seconds:,.0f} flows in a second"
    )


def _weight(weight: Weight) -> str:
    return (
        f"after {weight.flows:,}: {weight.blocks:,} blocks, {weight.resident / 1e6:,.1f} MB in pages, "
        f"{weight.keys:,} keys in Redis"
    )


def summary(report: Report) -> str:
    judged = report.judged
    open_ones = [f"  {verdict}: {name}" for name, verdict in judged if verdict != "met"]
    lines = [
        "",
        "A target is met when the upper end of the interval is not above it; with * when the ratio itself is not.",
        "Not shown: the ratio is on one side of the target and the interval reaches over to the other.",
        f"{len(judged) - len(open_ones)} of {len(judged)} targets met. Load average {_load()}.",
        *open_ones,
    ]
    return "\n".join(lines)
