"""`askback demo`: the pizzeria asks you, or plays a guest itself; then what goes over the wire on three revisions."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import anyio

from askback.cli import pizzeria
from askback.cli.endings import INSTALL_EXTRA, Exit, Interrupted
from askback.cli.paper import Block, Paper, Row, Style, say
from askback.cli.streams import is_terminal
from askback.testing import REVISIONS, Run, accept, decline, run_tool
from askback.testing.replies import Reply
from askback.testing.wire import Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """What somebody ordered, and how they answered."""

    pizza: str = "Margherita"
    replies: Sequence[Reply]


COLA = Guest(replies=[accept(drink="cola", tip=2), accept(yes=True)])
RELUCTANT = Guest(replies=[decline()])

LONGEST = 64
"""A longer string is a sealed state, noise to a reader."""

SHORT = 24
"""A member that is no longer than this stays on its line."""

EVERY_REQUEST = {"_meta", "resultType", "structuredContent", "isError"}
"""Members that every message of a revision carries, or that say the same twice; left out to show the rest."""


def main(words: Sequence[str]) -> int:
    """Run it; the exit code says whether the three results were the same."""
    parser = argparse.ArgumentParser(prog="askback demo", description="A pizzeria that asks you.")
    parser.add_argument("--no", action="store_true", help="let a guest decline, without asking you")
    parser.add_argument("--play", action="store_true", help="let a guest accept, without asking you")
    parser.add_argument("--plain", action="store_true", help="ask line by line")
    chosen = parser.parse_args(words)
    if chosen.no or chosen.play or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return run_demo(RELUCTANT if chosen.no else COLA)
    return _with_you(plain=chosen.plain)


def _with_you(*, plain: bool) -> int:
    """Where somebody sits at a terminal, and what asks them is installed."""
    try:
        ask_guest = import_module("askback.cli.guest").ask_guest
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        say(f"A guest plays your part, since what would ask you is not installed. {INSTALL_EXTRA}\n")
        return run_demo(COLA)
    try:
        you = ask_guest(plain=plain)
    except Interrupted as end:
        return end.exit
    return Exit.DONE if you is None else run_demo(you)


def run_demo(guest: Guest = COLA, *, paper: Paper | None = None) -> int:
    """The same call on three revisions, side by side."""
    return anyio.run(_demo, guest, paper or Paper())


async def _demo(guest: Guest, paper: Paper) -> int:
    paper.print("One tool body, three protocol revisions", "bold")
    paper.print("-> from the client    <- from the server    (handshakes left out)", "dim")
    paper.print()
    runs: dict[str, Run] = {}
    for revision in REVISIONS:
        pizzeria.orders.clear()
        arguments = {"pizza": guest.pizza}
        runs[revision] = await run_tool(
            pizzeria.mcp, "order", arguments, guest.replies, revision=revision, always_replay=False
        )
    paper.columns([_column(revision, run) for revision, run in runs.items()])
    return _verdict(paper, [run.text for run in runs.values()])


def _column(revision: str, run: Run) -> list[Block]:
    """Both eras exchange the same number of messages, so the blocks of the columns stand beside each other."""
    start = next(number for number, line in enumerate(run.transcript) if line.what == "tools/call")
    calls = sum(line.what == "tools/call" for line in run.transcript)
    way = "push: 1 call, which waits" if calls == 1 else f"rounds: {calls} calls, none waits"
    head: Block = [Row(revision, "bold"), Row(way, "dim"), Row()]
    return [head, *(_block(line) for line in run.transcript[start:])]


def _block(line: Line) -> Block:
    style: Style = "there" if line.direction == "->" else "back"
    return [Row(f"{line.direction} {line.what}", style), *_outline(line.body, 3), Row()]


def _outline(value: Mapping[str, Any], indent: int) -> Iterator[Row]:
    """Nested members as an indented outline: the words of the wire without its brackets."""
    for name, member in value.items():
        if name in EVERY_REQUEST or (name, member) == ("type", "object"):
            continue
        inline = _inline(member)
        if isinstance(member, Mapping) and len(inline) > SHORT:
            yield Row(f"{name}:", indent=indent)
            yield from _outline(cast("Mapping[str, Any]", member), indent + 2)
        else:
            yield Row(f"{name}: {inline}", indent=indent)


def _inline(value: Any) -> str:
    match value:
        case str() if len(value) > LONGEST:
            return f"sealed, {len(value)} characters"
        case bool():
            return str(value).lower()
        case {"type": "text", "text": text}:
            return str(text)
        case Mapping():
            members = cast("Mapping[str, Any]", value)
            return ", ".join(f"{name} = {_inline(member)}" for name, member in members.items())
        case list():
            return ", ".join(map(_inline, cast("list[Any]", value)))
        case _:
            return str(value)


def _verdict(paper: Paper, texts: list[str]) -> int:
    if len(set(texts)) == 1:
        paper.print(f"The same result on all three: {texts[0]}", "good")
        return 0
    paper.print(f"The results differ: {', '.join(texts)}", "bold")
    return 1
