"""`askback demo`: three servers ask you, or somebody plays your part; then what goes over the wire on each revision."""

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
from askback.cli.exits import INSTALL_EXTRA, CommandInterrupted, Exit
from askback.cli.printer import Printer, print_note
from askback.cli.streams import is_terminal
from askback.cli.wired import LEGEND, columns_of
from askback.testing import REVISIONS, Run, accept, decline, run_tool
from askback.testing.replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswers:
    """What somebody ordered and how they answered, what they say to a link, and what to an agent's query."""

    pizza: str = "Margherita"
    replies: Sequence[Reply]
    to_link: Reply
    to_query: Reply


COLA = DemoAnswers(
    replies=[accept(drink="cola", tip=2), accept(yes=True)],
    to_link=accept(),
    to_query=accept(decision="limit"),
)
RELUCTANT = DemoAnswers(replies=[decline()], to_link=decline(), to_query=decline())


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStory:
    """One that is told where what it takes is installed."""

    module: str
    takes: Sequence[str]
    """Modules that an extra brings."""
    without: str
    """What is said instead."""

    def is_possible(self) -> bool:
        return all(map(_is_there, self.takes))


VISITING = DemoStory(
    module="askback.cli.visiting",
    takes=["askback.pages.app"],
    without='A second story, of a key, needs pages: pip install "askback[pages]"',
)
QUERYING = DemoStory(
    module="askback.cli.querying",
    takes=["duckdb", "sqlglot"],
    without='A third story, of a database, needs DuckDB: pip install "askback[duckdb]"',
)


def main(words: Sequence[str]) -> int:
    """Run it; the exit code says whether the results were the same on all revisions."""
    parser = argparse.ArgumentParser(
        prog="askback demo", description="A pizzeria, a weather server and a database that ask you."
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
        print_note(f"A guest plays your part, since what would ask you is not installed. {INSTALL_EXTRA}\n")
        return run_demo(COLA)
    try:
        guest = you.ask_guest(plain=plain)
        if guest is not None and VISITING.is_possible():
            guest = you.send_to_page(guest, plain=plain)
        if guest is not None and QUERYING.is_possible():
            guest = import_module("askback.cli.deciding").decide(guest, plain=plain)
    except CommandInterrupted as end:
        return end.exit
    return Exit.DONE if guest is None else run_demo(guest)


def run_demo(guest: DemoAnswers = COLA, *, paper: Printer | None = None) -> int:
    """The same calls on all revisions, side by side."""
    return anyio.run(_demo, guest, paper or Printer())


async def _demo(guest: DemoAnswers, paper: Printer) -> int:
    codes = [await _ordered(guest, paper)]
    for story, reply in ((VISITING, guest.to_link), (QUERYING, guest.to_query)):
        paper.print()
        if story.is_possible():
            codes.append(await import_module(story.module).tell(paper, reply))
        else:
            paper.print(story.without)
    return max(codes)


async def _ordered(guest: DemoAnswers, paper: Printer) -> int:
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


def _verdict(paper: Printer, texts: list[str]) -> int:
    if len(set(texts)) == 1:
        paper.print(f"The same result on all three: {texts[0]}", "good")
        return 0
    paper.print(f"The results differ: {', '.join(texts)}", "bold")
    return 1


def _is_there(module: str) -> bool:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        _require_others(error)
        return False
    return True


def _require_others(error: ModuleNotFoundError) -> None:
    """A module of ours that is missing is a fault, and no extra."""
    if (error.name or "").startswith("askback"):
        raise error
