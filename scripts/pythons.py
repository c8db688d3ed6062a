"""Runs tests on every Python from 3.11 on that this machine has, and says which those were.

    python -m scripts.pythons [pytest's own words]           the tests that pytest chooses, on each
    python -m scripts.pythons --short [pytest's own words]   a selection of them, and not on the Python that runs this

Each version has an environment of its own, .build/python-VERSION.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.machine import BUILD, run_in_front

ROOT = BUILD.parent

OLDEST = (3, 11)
Version = tuple[int, int, int]

SELECTION = (
    "tests/schema",
    "tests/conversation",
    "tests/sync",
    "tests/styles",
    "tests/wire",
    "tests/stores",
    "tests/runtime/once/test_within.py",
    "tests/oauth/test_addresses.py",
    "tests/server/hosts/fastmcp/test_features.py",
    "tests/server/hosts/fastmcp/test_errors.py",
    "tests/client/cli",
    "tests/client/consent",
    "tests/client/forms",
)
"""Where versions of Python differ: types and their annotations, tasks and threads, addresses, JSON, SQLite. Less than a
minute, and two on a busy machine."""

PLACES = ("/usr/local/bin", "/usr/bin", "/opt/homebrew/bin")
"""Where Pythons are that the PATH does not name, since another stands before them."""

TELL = (
    "import ensurepip, sys, sysconfig, venv;"
    "is_usual = sys.implementation.name == 'cpython' and not sysconfig.get_config_var('Py_GIL_DISABLED');"
    "print(*sys.version_info[:3]) if is_usual and sys.version_info.releaselevel == 'final' else sys.exit(1)"
)
"""Finished versions of CPython with its usual lock: for others some of our libraries have no wheels."""


def candidates(path: str, pyenv: Path) -> Iterator[Path]:
    """Whatever is called a Python here: on the PATH, in the system's folders, in those of pyenv."""
    for folder in dict.fromkeys((*path.split(os.pathsep), *PLACES)):
        yield from (file for file in sorted(Path(folder).glob("python3*")) if _NAME.fullmatch(file.name))
    yield from sorted(pyenv.glob("versions/*/bin/python3"))


_NAME = re.compile(r"python3(\.\d+)?")


def find_pythons(files: Iterable[Path]) -> dict[Version, Path]:
    """The first file for each version that is new enough and can make environments, the oldest version first."""
    found: dict[Version, Path] = {}
    for file in files:
        version = version_of(file)
        if version and version[:2] >= OLDEST:
            found.setdefault(version, file)
    return dict(sorted(found.items()))


def version_of(file: Path) -> Version | None:
    """None for one that does not run, is not finished, or cannot make environments."""
    try:
        told = subprocess.run([file, "-c", TELL], capture_output=True, text=True, timeout=20)
        major, minor, micro = map(int, told.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return major, minor, micro


def is_green(version: Version, python: Path, words: Iterable[str]) -> bool:
    """Whether the tests pass on it."""
    home = f".build/python-{_text(version)}"
    environment = os.environ | {"VENV": home, "PYTHON": str(python)}
    if run_in_front(["scripts/bootstrap", "dev"], cwd=ROOT, env=environment):
        return False
    began = time.monotonic()
    code = run_in_front([f"{home}/bin/python", "-m", "pytest", *words], cwd=ROOT)
    _say(f"Python {_text(version)}: {time.monotonic() - began:.0f} seconds")
    return code == 0


def main() -> int:
    words, pyenv = sys.argv[1:], Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    pythons = find_pythons(candidates(os.environ.get("PATH", os.defpath), pyenv))
    if is_short := words[:1] == ["--short"]:
        words = [*words[1:], *SELECTION]
        pythons.pop(sys.version_info[:3], None)
    red = [version for version, python in pythons.items() if not is_green(version, python, words)]
    what = "a selection of the tests" if is_short else "the tests"
    _say(
        f"{what} ran on Python {', '.join(map(_text, pythons))}"
        if pythons
        else "there is no other Python here"
    )
    if is_short:
        _say(f"all tests run on Python {_text(sys.version_info[:3])}")
    if red:
        _say(f"they failed on {', '.join(map(_text, red))}")
    return 1 if red else 0


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def _say(text: str) -> None:
    print(f"pythons: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
