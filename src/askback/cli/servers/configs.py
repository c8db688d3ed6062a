"""The usual mcp.json files: where they lie, and which servers they name. Starts nothing."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from askback.cli.exits import Misused
from askback.schema.size import MAX_DEPTH, exceeds_depth

BESIDE = (".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json")
"""Files of a project, relative to the current folder. They come after those of the person."""

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
"""Files of the person, relative to the home folder; each system has its own, and the others are simply not there."""

TABLES = ("mcpServers", "servers")
"""What the table of servers is called: the first nearly everywhere, the second in VS Code."""

_TOO_DEEP = (
    f"{{file}} is nested too deeply, over {MAX_DEPTH} levels. Mend it, or name another file with --config."
)

_STRING = r'("(?:\\.|[^"\\])*")'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """A server as an mcp.json file names it; the body is read when it is wanted."""

    name: str
    file: Path
    body: Mapping[str, Any]
    is_near: bool = False
    """Whether the file came with the current folder: then its author has chosen the name, and it needs a yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configs:
    """All that was found, the person's own first, and what could not be read."""

    servers: tuple[Configured, ...]
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> list[Configured]:
        """The first of these is meant."""
        return [server for server in self.servers if server.name == name]


def read_configs(*, here: Path, home: Path, only: Path | None = None) -> Configs:
    """What the files in their usual places name, or `only` that file, which then must be there."""
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
    # Claude Code keeps what belongs to one folder inside the file of the person.
    own = _mapping(_mapping(body.get("projects")).get(str(here)))
    for part in (own, body):
        for table in TABLES:
            for name, entry in _mapping(part.get(table)).items():
                yield Configured(name=name, file=file, body=_mapping(entry), is_near=is_near)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(f"{file} cannot be read: {error}.") from error
    try:
        body: Any = json.loads(_without_comments(text))
    except ValueError as error:
        raise Misused(f"{file} is not JSON: {error}. Mend it, or name another file with --config.") from error
    except RecursionError as error:
        raise Misused(_TOO_DEEP.format(file=file)) from error
    if exceeds_depth(body):
        raise Misused(_TOO_DEEP.format(file=file))
    return _mapping(body)


def _without_comments(text: str) -> str:
    """VS Code and Cursor allow comments, and a comma after the last entry."""
    return _LAST_COMMA.sub(_string, _COMMENT.sub(_string, text))


def _string(found: re.Match[str]) -> str:
    return found[1] or ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
