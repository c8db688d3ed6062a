"""`askback desk`: servers kept connected, calls typed here line by line, their questions on one page."""

import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

import anyio
from mcp.shared.exceptions import MCPError

from askback.cli.endings import Exit, Interrupted
from askback.cli.kept import Kept
from askback.cli.lines import piped_lines, typed_lines
from askback.cli.logs import logs_on_screen
from askback.cli.options import DeskOptions, read_desk
from askback.cli.paper import MOST_OF_A_NOTE, say
from askback.cli.people import present
from askback.cli.printing import text_lines
from askback.cli.servers import Found, look_up, make_driver
from askback.cli.signals import run
from askback.cli.typed import HELP, TypedCalls
from askback.client import Line
from askback.client.safe import line
from askback.errors import OperatorError


def main(words: Sequence[str]) -> int:
    """Run it until the lines end; of piped lines, the exit code is the worst of their calls'."""
    options = read_desk(words)
    try:
        with logs_on_screen():
            return run(_keep, options)
    except OperatorError as error:
        say("\n".join(text_lines(error.message)))
        return Exit.MISUSED
    except Interrupted as end:
        return end.exit


async def _keep(options: DeskOptions) -> int:
    found = _named_apart([look_up(word, options.connecting) for word in options.targets])
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(present(options.connecting))
        assert there.person is not None  # the desk
        queue = Line(there.person)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        servers: dict[str, Kept] = {}
        for label, one in found.items():
            make = partial(make_driver, one.target, queue, options.connecting, label=label)
            server = Kept(make, tasks)
            stack.callback(server.leave)
            if await _connects(server):
                servers[label] = server
        if not servers:
            return Exit.NOT_CONNECTED
        calls = TypedCalls(servers, there, limit=options.connecting.timeout)
        tools = await calls.tools()
        if not sys.stdin.isatty():
            return await calls.run(piped_lines(sys.stdin), waits=True)
        for label, names in tools.items():
            say(line(f"{label}: {', '.join(names) or 'no tools'}", MOST_OF_A_NOTE))
        say(HELP)
        await calls.run(typed_lines(tools), waits=False)
        return Exit.DONE


async def _connects(server: Kept) -> bool:
    """One that cannot be reached keeps nobody from the others."""
    try:
        async with server.lent():
            return True
    except MCPError as error:
        say("\n".join(text_lines(error.message)))
        return False


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
