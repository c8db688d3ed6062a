"""`askback demo`: two servers ask you, or somebody plays your part; then what goes over the wire on each revision."""

import argparse
import logging
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import anyio

from askback.cli import pizzeria
from askback.cli.endings import INSTALL_EXTRA, Exit, Interrupted
from askback.cli.paper import Paper, say
from askback.cli.streams import is_terminal
from askback.cli.wired import LEGEND, columns_of
from askback.testing import REVISIONS, Run, accept, decline, run_tool
from askback.testing.replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """What somebody ordered and how they answered, and what they say to a link."""

    pizza: str = "Margherita"
    replies: Sequence[Reply]
    to_link: Reply


COLA = Guest(replies=[accept(drink="cola", tip=2), accept(yes=True)], to_link=accept())
RELUCTANT = Guest(replies=[decline()], to_link=decline())

NO_PAGES = 'A second story, of a key, needs pages: pip install "askback[pages]"'


def main(words: Sequence[str]) -> int:
    """Run it; the exit code says whether the results were the same on all revisions."""
    parser = argparse.ArgumentParser(
        prog="askback demo", description="A pizzeria and a weather server that ask you."
    )
    parser.add_argument("--no", action="store_true", help="let a guest decline, without asking you")
    parser.add_argument("--play", action="store_true", help="let a guest accept, without asking you")
    parser.add_argument("--plain", action="store_true", help="ask line by line")
    chosen = parser.parse_args(words)
    with _hushed():
        if chosen.no or chosen.play or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
            return run_demo(RELUCTANT if chosen.no else COLA)
        return _with_you(plain=chosen.plain)


@contextmanager
def _hushed() -> Generator[None]:
    """The servers run in this process, and would log every request between the lines."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


def _with_you(*, plain: bool) -> int:
    """Where somebody sits at a terminal, and what asks them is installed."""
    try:
        you: Any = import_module("askback.cli.guest")
    except ModuleNotFoundError as error:
        _require_others(error)
        say(f"A guest plays your part, since what would ask you is not installed. {INSTALL_EXTRA}\n")
        return run_demo(COLA)
    try:
        guest = you.ask_guest(plain=plain)
        if guest is not None and _has_pages():
            guest = you.send_to_page(guest, plain=plain)
    except Interrupted as end:
        return end.exit
    return Exit.DONE if guest is None else run_demo(guest)


def run_demo(guest: Guest = COLA, *, paper: Paper | None = None) -> int:
    """The same calls on all revisions, side by side."""
    return anyio.run(_demo, guest, paper or Paper())


async def _demo(guest: Guest, paper: Paper) -> int:
    code = await _ordered(guest, paper)
    paper.print()
    if not _has_pages():
        paper.print(NO_PAGES)
        return code
    return max(code, await import_module("askback.cli.visiting").tell(paper, guest.to_link))


async def _ordered(guest: Guest, paper: Paper) -> int:
    paper.print("One tool body, three protocol revisions", "bold")
    paper.print(LEGEND, "dim")
    paper.print()
    runs: dict[str, Run] = {}
    for revision in REVISIONS:
        pizzeria.orders.clear()
        arguments = {"pizza": guest.pizza}
        runs[revision] = await run_tool(
            pizzeria.mcp, "order", arguments, guest.replies, revision=revision, always_replay=False
        )
    paper.columns(columns_of(runs))
    return _verdict(paper, [run.text for run in runs.values()])


def _verdict(paper: Paper, texts: list[str]) -> int:
    if len(set(texts)) == 1:
        paper.print(f"The same result on all three: {texts[0]}", "good")
        return 0
    paper.print(f"The results differ: {', '.join(texts)}", "bold")
    return 1


def _has_pages() -> bool:
    try:
        import_module("askback.pages.app")
    except ModuleNotFoundError as error:
        _require_others(error)
        return False
    return True


def _require_others(error: ModuleNotFoundError) -> None:
    """A module of ours that is missing is a fault, and no extra."""
    if (error.name or "").startswith("askback"):
        raise error
