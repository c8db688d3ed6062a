"""`askback demo`: the pizzeria on three protocol revisions side by side, and what goes over the wire in each."""

import json
from collections.abc import Mapping
from typing import Any

import anyio

from askback.cli import pizzeria
from askback.cli.paper import Paper, Piece
from askback.testing import REVISIONS, Run, accept, decline, run_tool
from askback.testing.replies import Reply
from askback.testing.wire import Line

GUEST: list[Reply] = [accept(drink="cola", tip=2), accept(yes=True)]
RELUCTANT_GUEST: list[Reply] = [decline()]

LONGEST = 64
"""Longer strings are cut in the middle: a sealed state is noise to a reader."""


def run_demo(*, declines: bool = False, paper: Paper | None = None) -> int:
    """Run it and say whether the three results were the same."""
    return anyio.run(_demo, declines, paper or Paper())


async def _demo(declines: bool, paper: Paper) -> int:
    script = RELUCTANT_GUEST if declines else GUEST
    paper.print("One tool, three protocol revisions", "bold")
    paper.print("await ask(...), await confirm(...), await once(...): the same body for every client.", "dim")
    paper.print()
    runs: dict[str, Run] = {}
    for revision in REVISIONS:
        pizzeria.orders.clear()
        arguments = {"pizza": "Margherita"}
        runs[revision] = await run_tool(
            pizzeria.mcp, "order", arguments, script, revision=revision, always_replay=False
        )
    paper.columns([_column(revision, run) for revision, run in runs.items()])
    paper.print()
    return _verdict(paper, runs)


def _column(revision: str, run: Run) -> list[Piece]:
    pieces = [Piece(revision, "bold"), Piece(_ways(run), "dim"), Piece("")]
    for line in run.transcript:
        pieces.extend(_pieces(line))
    return [*pieces, Piece(""), Piece(f"the tool says: {run.text}", "good")]


def _ways(run: Run) -> str:
    calls = sum(line.what == "tools/call" for line in run.transcript)
    if calls > 1:
        return f"rounds: the call ends with each question and is made again ({calls} calls)"
    return "push: the call waits while the client answers (1 call)"


def _pieces(line: Line) -> list[Piece]:
    style = "there" if line.direction == "->" else "back"
    head = Piece(line.what, style, f"{line.direction} ")
    return [head, *(Piece(text, "dim", "     ") for text in _facts(line.body))]


def _facts(body: Any) -> list[str]:
    """One line per member, as compact JSON; the envelope that every request of a revision carries is left out."""
    if not isinstance(body, Mapping):
        return []
    return [f"{name}: {_short(value)}" for name, value in body.items() if name not in ("_meta", "resultType")]


def _short(value: Any) -> str:
    return json.dumps(_cut(value), ensure_ascii=False, separators=(", ", ": "))


def _cut(value: Any) -> Any:
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:12]}…{len(value)} characters, sealed"
        case Mapping():
            return {str(name): _cut(member) for name, member in value.items()}
        case list():
            return [_cut(member) for member in value]
        case _:
            return value


def _verdict(paper: Paper, runs: Mapping[str, Run]) -> int:
    texts = {run.text for run in runs.values()}
    if len(texts) == 1:
        paper.print(f"The same result on all three: {texts.pop()}", "good")
        return 0
    paper.print(f"The results differ: {sorted(texts)}", "bold")
    return 1
