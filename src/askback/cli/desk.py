"""`askback desk`: servers kept connected, calls typed here line by line, their questions on one page."""

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from askback.cli.endings import Exit, Interrupted
from askback.cli.gathering import Gathering
from askback.cli.kept import Kept
from askback.cli.lines import piped_lines, typed_lines
from askback.cli.logs import logs_on_screen
from askback.cli.options import Connecting, DeskOptions, read_desk
from askback.cli.paper import MOST_OF_A_NOTE, say
from askback.cli.people import Present, present
from askback.cli.printing import text_lines
from askback.cli.servers import Found, look_up, make_driver
from askback.cli.signals import run
from askback.cli.streams import is_terminal
from askback.cli.targets import beginning_of
from askback.cli.typed import HELP, TypedCalls
from askback.client import Line
from askback.client.safe import line
from askback.errors import OperatorError


def main(words: Sequence[str]) -> int:
    """Run it until the lines end; of piped lines, the exit code is the worst of their calls'."""
    options = read_desk(words)
    try:
        with logs_on_screen():
            found = _named_apart([look_up(word, options.connecting) for word in options.targets])
            return run(_keep, options, found)
    except OperatorError as error:
        say("\n".join(text_lines(error.message)))
        return Exit.MISUSED
    except Interrupted as end:
        return end.exit


async def _keep(options: DeskOptions, found: Mapping[str, Found]) -> int:
    limit = options.connecting.timeout
    states = {label: beginning_of(one.target) for label, one in found.items()}
    async with present(options.connecting) as there, _kept(found, there, options.connecting) as servers:
        gathering = Gathering(servers, states, limit=limit, tells=is_terminal(sys.stdin))
        async with gathering.under_way():
            if not await gathering.is_anybody_there():
                return Exit.NOT_CONNECTED
            return await _take(TypedCalls(servers, there, limit=limit), gathering)


@asynccontextmanager
async def _kept(
    found: Mapping[str, Found], there: Present, connecting: Connecting
) -> AsyncGenerator[dict[str, Kept]]:
    """Servers that share one person, none of them connected yet; those that are by the end are let go."""
    assert there.person is not None  # the desk
    queue = Line(there.person)
    async with anyio.create_task_group() as tasks:
        servers: dict[str, Kept] = {}
        for label, one in found.items():
            make = partial(make_driver, one.target, queue, connecting, label=label)
            servers[label] = Kept(label, make, tasks)
        yield servers
        for server in servers.values():
            server.leave()


async def _take(calls: TypedCalls, gathering: Gathering) -> Exit:
    """Line after line, from whoever types or from a pipe."""
    if not is_terminal(sys.stdin):
        return await calls.run(piped_lines(sys.stdin), waits=True)
    say(HELP)
    await calls.run(typed_lines(gathering.tools), waits=False)
    return Exit.DONE


def _named_apart(found: Sequence[Found]) -> dict[str, Found]:
    """By their labels; a second one of the same label gets a number."""
    named: dict[str, Found] = {}
    for one in found:
        for note in one.notes:
            say(line(note, MOST_OF_A_NOTE))
        label, number = one.target.label, 2
        while label in named:
            label, number = f"{one.target.label}-{number}", number + 1
        named[label] = one
    return named
