"""Writes the tables of docs/explain/faults.md: what happens to a call whose worker is killed, point by point.

python -m scripts.faults
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import anyio

from scripts.services import redis_server
from tests.end_to_end.faults.client import PUSH, ROUNDS
from tests.end_to_end.faults.losses import Loss, find_out_losses
from tests.end_to_end.faults.outcomes import Found, Outcome, find_out
from tests.end_to_end.faults.points import SIDES, Point
from tests.end_to_end.faults.runs import Terms

PAGE = Path(__file__).parent.parent / "docs" / "explain" / "faults.md"

BEGIN = "<!-- From here the page is written by `python -m scripts.faults`. -->\n"
END = "<!-- From here the page is written by hand. -->\n"

TITLES = ("it has read", "and is killed at", "`retry=False`", "`retry=True`")

LOST_TITLES = ("Redis is started again", "and the client", "ends in")

TABLES = [
    (f"{ROUNDS}, `once(key, fn)`", ROUNDS, False),
    (f"{ROUNDS}, `once(key, fn, within=3600)`", ROUNDS, True),
    (f"{PUSH}, `once(key, fn, within=3600)`", PUSH, True),
]

TIMES = {0: "not at all", 1: "once", 2: "twice"}

Ends = tuple[Outcome, ...]
"""How it ends at one point: without `retry`, and with it."""


class Row(NamedTuple):
    """Points of one stage, one after the other, that all end alike."""

    stage: str
    points: list[Point]
    ends: Ends


def page(written: str, found: Found, losses: Sequence[Loss]) -> str:
    """The page with its tables as they should be; what was written by hand stays."""
    before, _, rest = written.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(_section(title, revision, within, found) for title, revision, within in TABLES)
    return f"{before}{BEGIN}\n{tables}\n{_lost(losses)}\n{END}{after}"


def _section(title: str, revision: str, within: bool, found: Found) -> str:
    without, with_retry = (found[Terms(revision, retry, within)] for retry in (False, True))
    ends = {point: (end, with_retry[point]) for point, end in without.items()}
    rows = [[*_place(row, ends), *(_cell(end) for end in row.ends)] for row in _rows(ends)]
    return f"### {title}\n\n{len(ends)} points.\n\n{_table(_said_once(rows))}"


def _lost(losses: Sequence[Loss]) -> str:
    rows = [[loss.moment, loss.then, f"{loss.outcome}, effect {TIMES[loss.effects]}"] for loss in losses]
    return f"### Redis without a file, `once(key, fn, within=3600)`\n\n{_table(rows, LOST_TITLES)}"


def _rows(ends: Mapping[Point, Ends]) -> Iterator[Row]:
    for (stage, given), points in groupby(ends, key=lambda point: (point.stage, ends[point])):
        yield Row(stage, list(points), given)


def _place(row: Row, ends: Mapping[Point, Ends]) -> tuple[str, str]:
    """Where a row holds for a whole stage there is nothing to tell apart."""
    whole = [point for point in ends if point.stage == row.stage]
    deeds = "; ".join(_deeds(row.points))
    return row.stage, f"any point: {deeds}" if row.points == whole else deeds


def _deeds(points: Sequence[Point]) -> Iterator[str]:
    """What is done there; where only the moment before or after it belongs here, that is said."""
    for (deed, turn), group in groupby(points, key=lambda point: (point.deed, point.turn)):
        sides = [point.side for point in group]
        said = deed if turn == 1 else f"{deed} again"
        yield said if tuple(sides) == SIDES or deed == "reading it" else f"*{sides[0]}* {said}"


def _cell(end: Outcome) -> str:
    return f"{end.kind}, effect {TIMES[end.effects]}"


def _said_once(rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The stage stands in the first of its rows."""
    before = ""
    for stage, *cells in rows:
        yield ["" if stage == before else stage, *cells]
        before = stage


def _table(rows: Iterable[Sequence[str]], titles: Sequence[str] = TITLES) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    with TemporaryDirectory() as folder, redis_server(keeps=False) as redis:
        found, losses = find_out(f"sqlite:///{folder}/askback.db"), anyio.run(find_out_losses, redis)
        PAGE.write_text(page(PAGE.read_text(), found, losses))
    print(PAGE.name)
