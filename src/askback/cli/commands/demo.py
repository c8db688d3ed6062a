"""The command `askback demo`: it asks you or plays a guest, and then compares the revisions."""

import argparse
import logging
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import anyio

from askback.cli.demo import pizzeria
from askback.cli.demo.answers import RELUCTANT, WILLING, DemoAnswers
from askback.cli.exits import INSTALL_EXTRA, CommandInterrupted, Exit, import_optional
from askback.cli.printer import Printer, is_terminal, print_note

STORIES = {
    "weather": ("askback.pages.app", 'A second story, of a key, needs pages: pip install "askback[pages]"'),
    "shop": (
        "askback.guards.sql",
        'A third story, of a database, needs guards: pip install "askback[guards]"',
    ),
}
"""After the pizzeria: each needs a module that an extra brings, and is replaced by a hint without it."""


def main(words: Sequence[str]) -> int:
    """Run the demo; the exit code says whether the results were the same on all revisions."""
    parser = argparse.ArgumentParser(
        prog="askback demo", description="A pizzeria, a weather server and a database that ask you."
    )
    parser.add_argument("--no", action="store_true", help="let a guest decline, without asking you")
    parser.add_argument("--play", action="store_true", help="let a guest accept, without asking you")
    parser.add_argument("--plain", action="store_true", help="ask line by line")
    options = parser.parse_args(words)
    with _without_logs():
        if options.no or options.play or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
            return run_demo(RELUCTANT if options.no else WILLING)
        return _with_you(plain=options.plain)


@contextmanager
def _without_logs() -> Generator[None]:
    """The servers run in this process, and would log every request between the lines."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


def _with_you(*, plain: bool) -> int:
    guest = import_optional("askback.cli.demo.guest")
    if guest is None:
        print_note(f"A guest plays your part, since what would ask you is not installed. {INSTALL_EXTRA}\n")
        return run_demo(WILLING)
    try:
        answers = guest.ask_you(_load_stories(), plain=plain)
    except CommandInterrupted as end:
        return end.exit
    return Exit.DONE if answers is None else run_demo(answers)


def _load_stories() -> dict[str, ModuleType | None]:
    """The modules of the stories; None where their extra is missing."""
    return {
        name: import_optional(needed) and import_module(f"askback.cli.demo.{name}")
        for name, (needed, _) in STORIES.items()
    }


def run_demo(answers: DemoAnswers = WILLING, *, printer: Printer | None = None) -> int:
    """Make the same calls on all revisions and print them side by side."""
    return anyio.run(_play, answers, printer or Printer())


async def _play(answers: DemoAnswers, printer: Printer) -> int:
    are_same = [await pizzeria.play(printer, answers)]
    for name, story in _load_stories().items():
        printer.print()
        if story is None:
            printer.print(STORIES[name][1])
        else:
            are_same.append(await story.play(printer, answers))
    return Exit.DONE if all(are_same) else Exit.FAILED
