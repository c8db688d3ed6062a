"""TARGET on the command line: an address, a server of an mcp.json file, or a command; and the driver for it, with its
headers and environment. Starts nothing."""

import difflib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from mcp.client.stdio import StdioServerParameters

from askback.cli.call.options import ConnectOptions
from askback.cli.console import MAX_NOTE, Misused, print_note
from askback.cli.servers.configs import (
    Configs,
    Configured,
    as_list,
    fill_in,
    read_configs,
    require_agreement,
    variables_in,
)
from askback.client import Driver, PersonQueue
from askback.client.consent import KnownSites, path_of_user
from askback.errors import AuthorError
from askback.model.safe import safe_line


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTarget:
    """A program to start. `environment` None means the environment of this command."""

    label: str
    words: tuple[str, ...]
    environment: Mapping[str, str] | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressTarget:
    """A server at an address."""

    label: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Target = CommandTarget | AddressTarget


def starting_state(target: Target) -> str:
    """The word for the status line while the server is not connected yet."""
    return "starts" if isinstance(target, CommandTarget) else "is being reached"


NOT_SPOKEN = {
    "sse": "the old SSE transport; ask its operator for the streamable HTTP address",
    "ws": "WebSockets, which are not a transport of MCP",
}
PATHS = tuple(f"{dots}{slash}" for dots in (".", "..") for slash in ("/", os.sep))
"""A word that begins so is a relative path, and never a command on PATH."""

_BLANK = re.compile(r"\s")
SCRIPTS = (".py", ".js", ".mjs", ".ts")
HTTP = {"http", "streamable-http", "streamableHttp", "streamable_http"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a target is looked up: configurations, folders and environment."""

    configs: Configs
    here: Path
    home: Path
    environment: Mapping[str, str]

    @property
    def values(self) -> Mapping[str, str]:
        """The values for `${...}`: the environment, and two folders that editors fill in too."""
        return {**self.environment, "workspaceFolder": str(self.here), "userHome": str(self.home)}


def find_target(word: str, around: Surroundings) -> Target:
    """An address, else a server of that name, the person's own first, else a path or a command line."""
    if word.startswith(("http://", "https://")):
        return AddressTarget(label=host_of(word), url=word)
    if named := configured_as(word, around):
        return configured_target(named[0], around)
    return _command(word, around)


def configured_as(word: str, around: Surroundings) -> list[Configured]:
    """The servers of mcp.json files that this word names. A server of the person's own files wins over a file or a
    command line of the same spelling, because the folder may come from somebody else. A server that came with the
    folder never replaces a command line, and it is refused if a file in the folder has its name."""
    if word.startswith(("http://", "https://")) or _is_path(word):
        return []
    named = around.configs.named(word)
    if any(not server.is_near for server in named):
        return named
    if _BLANK.search(word):
        return []
    if named and shares_its_name(word, around):
        raise Misused(
            f"{word!r} is a file in {around.here} and also a server in {named[0].file}. If you mean the file, write "
            f"'./{word}'; if you mean the server, --config {shlex.quote(str(named[0].file))}."
        )
    return named


def shares_its_name(word: str, around: Surroundings) -> bool:
    """Whether this word would start a file here if no server had that name."""
    return _looks_like_a_path(word) and _is_file(word, around)


def host_of(url: str) -> str:
    """The host and port of an address, without user and query, which may be secret."""
    try:
        where = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        where = ""
    if not where:
        raise Misused("The address has no host. Write it in full, as in https://mcp.example/mcp.")
    return where


def configured_target(server: Configured, around: Surroundings) -> Target:
    """What an entry starts or connects to, its variables filled in."""
    where = f"{server.name!r} in {server.file}"
    body = cast("dict[str, Any]", _fill_in_all(server.body, around.values, where))
    kind = body.get("type") or body.get("transport") or ("stdio" if "command" in body else "http")
    if kind in NOT_SPOKEN:
        raise Misused(f"{where} speaks {NOT_SPOKEN[kind]}.")
    if kind == "stdio" and isinstance(body.get("command"), str):
        return _started(server, body, around, where)
    if kind in HTTP and isinstance(body.get("url"), str):
        return AddressTarget(
            label=server.name, url=body["url"], headers=_read_texts(body.get("headers"), where)
        )
    raise Misused(
        f"{where} has neither a command to start nor a url to connect to. Give it one of them, and type "
        '"stdio" or "http" to match.'
    )


def _started(server: Configured, body: dict[str, Any], around: Surroundings, where: str) -> CommandTarget:
    if "envFile" in body:
        raise Misused(f"{where} has an envFile; put its variables under env instead.")
    arguments: Any = body.get("args", [])
    if not isinstance(arguments, list):
        raise Misused(f'{where}: args is a list of texts, as in ["--port", "80"].')
    words = (body["command"], *map(str, as_list(arguments)))
    folder = around.here / body["cwd"] if isinstance(body.get("cwd"), str) else None
    return CommandTarget(
        label=server.name, words=words, environment=_read_texts(body.get("env"), where), folder=folder
    )


def _fill_in_all(value: Any, values: Mapping[str, str], where: str) -> Any:
    if isinstance(value, str):
        return fill_in(value, values, where=where)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {name: _fill_in_all(member, values, where) for name, member in members.items()}
    if isinstance(value, list):
        return [_fill_in_all(member, values, where) for member in cast("list[Any]", value)]
    return value


def _read_texts(value: Any, where: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Misused(f'{where}: env and headers are tables of texts, as in {{"NAME": "value"}}.')
    return {str(name): str(member) for name, member in cast("Mapping[str, Any]", value).items()}


def _command(word: str, around: Surroundings) -> CommandTarget:
    try:
        words = [word] if _is_file(word, around) else shlex.split(word, posix=os.name == "posix")
    except ValueError as error:
        raise Misused(f"The command cannot be split into words: {error}. Check its quotes.") from error
    if not words:
        raise Misused(
            "TARGET is empty. Give an address, the name of a server in an mcp.json file, or a command."
        )
    if words[0].endswith(".py") and (around.here / words[0]).is_file():
        return CommandTarget(label=words[0], words=(sys.executable, *words))
    if shutil.which(words[0], path=around.environment.get("PATH")) is None:
        if words != [word] and (around.here / word).is_file():
            raise Misused(f"{word!r} has blanks, so it is a command. If you mean the file, write './{word}'.")
        raise Misused(_unknown(words[0], around))
    # Named by the script rather than by its interpreter.
    label = next((word for word in words[1:] if word.endswith(SCRIPTS)), words[0])
    return CommandTarget(label=label, words=tuple(words))


def _is_file(word: str, around: Surroundings) -> bool:
    """Whether the whole word is the path of a file. With blanks it must begin like a path, because a folder of somebody
    else may contain a file whose name reads like a command line."""
    return (_is_path(word) or not _BLANK.search(word)) and (around.here / word).is_file()


def _is_path(word: str) -> bool:
    return os.path.isabs(word) or word.startswith(PATHS)


def _looks_like_a_path(word: str) -> bool:
    return word.endswith(SCRIPTS) or "/" in word or os.sep in word


def _unknown(word: str, around: Surroundings) -> str:
    names = sorted({server.name for server in around.configs.servers})
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"There is no command {word!r}. Did you mean the server {close[0]!r} of your mcp.json files?"
    if _looks_like_a_path(word):
        if not (around.here / word).exists():
            return (
                f"There is no file {word!r} in {around.here}. Check its spelling and the folder you are in."
            )
        return (
            f"{word!r} is there and cannot be started. Make it executable, or name the program that runs it: "
            f'askback call "PROGRAM {word}".'
        )
    named = f"they name {', '.join(names[:20])}" if names else "none was found, or they name none"
    unread = "".join(f"\n{problem}" for problem in around.configs.problems)
    return (
        f"{word!r} is not an address (https://...), not a server of the mcp.json files ({named}) and not a command on "
        'this machine. A command with arguments is one word: askback call "python server.py".'
        f"{unread}"
    )


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
