"""What became of the flows, held against what they did outside and against the workers that were killed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.cluster.flows import Ending, Flow

A_MOMENT = 0.5
"""Seconds that a proxy may take a worker for alive that has been killed."""


class Death(NamedTuple):
    """A worker that was killed."""

    at: float
    port: int
    pid: int


class Run(NamedTuple):
    """Of an effect."""

    pid: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All names are those of flows."""

    seconds: float
    """From the first call to the last end."""
    deaths: int
    endings: Mapping[Ending, int]
    said: Mapping[str, int]
    """What was said to those that did not end right."""
    repeats: Mapping[str, int]
    """Requests that were sent again, by what had become of them."""
    asked_again: Sequence[str]
    """A question was asked a second time in the same flow."""
    run_twice: Sequence[str]
    """Though the worker that ran it first lived: this must never be."""
    run_again: Sequence[str]
    """The worker that ran it first was killed, and the effect may be repeated."""
    without_effect: Sequence[str]
    """Right by its result, but nothing happened: this must never be."""
    orphaned: Sequence[str]
    """Gone with the worker that had its session, which was killed before its end."""
    dropped: Sequence[str]
    """Gone with a worker that only passed its call on, which was killed meanwhile."""
    unexcused: Sequence[str]
    """Gone, though no worker that had to do with it was killed."""
    slowest: float
    """Seconds of the flow that took longest."""

    @property
    def right(self) -> int:
        return self.endings.get("right", 0)

    def __str__(self) -> str:
        lines = [
            f"{sum(self.endings.values())} flows in {self.seconds:.1f} s, {self.deaths} workers killed;"
            f" the slowest took {self.slowest:.1f} s",
            f"ended: {_listed(self.endings)}",
            f"sent again: {_listed(self.repeats) or 'nothing'}",
            f"asked again: {len(self.asked_again)}; effects run again after a kill: {len(self.run_again)}",
            f"run twice: {_some(self.run_twice)}; right without effect: {_some(self.without_effect)}",
            f"gone with their owner: {len(self.orphaned)}; with a worker that passed them on: {len(self.dropped)};"
            f" without a reason: {_some(self.unexcused)}",
            *(f"  {many} x {text}" for text, many in self.said.items()),
        ]
        return "\n".join(lines)


def tally(flows: Sequence[Flow], effects: Path, deaths: Sequence[Death]) -> Tally:
    runs = read_runs(effects)
    several = {name: them for name, them in runs.items() if len(them) > 1}
    again = [name for name, them in several.items() if _is_taken_over(them, deaths)]
    gone = [flow for flow in flows if flow.ending == "gone"]
    orphaned = [flow.name for flow in gone if _owner_died(flow, deaths)]
    dropped = [flow.name for flow in gone if flow.name not in orphaned and _carrier_died(flow, deaths)]
    return Tally(
        seconds=max(flow.ended for flow in flows) - min(flow.began for flow in flows),
        deaths=len(deaths),
        endings=Counter(flow.ending for flow in flows),
        said=Counter(
            f"{flow.ending}: {flow.said.replace(flow.name, 'NAME')}"
            for flow in flows
            if flow.ending != "right"
        ),
        repeats=Counter(trouble.what for flow in flows for trouble in flow.troubles),
        asked_again=[flow.name for flow in flows if flow.was_asked_again],
        run_twice=[name for name in several if name not in again],
        run_again=again,
        without_effect=[flow.name for flow in flows if flow.ending == "right" and flow.name not in runs],
        orphaned=orphaned,
        dropped=dropped,
        unexcused=[flow.name for flow in gone if flow.name not in {*orphaned, *dropped}],
        slowest=max(flow.ended - flow.began for flow in flows),
    )


def read_runs(effects: Path) -> dict[str, list[Run]]:
    """Of each flow's effect, in order; the clock is the same in all processes of a machine."""
    runs: dict[str, list[Run]] = {}
    for line in effects.read_text().splitlines() if effects.exists() else ():
        name, pid, at = line.split()
        runs.setdefault(name, []).append(Run(int(pid), float(at)))
    return runs


def _is_taken_over(runs: Sequence[Run], deaths: Sequence[Death]) -> bool:
    """Each run but the last was by a worker that was dead when the next began."""
    return all(
        any(death.pid == run.pid and death.at <= after.at for death in deaths)
        for run, after in pairwise(runs)
    )


def _owner_died(flow: Flow, deaths: Sequence[Death]) -> bool:
    return any(death.pid == flow.owner and death.at <= flow.ended for death in deaths)


def _carrier_died(flow: Flow, deaths: Sequence[Death]) -> bool:
    """Of those whose answer never came there is no telling who carried it."""
    return any(
        flow.began - A_MOMENT <= death.at <= flow.ended and (death.port in flow.carriers or not flow.carriers)
        for death in deaths
    )


def _listed(counted: Mapping[Ending, int] | Mapping[str, int]) -> str:
    return ", ".join(f"{many} {name}" for name, many in sorted(counted.items()))


def _some(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names[:5])})" if names else "none"
