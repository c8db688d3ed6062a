"""From the words of a command to a driver: looks up the target, and reads headers and environment."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp.client.stdio import StdioServerParameters

from askback.cli.call.options import ConnectOptions
from askback.cli.exits import Misused
from askback.cli.printer import MAX_NOTE, print_note
from askback.cli.servers.agreement import require_agreement
from askback.cli.servers.configs import Configured, fill_in, read_configs, variables_in
from askback.cli.servers.targets import (
    AddressTarget,
    Surroundings,
    Target,
    configured_as,
    find_target,
    host_of,
    shares_its_name,
)
from askback.client import Driver, PersonQueue
from askback.client.consent import KnownSites, path_of_user
from askback.errors import AuthorError
from askback.model.safe import safe_line

_NAME = r"[!#$%&'*+.^_`|~\w-]+"
_HEADER = re.compile(rf"(?P<name>{_NAME}):\s*(?P<value>[^\r\n]*)", re.ASCII)
_SENDABLE = re.compile(r"[\t -~]*")


def surroundings(config: Path | None) -> Surroundings:
    """The current folder, home and environment."""
    here, home = Path.cwd(), Path.home()
    configs = read_configs(here=here, home=home, only=config)
    return Surroundings(configs=configs, here=here, home=home, environment=os.environ)


def look_up(word: str, options: ConnectOptions) -> Target:
    """Find the target, with its headers, and print where it was found if others have its name; a `Misused` says what it
    could have been, or that nobody has agreed to it."""
    around = surroundings(options.config)
    target = find_target(word, around)
    headers = read_headers(options.header, around.values)
    named = configured_as(word, around)
    if named and named[0].is_near:
        require_agreement(named[0])
    for note in [*around.configs.problems, *_notes(named, target, around)]:
        print_note(safe_line(note, MAX_NOTE))
    if isinstance(target, AddressTarget):
        return replace(target, headers=_check_headers({**target.headers, **headers}))
    if headers:
        raise Misused(f"--header is for addresses, and {target.label} is a command.")
    return target


def _notes(named: Sequence[Configured], target: Target, around: Surroundings) -> Iterator[str]:
    """What the person may not expect: other servers or a file have this name, or the server came with the folder."""
    if not named:
        return
    first, *others = named
    also = f"; it is also in {', '.join(str(server.file) for server in others)}" if others else ""
    if first.is_near:
        yield f"{first.name} is taken from {first.file}{also}. {_describe(first.body, target)}"
    elif also:
        yield f"{first.name} is taken from {first.file}{also}."
    if shares_its_name(first.name, around):
        yield (
            f"{first.name} is the server in {first.file}. If you mean the file in this folder, write ./{first.name}."
        )


def _describe(body: Mapping[str, Any], target: Target) -> str:
    """What an entry does, with the names of its variables, whose values may be secret."""
    # Long texts come last: if the line is cut, the variables are still there.
    variables = ", ".join(variables_in(body))
    given = f"is given {variables} from your environment, and " if variables else ""
    if isinstance(target, AddressTarget):
        return f"It {given}connects to {host_of(target.url)}."
    return f"It {given}starts: {shlex.join(map(str, [body['command'], *body.get('args', [])]))}"


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without line ends around their values. An error names a header without its value, which may be a
    secret."""
    stripped = {name: value.strip() for name, value in headers.items()}
    for name, value in stripped.items():
        if re.fullmatch(_NAME, name, re.ASCII) is None:
            raise Misused("A header in the mcp.json file has a name with characters that no header may have.")
        if _SENDABLE.fullmatch(value) is None:
            raise Misused(
                f"The header {name} cannot be sent: its value has a line break or another character that is not plain "
                "ASCII. Check the variable or the file that it comes from."
            )
    return stripped


def read_headers(headers: Sequence[str], values: Mapping[str, str]) -> dict[str, str]:
    """Read `Name: value` with variables. An error does not repeat the value, which may be a secret."""
    read: dict[str, str] = {}
    for text in headers:
        found = _HEADER.fullmatch(text)
        if found is None:
            raise Misused(
                "A --header is written 'Name: value', as in --header 'Authorization: Bearer ${TOKEN}'."
            )
        read[found["name"]] = fill_in(found["value"], values, where=f"--header {found['name']}")
    return read


def make_driver(
    target: Target, queue: PersonQueue | None, options: ConnectOptions, *, label: str | None = None
) -> Driver:
    """A driver that is not connected yet."""
    if isinstance(target, AddressTarget):
        goal, headers = target.url, target.headers
    else:
        # A command that was typed gets the environment of this one; an entry of a file gets a small one.
        environment = dict(os.environ if target.environment is None else target.environment)
        program, *arguments = target.words
        goal = StdioServerParameters(command=program, args=arguments, env=environment, cwd=target.folder)
        headers = dict[str, str]()
    try:
        return Driver(
            goal,
            queue,
            label=label or target.label,
            revision=options.revision,
            headers=headers,
            sites=KnownSites(path_of_user()),
        )
    except AuthorError as error:  # here the mistake is in the words of the command
        raise Misused(error.message) from error
