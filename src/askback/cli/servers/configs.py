"""The usual mcp.json files: where they are, which servers they name, and `${VAR}` in them, which is filled in from the
environment; and which entries of a folder's own files this person agreed to, because their authors chose what starts.
"""

import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError

from askback.cli.console import CommandInterrupted, Exit, Misused, is_terminal, print_note
from askback.client.consent import path_of_user
from askback.client.consent.sites import replace_file
from askback.model.safe import safe_line, safe_text
from askback.schema.size import MAX_DEPTH, exceeds_depth

if sys.platform != "win32":
    import termios

BESIDE = (".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json")
"""Files of a project, relative to the current folder. They come after the person's own files."""

AT_HOME = (
    ".claude.json",
    ".cursor/mcp.json",
    ".config/Code/User/mcp.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Code/User/mcp.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    "AppData/Roaming/Code/User/mcp.json",
    "AppData/Roaming/Claude/claude_desktop_config.json",
)
"""The person's own files, relative to the home folder, on all systems."""

TABLES = ("mcpServers", "servers")
"""The name of the table of servers; VS Code uses the second."""

_TOO_DEEP = (
    f"{{file}} is nested too deeply, over {MAX_DEPTH} levels. Correct it, or name another file with --config."
)

_STRING = r'("(?:\\.|[^"\\])*")'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")

_REFERENCE = re.compile(r"\$\{(?P<inside>[^}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """A server in an mcp.json file; its entry is read later."""

    name: str
    file: Path
    body: Mapping[str, Any]
    is_near: bool = False
    """Whether the file came with the current folder, so that its author chose the server and the person must agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configs:
    """All servers that were found, the person's own first, and problems of files."""

    servers: tuple[Configured, ...]
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> list[Configured]:
        """The servers of this name; the first is meant."""
        return [server for server in self.servers if server.name == name]


def read_configs(*, here: Path, home: Path, only: Path | None = None) -> Configs:
    """The servers of the files in their usual places, or of `only` that file, which must exist."""
    if only is not None:
        return Configs(servers=tuple(_servers_in(only, here)))
    servers: list[Configured] = []
    problems: list[str] = []
    own = [home / name for name in AT_HOME]
    for file in dict.fromkeys([*own, *(here / name for name in BESIDE)]):
        if file.is_file():
            try:
                servers.extend(_servers_in(file, here, is_near=file not in own))
            except Misused as error:
                problems.append(str(error))
    return Configs(servers=tuple(servers), problems=tuple(problems))


def _servers_in(file: Path, here: Path, *, is_near: bool = False) -> Iterator[Configured]:
    body = _read(file)
    # Claude Code keeps the servers of a folder in the person's own file.
    own = as_mapping(as_mapping(body.get("projects")).get(str(here)))
    for part in (own, body):
        for table in TABLES:
            for name, entry in as_mapping(part.get(table)).items():
                yield Configured(name=name, file=file, body=as_mapping(entry), is_near=is_near)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(f"{file} cannot be read: {error}.") from error
    try:
        # VS Code and Cursor allow comments, and a comma after the last entry.
        body: Any = json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)))
    except ValueError as error:
        raise Misused(
            f"{file} is not JSON: {error}. Correct it, or name another file with --config."
        ) from error
    except RecursionError as error:
        raise Misused(_TOO_DEEP.format(file=file)) from error
    if exceeds_depth(body):
        raise Misused(_TOO_DEEP.format(file=file))
    return as_mapping(body)


def as_mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def variables_in(body: Mapping[str, Any]) -> list[str]:
    """The environment variables that an entry is given, at any depth, in order and once each."""
    text = json.dumps(body, ensure_ascii=False)
    found = (_VARIABLE.fullmatch(one["inside"]) for one in _REFERENCE.finditer(text))
    return [name for name in dict.fromkeys(one["name"] for one in found if one) if name in os.environ]


def fill_in(text: str, values: Mapping[str, str], *, where: str) -> str:
    """Fill in `${VAR}`, `${env:VAR}` and `${VAR:-otherwise}`; a variable that is not set is an error."""
    return _REFERENCE.sub(lambda found: _value(found["inside"], values, where), text)


def _value(inside: str, values: Mapping[str, str], where: str) -> str:
    variable = _VARIABLE.fullmatch(inside)
    if variable is None:
        raise Misused(
            f"{where} uses ${{{inside}}}, which only another program can fill in. Put ${{SOME_NAME}} there "
            "and set that variable in the environment."
        )
    name, otherwise = variable["name"], variable["default"]
    if name in values:
        return values[name]
    if otherwise is not None:
        return otherwise
    raise Misused(
        f"{where} uses ${{{inside}}}, and {name} is not set. Set it first: export {name}=..., or give a value "
        f"to fall back on: ${{{name}:-...}}."
    )


MAX_FACT: Final = 2_000
"""Characters of a command, an address or a list of names. A person cannot check longer ones, so they are refused."""

MAX_AGREED: Final = 500
"""Entries that are remembered; the oldest are forgotten first."""

_AGREED: Final = TypeAdapter(list[str])

PROMPT: Final = "Type yes to go on and to remember this entry; anything else leaves it: "


class AgreedEntries:
    """Digests of the entries that this person agreed to, in a private file (T30).

    The author of a folder chose the name, the command and the variables it gets. The agreement is bound to the path of
    the file and to the entry as it is written, so a changed entry is asked about again. A symbolic link to a known file
    is another file, because the entry may start programs of the folder that the link is in. The agreement does not
    cover the program that the entry starts: it may change unnoticed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, server: Configured) -> bool:
        return digest_of_entry(server) in self._read()

    def add(self, server: Configured) -> None:
        digests = [*self._read(), digest_of_entry(server)][-MAX_AGREED:]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._path, json.dumps(digests, indent=1))
        except OSError as error:
            print_note(safe_line(f"This yes cannot be remembered: {error}.", MAX_FACT))

    def _read(self) -> list[str]:
        try:
            return _AGREED.validate_json(self._path.read_bytes(), strict=True)
        except (OSError, ValidationError):
            return []  # missing or not ours: the person is asked again


def digest_of_entry(server: Configured) -> str:
    """The digest of the file's path, the server's name and its entry."""
    written = json.dumps([os.path.abspath(server.file), server.name, server.body], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


def require_agreement(server: Configured) -> None:
    """Return if the person agreed to this entry before or agrees now in the terminal; else raise `Misused`."""
    agreed = AgreedEntries(path_of_user().with_name("projects.json"))
    if agreed.holds(server):
        return
    where = f"{server.name!r} is named by {server.file}, which came with this folder"
    instead = f"Read that file. If you trust it, name it: --config {shlex.quote(str(server.file))}"
    facts = list(_facts(server.body))
    if any(len(fact) > MAX_FACT for fact in facts):
        raise Misused(f"{where}, and its entry is too long to be shown. {instead}.")
    if not is_terminal(sys.stdin) or not is_terminal(sys.stderr):
        raise Misused(
            f"{where}, and you have not agreed to it yet. {instead}, or run this once in a terminal and say yes there."
        )
    heading = safe_line(f"{where}. Its author chose what it does:", MAX_FACT)
    print_note("\n".join([heading, *map(safe_text, facts)]))
    if not _is_yes():
        raise Misused(f"Nothing was started. {instead}.")
    agreed.add(server)


def _facts(body: Mapping[str, Any]) -> Iterator[str]:
    """What the entry does. `${...}` is not filled in, because the values may be secrets."""
    if "command" in body:
        yield f"  starts: {shlex.join(map(str, [body['command'], *as_list(body.get('args'))]))}"
    if "url" in body:
        yield f"  connects to: {body['url']}"
    if "cwd" in body:
        yield f"  in the folder: {body['cwd']}"
    for part, words in (("env", "sets in its environment"), ("headers", "sends the headers")):
        if isinstance(body.get(part), Mapping) and body[part]:
            # Quoted as for a shell, so that no value passes for another name.
            settings = (
                f"{shlex.quote(str(name))}={shlex.quote(str(value))}" for name, value in body[part].items()
            )
            yield f"  {words}: {' '.join(settings)}"
    if taken := variables_in(body):
        yield f"  gets from your environment: {', '.join(taken)}"


def _is_yes() -> bool:
    """Whether the person types the whole word after the question was shown; earlier input is dropped."""
    if sys.platform != "win32":
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    print(PROMPT, end="", file=sys.stderr, flush=True)
    try:
        typed = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        raise CommandInterrupted(Exit.INTERRUPTED) from None
    if not typed.endswith("\n"):
        sys.stderr.write("\n")
    return typed.strip().casefold() == "yes"
