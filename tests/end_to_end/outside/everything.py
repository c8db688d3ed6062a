"""server-everything as the tests know it: its two tools that ask, and what is filled into its form."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from tests.client.consent.follower import FOLLOWER
from tests.support.strangers import everything_command

FORM_TOOL = "trigger-elicitation-request"
LINK_TOOL = "trigger-url-elicitation"

DEFAULTS: dict[str, Any] = {
    "firstLine": "It was a dark and stormy night.",
    "integer": 42,
    "number": 3.14,
    "untitledSingleSelectEnum": "Monica",
    "untitledMultipleSelectEnum": ["Guitar"],
    "titledSingleSelectEnum": "hero-1",
    "titledMultipleSelectEnum": ["fish-1"],
    "legacyTitledEnum": "pet-1",
}
FILLED = DEFAULTS | {
    "name": "Ada",
    "check": True,
    "email": "ada@inn.example",
    "homepage": "https://ada.example/",
    "birthdate": "1990-12-10",
    "integer": 7,
    "untitledMultipleSelectEnum": ["Piano", "Bass"],
    "titledSingleSelectEnum": "hero-3",
    "legacyTitledEnum": "pet-2",
}
"""All thirteen fields, some of them as they came."""

LINK = {"url": "https://inn.example/bill/7", "message": "Pay for your stay", "elicitationId": "bill-7"}
DEMANDING = LINK | {"errorPath": True}
"""The same by -32042: another link comes first, and this one after the retry."""

DEMANDED = "https://modelcontextprotocol.io/"


def reply_in(text: str) -> Any:
    """What the server was sent, from the end of what it says about it."""
    _, _, raw = text.partition("Raw result: ")
    reply, _ = json.JSONDecoder().raw_decode(raw)
    return reply


class Visitor:
    """A catalogue that names the server `everything`, and a browser that only writes down where it was sent."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._opened = home / "opened.txt"
        command, *arguments = everything_command()
        entry = {"command": command, "args": arguments}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"everything": entry}}))
        browser = home / "browser"
        follow = shlex.join([sys.executable, FOLLOWER, str(self._opened)])
        browser.write_text(f'#!/bin/sh\n{follow} "$1"\n')
        browser.chmod(0o755)

    @property
    def opened(self) -> list[str]:
        return self._opened.read_text().split() if self._opened.exists() else []

    @property
    def environment(self) -> dict[str, str]:
        return {"BROWSER": str(self._home / "browser"), "XDG_STATE_HOME": str(self._home)}

    def call(self, tool: str, arguments: dict[str, Any], *options: str) -> list[str]:
        """The command with which somebody calls a tool of it."""
        given = [f"{name}:={json.dumps(value)}" for name, value in arguments.items()]
        catalogue = f"--config={self._home / 'mcp.json'}"
        return [sys.executable, "-m", "askback.cli", "call", catalogue, *options, "everything", tool, *given]
