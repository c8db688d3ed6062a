"""`askback call`: list what a server offers, or call it, with its questions answered here."""

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from mcp.shared.exceptions import MCPError

from askback.cli.call.options import CallCommandOptions, CallRequest, read_call
from askback.cli.call.people import StatusLine, open_answerer
from askback.cli.call.report import print_json, print_log, print_outcome
from askback.cli.call.server_call import CallOutcome, Failure, ServerCall, connect_and_run, failure_of
from askback.cli.console import (
    MAX_NOTE,
    CommandInterrupted,
    Exit,
    Misused,
    Printer,
    TextRow,
    print_note,
    run,
    warnings_on_screen,
)
from askback.cli.servers.targets import (
    CommandTarget,
    Target,
    look_up,
    make_driver,
    starting_state,
    surroundings,
)
from askback.client import PersonQueue
from askback.errors import OperatorError
from askback.model.safe import safe_line


def main(words: Sequence[str]) -> int:
    """Run the command; gives the exit code."""
    options = read_call(words)
    try:
        if options.target is None:
            return _list_servers(options)
        with warnings_on_screen():
            target = look_up(options.target, options)  # before the event loop: a person may be asked to agree
            _require_one_word(target, options.wanted)
            outcome = run(_call, options, target)
    except OperatorError as error:
        outcome = CallOutcome(came=failure_of(error, nobody=None))
    except CommandInterrupted as end:
        outcome = CallOutcome(came=Failure(exit=end.exit, kind="Interrupted", message=INTERRUPTED[end.exit]))
    # After a hang-up nobody reads the output, and the command still has to end in order.
    with suppress(OSError) if outcome.exit == Exit.HUNG_UP else nullcontext():
        if options.json:
            print_json(outcome, sys.stdout)
        else:
            print_outcome(outcome, Printer())
        print_log(outcome, is_wanted=options.stderr)
    return outcome.exit


INTERRUPTED = {
    Exit.INTERRUPTED: "Interrupted. The server was told, if it could be reached.",
    Exit.TERMINATED: "Ended by SIGTERM. The server was told, if it could be reached.",
    Exit.HUNG_UP: "Ended with its terminal, by SIGHUP. The server was told, if it could be reached.",
}


async def _call(options: CallCommandOptions, target: Target) -> CallOutcome:
    label = options.label or target.label
    working = StatusLine(label, sys.stderr, plain=options.plain, begins=starting_state(target))
    try:
        async with open_answerer(options, working) as there, working.display():
            queue = None if there.person is None else PersonQueue(there.person)
            driver = make_driver(target, queue, options, label=label)
            order = ServerCall(wanted=options.wanted, present=there, working=working, limit=options.timeout)
            # The log is read when the program has ended and it is complete.
            return replace(await connect_and_run(driver, order, label=label), log=driver.log)
    except MCPError as error:
        return CallOutcome(came=failure_of(error, nobody=None))


def _require_one_word(target: Target, wanted: CallRequest) -> None:
    """`askback call python server.py` would start Python alone, wait, and then call a tool named server.py."""
    name = wanted.name or ""
    if isinstance(target, CommandTarget) and len(target.words) == 1 and "." in name and Path(name).is_file():
        raise Misused(
            f"{name} is a file and hardly the name of a tool. A command with its arguments is one word: "
            f'askback call "{target.label} {name}".'
        )


def _list_servers(options: CallCommandOptions) -> int:
    """List the servers of the mcp.json files, one of which could be the target."""
    configs = surroundings(options.config).configs
    for problem in configs.problems:
        print_note(safe_line(problem, MAX_NOTE))
    if options.json:
        servers = [{"name": one.name, "file": str(one.file)} for one in configs.servers]
        print(json.dumps({"servers": servers, "exit": Exit.DONE}))
        return Exit.DONE
    paper = Printer()
    if not configs.servers:
        paper.print(
            "No mcp.json file names a server here. Give an address or a command: askback call TARGET."
        )
    for file in dict.fromkeys(one.file for one in configs.servers):
        paper.write(safe_line(str(file), MAX_NOTE))  # whole, to be copied
        names = [safe_line(one.name) for one in configs.servers if one.file == file]
        paper.columns([[[TextRow(name, "there", indent=2) for name in names]]])
    return Exit.DONE
