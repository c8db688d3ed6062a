"""The usual mcp.json files: where they are, which servers they name, and `${VAR}` in them, which is filled in from the
environment. Starts nothing."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from askback.cli.exits import Misused
from askback.schema.size import MAX_DEPTH, exceeds_depth

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
        body: Any = json.loads(_without_comments(text))
    except ValueError as error:
        raise Misused(
            f"{file} is not JSON: {error}. Correct it, or name another file with --config."
        ) from error
    except RecursionError as error:
        raise Misused(_TOO_DEEP.format(file=file)) from error
    if exceeds_depth(body):
        raise Misused(_TOO_DEEP.format(file=file))
    return as_mapping(body)


def _without_comments(text: str) -> str:
    """The text as plain JSON; VS Code and Cursor allow comments, and a comma after the last entry."""
    return _LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text))


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
