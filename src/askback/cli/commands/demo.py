"""`askback demo`: three servers ask you or a guest, and then the same calls are compared on all revisions."""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType

import anyio

from askback.cli.console import (
    INSTALL_EXTRA,
    CommandInterrupted,
    Exit,
    Printer,
    import_optional,
    is_terminal,
    print_note,
    run,
)
from askback.cli.demo import pizzeria
from askback.cli.demo.transcript import RELUCTANT, WILLING, DemoAnswers

STORIES = {
    "weather": (
        "askback.pages.app",
        'The second story, about a key, needs pages: pip install "askback[pages]"',
    ),
    "shop": (
        "askback.guards.sql",
        'The third story, about a database, needs guards: pip install "askback[guards]"',
    ),
}
"""The stories after the pizzeria, each with a module that its extra brings, and the hint if it is missing."""

Stories = Mapping[str, ModuleType | None]
"""The modules of the stories; None if their extra is missing."""


def main(words: Sequence[str]) -> int:
    """Run the demo; the exit code says whether the results were the same on all revisions."""
    parser = argparse.ArgumentParser(
        prog="askback demo", description="A pizzeria, a weather server and a database that ask you."
    )
    parser.add_argument("--no", action="store_true", help="let a guest decline, without asking you")
    parser.add_argument("--play", action="store_true", help="let a guest accept, without asking you")
    parser.add_argument("--plain", action="store_true", help="ask line by line")
    options = parser.parse_args(words)
    stories = {
        name: import_optional(needed) and import_module(f"askback.cli.demo.{name}")
        for name, (needed, _) in STORIES.items()
    }
    answers: DemoAnswers | None = RELUCTANT if options.no else WILLING
    disabled = logging.root.manager.disable
    logging.disable(logging.INFO)  # the servers run in this process, and would log every request
    try:
        if not (options.no or options.play) and is_terminal(sys.stdin) and is_terminal(sys.stdout):
            answers = _ask_you(stories, plain=options.plain)
        return Exit.DONE if answers is None else anyio.run(_play, answers, stories)
    except CommandInterrupted as end:
        return end.exit
    finally:
        logging.disable(disabled)


def _ask_you(stories: Stories, *, plain: bool) -> DemoAnswers | None:
    guest = import_optional("askback.cli.demo.guest")
    if guest is None:
        print_note(f"A guest answers for you, because the forms are not installed. {INSTALL_EXTRA}\n")
        return WILLING
    return run(guest.ask_you, stories, plain)


async def _play(answers: DemoAnswers, stories: Stories) -> int:
    """Make the same calls on all revisions and print them side by side."""
    printer = Printer()
    are_same = [await pizzeria.play(printer, answers)]
    for name, story in stories.items():
        printer.print()
        if story is None:
            printer.print(STORIES[name][1])
        else:
            are_same.append(await story.play(printer, answers))
    return Exit.DONE if all(are_same) else Exit.FAILED
