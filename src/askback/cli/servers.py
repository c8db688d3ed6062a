"""From what was typed to a driver: the target looked up, the headers read, the environment settled."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from mcp.client.stdio import StdioServerParameters

from askback.cli.configs import read_configs
from askback.cli.endings import Misused
from askback.cli.options import Connecting
from askback.cli.targets import Address, Command, Surroundings, Target, find_target
from askback.cli.variables import fill_in
from askback.client import Driver, Line
from askback.client.consent import KnownSites, path_of_user

_HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~\w-]+):\s*(?P<value>[^\r\n]*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A target, and what should be said about how it was found."""

    target: Target
    notes: Sequence[str] = ()


def surroundings(config: Path | None) -> Surroundings:
    """This folder, this person, this environment."""
    here, home = Path.cwd(), Path.home()
    configs = read_configs(here=here, home=home, only=config)
    return Surroundings(configs=configs, here=here, home=home, environment=os.environ)


def look_up(word: str, connecting: Connecting) -> Found:
    """The target, its headers added; a Misused says what it could have been."""
    around = surroundings(connecting.config)
    target = find_target(word, around)
    headers = read_headers(connecting.headers, around.values)
    notes = list(around.configs.problems)
    named = around.configs.named(word)
    if len(named) > 1:
        others = ", ".join(str(server.file) for server in named[1:])
        notes.append(f"{word} is taken from {named[0].file}; it is also in {others}.")
    if isinstance(target, Address):
        target = Address(label=target.label, url=target.url, headers={**target.headers, **headers})
    elif headers:
        raise Misused(f"--header is for addresses, and {target.label} is a command.")
    return Found(target=target, notes=notes)


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
    target: Target, line: Line | None, connecting: Connecting, *, label: str | None = None
) -> Driver:
    """Not yet connected."""
    match target:
        case Command():
            goal: Any = _parameters(target)
            headers: Mapping[str, str] = {}
        case Address():
            goal, headers = target.url, target.headers
        case _:
            assert_never(target)
    return Driver(
        goal,
        line,
        label=label or target.label,
        revision=connecting.revision,
        headers=headers,
        sites=KnownSites(path_of_user()),
    )


def _parameters(command: Command) -> StdioServerParameters:
    """What is typed inherits our environment, as commands do; an entry gets a small one and what its file says."""
    environment = dict(os.environ if command.environment is None else command.environment)
    program, *arguments = command.words
    return StdioServerParameters(command=program, args=arguments, env=environment, cwd=command.folder)
