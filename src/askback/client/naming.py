"""How a server is called that was given no label. Addresses and command lines hold secrets, and labels are shown."""

from collections.abc import Sequence
from itertools import dropwhile
from pathlib import PurePath

import httpx2

RUNNERS = frozenset(
    {"bun", "bunx", "deno", "node", "npx", "pipx", "pnpm", "py", "python", "ruby", "uv", "uvx", "yarn"}
)
"""Programs whose first word is another program: that one names the server."""

PLAIN = frozenset({"-B", "-I", "-m", "-q", "-u", "-y", "--quiet", "--yes", "dlx", "exec", "run"})
"""Words before it that take no value; after any other option, the next word may be a secret."""

UNNAMED = "unnamed server"
"""A transport says nothing of where it leads, and the name of its type is no word for a person."""


def name_of_address(url: str) -> str:
    """Host and port: the user, the query and even the path of an address may be somebody's key."""
    try:
        return httpx2.URL(url).netloc.decode() or "this address"
    except httpx2.InvalidURL:
        return "this address"


def name_of_command(program: str, arguments: Sequence[str]) -> str:
    """The program, and the script that it runs; what follows may be a key."""
    name = PurePath(program).name
    script = next(dropwhile(PLAIN.__contains__, arguments), "")
    is_named = name.rstrip("0123456789.") in RUNNERS and not script.startswith("-") and "://" not in script
    return f"{name} {script}" if script and is_named else name
