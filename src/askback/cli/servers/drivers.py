"""From what was typed to a driver: the target looked up, the headers read, the environment settled."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from mcp.client.stdio import StdioServerParameters

from askback.cli.call.options import ConnectOptions
from askback.cli.exits import Misused
from askback.cli.servers.agreement import require_agreement, variables_in
from askback.cli.servers.configs import Configured, read_configs
from askback.cli.servers.targets import (
    AddressTarget,
    CommandTarget,
    Surroundings,
    Target,
    configured_as,
    find_target,
    host_of,
    shares_its_name,
)
from askback.cli.servers.variables import fill_in
from askback.client import Driver, PersonQueue
from askback.client.consent import KnownSites, path_of_user
from askback.errors import AuthorError

_NAME = r"[!#$%&'*+.^_`|~\w-]+"
_HEADER = re.compile(rf"(?P<name>{_NAME}):\s*(?P<value>[^\r\n]*)", re.ASCII)
_SENDABLE = re.compile(r"[\t -~]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTarget:
    """A target, and what should be said about how it was found."""

    target: Target
    notes: Sequence[str] = ()


def surroundings(config: Path | None) -> Surroundings:
    """This folder, this person, this environment."""
    here, home = Path.cwd(), Path.home()
    configs = read_configs(here=here, home=home, only=config)
    return Surroundings(configs=configs, here=here, home=home, environment=os.environ)


def look_up(word: str, connecting: ConnectOptions) -> FoundTarget:
    """The target, its headers added; a Misused says what it could have been, or that nobody has agreed to it."""
    around = surroundings(connecting.config)
    target = find_target(word, around)
    headers = read_headers(connecting.headers, around.values)
    named = configured_as(word, around)
    if named and named[0].is_near:
        require_agreement(named[0])
    notes = [*around.configs.problems, *_origin(named, target), *_file_beside(named, around)]
    if isinstance(target, AddressTarget):
        headers = _sendable({**target.headers, **headers})
        target = AddressTarget(label=target.label, url=target.url, headers=headers)
    elif headers:
        raise Misused(f"--header is for addresses, and {target.label} is a command.")
    return FoundTarget(target=target, notes=notes)


def _origin(named: Sequence[Configured], target: Target) -> Iterator[str]:
    """Where a server was found, if that is not plain: others have its name, or it came with the folder."""
    if not named:
        return
    first, *others = named
    also = f"; it is also in {', '.join(str(server.file) for server in others)}" if others else ""
    if first.is_near:
        yield f"{first.name} is taken from {first.file}{also}. {_meaning(first.body, target)}"
    elif also:
        yield f"{first.name} is taken from {first.file}{also}."


def _file_beside(named: Sequence[Configured], around: Surroundings) -> Iterator[str]:
    """How to write a file that has the name of the server."""
    if named and shares_its_name(named[0].name, around):
        name = named[0].name
        yield f"{name} is the server in {named[0].file}. If you mean the file in this folder, write ./{name}."


def _meaning(body: Mapping[str, Any], target: Target) -> str:
    """What an entry does, its command as it is written: a variable is named, and its value may be a secret."""
    variables = ", ".join(name for name in dict.fromkeys(variables_in(body)) if name in os.environ)
    # What may be long comes last: whatever is cut off, the variables are not.
    given = f"is given {variables} from your environment, and " if variables else ""
    match target:
        case CommandTarget():
            words = [body["command"], *body.get("args", [])]
            return f"It {given}starts: {shlex.join(map(str, words))}"
        case AddressTarget():
            return f"It {given}connects to {host_of(target.url)}."
        case _:
            assert_never(target)


def _sendable(headers: Mapping[str, str]) -> dict[str, str]:
    """Without the line end that a file leaves in a variable. What cannot be sent is told by its name alone: whatever
    finds it later repeats the value."""
    stripped = {name: value.strip() for name, value in headers.items()}
    for name, value in stripped.items():
        if re.fullmatch(_NAME, name, re.ASCII) is None:
            raise Misused("A header in the mcp.json file has a name with signs that no header may have.")
        if _SENDABLE.fullmatch(value) is None:
            raise Misused(
                f"The header {name} cannot be sent: its value has a line break or another sign that is not plain "
                "ASCII. Look at the variable or the file that it comes from."
            )
    return stripped


def read_headers(headers: Sequence[str], values: Mapping[str, str]) -> dict[str, str]:
    """`Name: value`, with variables; what is wrong is said without the value, which may be a secret."""
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
    target: Target, line: PersonQueue | None, connecting: ConnectOptions, *, label: str | None = None
) -> Driver:
    """Not yet connected."""
    match target:
        case CommandTarget():
            goal: Any = _parameters(target)
            headers: Mapping[str, str] = {}
        case AddressTarget():
            goal, headers = target.url, target.headers
        case _:
            assert_never(target)
    try:
        return Driver(
            goal,
            line,
            label=label or target.label,
            revision=connecting.revision,
            headers=headers,
            sites=KnownSites(path_of_user()),
        )
    except AuthorError as error:  # here, what the author of a program would mend was typed
        raise Misused(error.message) from error


def _parameters(command: CommandTarget) -> StdioServerParameters:
    """What is typed inherits our environment, as commands do; an entry gets a small one and what its file says."""
    environment = dict(os.environ if command.environment is None else command.environment)
    program, *arguments = command.words
    return StdioServerParameters(command=program, args=arguments, env=environment, cwd=command.folder)
