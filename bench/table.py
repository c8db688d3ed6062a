"""The results for a person at a terminal: a line as soon as it is known, the missed targets at the end."""

import os

from bench.blocks import Plan
from bench.contests import Contest, Part, Questions, Rival, Target, Transport
from bench.growth import Grown
from bench.results import Outcome, growth_verdict, memory_verdict
from bench.thinking import TARGET_BYTES, Memory

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
}
PARTS: dict[Part, str] = {
    "sdk": "",
    "fastmcp": ", on FastMCP",
    "claims-in-memory": ", claims in memory",
    "claims-in-sqlite": ", claims in SQLite",
}

LINE = "{what:<35} {against:<11} {ratio:>6}  {interval:<14}  {target:>7}  {verdict:<9}  {ours:>8} {theirs:>8}"


def title(plan: Plan) -> str:
    return (
        f"Our time as a part of theirs, {plan.pairs} pairs of blocks each. In memory it is processor time, else time "
        f"on the clock.\nLoad average {_load()}."
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
    return f"{contest.revision}  {QUESTIONS[contest.questions]}{words}"


def _target(target: Target) -> str:
    return f"{target.ratio:.2f}{'*' if target.by_estimate else ' '}"


def growth_heading() -> str:
    return _titles("much against little of the same", against="little is", ours="us, much", theirs="little")


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


def summary(outcomes: list[Outcome], growths: list[Grown], memory: Memory | None) -> str:
    judged = [
        (outcome.contest.name, outcome.verdict) for outcome in outcomes if outcome.contest.target is not None
    ]
    judged += [(grown.growth.name, growth_verdict(grown)) for grown in growths]
    if memory is not None:
        judged.append(("thinking", memory_verdict(memory)))
    open_ones = [f"  {verdict}: {name}" for name, verdict in judged if verdict != "met"]
    lines = [
        "",
        "A target is met when the upper end of the interval is not above it; with * when the ratio itself is not.",
        "Not shown: the ratio is on one side of the target and the interval reaches over to the other.",
        f"{len(judged) - len(open_ones)} of {len(judged)} targets met. Load average {_load()}.",
        *open_ones,
    ]
    return "\n".join(lines)
