"""Starts a worker process: run as a script, it imports the reader of statements and nothing else of the package.

The package as a whole takes a second to import, the reader a tenth of that.
"""

import json
import sys
from pathlib import Path
from types import ModuleType


def import_alone(package: str, folder: Path) -> None:
    """Let modules of a package be imported without what its `__init__` would import."""
    module = ModuleType(package)
    module.__path__ = [str(folder)]
    sys.modules[package] = module


def main() -> None:
    sys.path[:] = json.loads(sys.stdin.buffer.readline())
    here = Path(__file__).resolve().parent
    import_alone("askback", here.parent.parent)
    import_alone("askback.guards", here.parent)
    import_alone("askback.guards.sql", here)
    from askback.guards.sql.worker import serve

    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
