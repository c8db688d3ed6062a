"""`askback desk`: servers kept connected, calls typed here line by line, their questions on one page."""

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from askback.cli.call.options import ConnectOptions, DeskOptions, read_desk
from askback.cli.call.people import Answerer, open_answerer
from askback.cli.call.results import text_lines
from askback.cli.desk.calls import HELP, DeskCalls
from askback.cli.desk.input import read_piped_lines, read_typed_lines
from askback.cli.desk.servers import DeskServer
from askback.cli.desk.startup import DeskStartup
from askback.cli.exits import CommandInterrupted, Exit
from askback.cli.logs import logs_on_screen
from askback.cli.printer import MAX_NOTE, is_terminal, print_note
from askback.cli.servers.drivers import FoundTarget, look_up, make_driver
from askback.cli.servers.targets import starting_state
from askback.cli.signals import run
from askback.client import PersonQueue
from askback.errors import OperatorError
from askback.model.safe import safe_line


def main(words: Sequence[str]) -> int:
    """Run it until the lines end; of piped lines, the exit code is the worst of their calls'."""
    options = read_desk(words)
    try:
        with logs_on_screen():
            found = _named_apart([look_up(word, options.connecting) for word in options.targets])
            return run(_keep, options, found)
    except OperatorError as error:
        print_note("\n".join(text_lines(error.message)))
        return Exit.MISUSED
    except CommandInterrupted as end:
        return end.exit


async def _keep(options: DeskOptions, found: Mapping[str, FoundTarget]) -> int:
    limit = options.connecting.timeout
    states = {label: starting_state(one.target) for label, one in found.items()}
    async with open_answerer(options.connecting) as there, _kept(found, there, options.connecting) as servers:
        gathering = DeskStartup(servers, states, limit=limit, tells=is_terminal(sys.stdin))
        async with gathering.under_way():
            if not await gathering.is_anybody_there():
                return Exit.NOT_CONNECTED
            return await _take(DeskCalls(servers, there, limit=limit), gathering)


@asynccontextmanager
async def _kept(
    found: Mapping[str, FoundTarget], there: Answerer, connecting: ConnectOptions
) -> AsyncGenerator[dict[str, DeskServer]]:
    """Servers that share one person, none of them connected yet; those that are by the end are let go."""
    assert there.person is not None  # the desk
    queue = PersonQueue(there.person)
    async with anyio.create_task_group() as tasks:
        servers: dict[str, DeskServer] = {}
        for label, one in found.items():
            make = partial(make_driver, one.target, queue, connecting, label=label)
            servers[label] = DeskServer(label, make, tasks)
        yield servers
        for server in servers.values():
            server.leave()


async def _take(calls: DeskCalls, gathering: DeskStartup) -> Exit:
    """Line after line, from whoever types or from a pipe."""
    if not is_terminal(sys.stdin):
        return await calls.run(read_piped_lines(sys.stdin), waits=True)
    print_note(HELP)
    await calls.run(read_typed_lines(gathering.tools), waits=False)
    return Exit.DONE


def _named_apart(found: Sequence[FoundTarget]) -> dict[str, FoundTarget]:
    """By their labels; a second one of the same label gets a number."""
    named: dict[str, FoundTarget] = {}
    for one in found:
        for note in one.notes:
            print_note(safe_line(note, MAX_NOTE))
        label, number = one.target.label, 2
        while label in named:
            label, number = f"{one.target.label}-{number}", number + 1
        named[label] = one
    return named
