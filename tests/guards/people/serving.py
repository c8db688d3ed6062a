"""The errands in a process of their own: python -m tests.guards.people.serving HOST FOLDER [http]"""

import sys
from pathlib import Path
from typing import Any

from askback.stores import SQLiteStore
from tests.guards.people.errands import Errands
from tests.guards.serving import HOSTS

RUNS: dict[str, dict[str, dict[str, Any]]] = {
    "MCPServer": {"http": {"transport": "streamable-http", "port": 0}, "stdio": {}},
    "FastMCP": {
        "http": {"transport": "http", "port": 0, "show_banner": False},
        "stdio": {"transport": "stdio", "show_banner": False},
    },
}


def command(host: str, folder: Path, *how: str) -> list[str]:
    """What Python is to be given; over HTTP with the word `http`."""
    return ["-m", "tests.guards.people.serving", host, str(folder), *how]


def everybody(_: Any) -> str:
    return "ada"


def main(host: str, folder: str, how: str = "stdio") -> None:
    """What was approved is kept in the folder, and whoever calls is one and the same."""
    store = SQLiteStore(Path(folder) / "store.db")
    server = HOSTS[host](*Errands(Path(folder)).functions(), store=store, caller=everybody)
    server.run(**RUNS[host][how])


if __name__ == "__main__":
    main(*sys.argv[1:])
