"""Reads the words of `askback call` and `askback desk` into values."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from askback.cli.call.arguments import is_argument
from askback.cli.console import Misused
from askback.protocol.revisions import REVISIONS

TARGET = (
    "an address (https://...), the name of a server in an mcp.json file, or a command; a command with arguments "
    'is one word: "python server.py"'
)

CALL_EXAMPLES = """\
examples:
  askback call server.py                          what it offers
  askback call server.py order pizza=Margherita   call a tool
  askback call server.py order size:=3            a value in JSON
  askback call https://mcp.example/mcp search q=@question.txt --json
  askback call weather --prompt plan days=3       "weather" of an mcp.json file

Your own mcp.json files come first. A server from a file in the current folder starts only after you type yes in the
terminal, or with --config.

The exit codes are in docs/reference/command-line.md: 0 done, 1 failed, 2 misused, 3 not connected,
4 nobody answered, 5 out of time, 129 hung up, 130 interrupted, 143 terminated.
"""

DESK_EXAMPLES = """\
Calls are typed here, one per line, as after `askback call`; their questions appear on the desk.

examples:
  askback desk server.py https://mcp.example/mcp
  echo "order pizza=Margherita" | askback desk server.py
"""


class ConnectOptions(argparse.Namespace):
    """How servers are found and reached, and who answers: options of `askback call` and `askback desk`."""

    revision: str | None
    header: list[str]
    config: Path | None
    policy: Path | None
    plain: bool
    desk: bool
    no_open: bool
    timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """What to do with the server; `name` None means to list what it offers."""

    kind: str
    name: str | None
    arguments: tuple[str, ...]


class CallCommandOptions(ConnectOptions):
    """The options of `askback call`; without a target the servers of the mcp.json files are listed."""

    target: str | None
    wanted: CallRequest
    label: str | None
    json: bool
    stderr: bool


class DeskOptions(ConnectOptions):
    """The options of `askback desk`; its calls come line by line."""

    targets: list[str]


def read_call(words: Sequence[str]) -> CallCommandOptions:
    """Read the words of `askback call`; a usage error ends the program as argparse does."""
    parser = _parser(
        "call", "List what an MCP server offers, or call it and answer its questions.", CALL_EXAMPLES
    )
    parser.add_argument("target", nargs="?", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "words", nargs="*", metavar="TOOL name=value", help="the tool to call, and its arguments"
    )
    _add_others(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument(
        "--stderr", action="store_true", help="show what the server wrote to its standard error"
    )
    parser.add_argument("--label", metavar="NAME", help="what you call this server, here and in policies")
    parser.add_argument("--desk", action="store_true", help="answer questions in the browser")
    parser.add_argument(
        "--plain", action="store_true", help="ask line by line, for screen readers and simple terminals"
    )
    _add_shared(parser)
    options = parser.parse_intermixed_args(words, CallCommandOptions())
    try:
        options.wanted = read_wanted(options.words, prompt=options.prompt, resource=options.resource)
    except ValueError as error:
        parser.error(str(error))
    if options.target is None and options.wanted.name is not None:
        parser.error(
            f"TARGET comes first: the server that has the {options.wanted.kind} {options.wanted.name!r}"
        )
    return options


def read_desk(words: Sequence[str]) -> DeskOptions:
    """Read the words of `askback desk`."""
    parser = _parser("desk", "Keep a page open that shows the questions of several servers.", DESK_EXAMPLES)
    parser.add_argument("targets", nargs="+", metavar="TARGET", help=TARGET)
    parser.set_defaults(desk=True, plain=False)
    _add_shared(parser)
    return parser.parse_intermixed_args(words, DeskOptions())


class LineParser(argparse.ArgumentParser):
    """A parser for lines that are typed at a desk: it raises errors, so that the desk goes on."""

    def error(self, message: str) -> NoReturn:
        raise Misused(f"{message}. Type help for help.")


def read_line(words: Sequence[str]) -> CallRequest:
    """Read a line that is typed at a desk, without the server's name."""
    parser = LineParser(prog="", add_help=False)
    parser.add_argument("words", nargs="*")
    _add_others(parser)
    try:
        chosen, unknown = parser.parse_known_intermixed_args(words)
        if unknown:
            raise Misused(f"{unknown[0]} is not known here; --prompt NAME and --resource URI are.")
        return read_wanted(chosen.words, prompt=chosen.prompt, resource=chosen.resource)
    except ValueError as error:
        raise Misused(f"{error}.") from error


def read_wanted(
    words: Sequence[str], *, prompt: str | None = None, resource: str | None = None
) -> CallRequest:
    """Tell what is wanted. A tool's name comes first and has no equals sign; a ValueError says what is wrong."""
    if resource is not None:
        if words:
            raise ValueError(f"a resource takes no arguments, and {words[0]!r} is one too many")
        return CallRequest(kind="resource", name=resource, arguments=())
    if prompt is not None:
        return CallRequest(kind="prompt", name=prompt, arguments=tuple(words))
    if words and is_argument(words[0]):
        raise ValueError(f"{words[0]!r} is an argument; the name of the tool comes before it")
    return CallRequest(kind="tool", name=words[0] if words else None, arguments=tuple(words[1:]))


def _parser(name: str, description: str, examples: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"askback {name}",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_others(parser: argparse.ArgumentParser) -> None:
    """Add the options for prompts and resources."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--prompt", metavar="NAME", help="get this prompt instead of calling a tool")
    what.add_argument("--resource", metavar="URI", help="read this resource instead of calling a tool")


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--no-open", action="store_true", help="print the address of the desk without opening a browser")
    add("--policy", type=Path, metavar="FILE", help="let this TOML file answer what its rules name")
    add("--revision", choices=tuple(REVISIONS), help="speak this revision of the protocol and no other")
    add(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="give a call up after this time, questions included",
    )
    add(
        "--config",
        type=Path,
        metavar="FILE",
        help="look for TARGET in this mcp.json file alone, and trust it",
    )
    add(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header to an address; ${VAR} in single quotes is taken from the environment",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds
