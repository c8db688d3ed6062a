"""`askback desk`: keeps servers connected, and shows the questions of calls that are typed here on one page."""

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from askback.cli.call.options import DeskOptions, read_desk
from askback.cli.call.people import Answerer, open_answerer
from askback.cli.call.report import text_lines
from askback.cli.console import CommandInterrupted, Exit, is_terminal, print_note, run, warnings_on_screen
from askback.cli.desk import HELP, DeskCalls, DeskServer, DeskStartup, read_piped_lines, read_typed_lines
from askback.cli.servers.targets import Target, look_up, make_driver, starting_state
from askback.client import PersonQueue
from askback.errors import OperatorError


def main(words: Sequence[str]) -> int:
    """Run the desk until the lines end; for piped lines, the exit code is the worst of their calls."""
    options = read_desk(words)
    try:
        with warnings_on_screen():
            targets = _name_targets([look_up(word, options) for word in options.targets])
            return run(_keep_desk, options, targets)
    except OperatorError as error:
        print_note("\n".join(text_lines(error.message)))
        return Exit.MISUSED
    except CommandInterrupted as end:
        return end.exit


async def _keep_desk(options: DeskOptions, targets: Mapping[str, Target]) -> int:
    states = {label: starting_state(target) for label, target in targets.items()}
    is_typed = is_terminal(sys.stdin)
    async with open_answerer(options) as there, _make_servers(targets, there, options) as servers:
        startup = DeskStartup(servers, states, limit=options.timeout, lists_tools=is_typed)
        async with startup.under_way():
            if not await startup.is_anybody_there():
                return Exit.NOT_CONNECTED
            calls = DeskCalls(servers, there, limit=options.timeout)
            if not is_typed:
                return await calls.run(read_piped_lines(sys.stdin), waits=True)
            print_note(HELP)
            await calls.run(read_typed_lines(startup.tools), waits=False)
            return Exit.DONE


@asynccontextmanager
async def _make_servers(
    targets: Mapping[str, Target], there: Answerer, options: DeskOptions
) -> AsyncGenerator[dict[str, DeskServer]]:
    """Servers that share one person; they are not connected yet, and disconnected at the end of the block."""
    assert there.person is not None  # the desk
    queue = PersonQueue(there.person)
    async with anyio.create_task_group() as tasks:
        servers = {
            label: DeskServer(label, partial(make_driver, target, queue, options, label=label), tasks)
            for label, target in targets.items()
        }
        yield servers
        for server in servers.values():
            server.leave()


def _name_targets(targets: Sequence[Target]) -> dict[str, Target]:
    """Targets by their labels; a second one of the same label gets a number."""
    named: dict[str, Target] = {}
    for target in targets:
        label, number = target.label, 2
        while label in named:
            label, number = f"{target.label}-{number}", number + 1
        named[label] = target
    return named
