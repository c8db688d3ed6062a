"""Runs tests on every Python from 3.11 on that this machine has, and says which those were.

    python -m scripts.pythons [pytest's own words]            the tests that pytest chooses, on each
    python -m scripts.pythons --others [pytest's own words]   the same, but not on the 3.x that runs this

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
    if words[:1] == ["--others"]:
        words = words[1:]
        pythons = {version: file for version, file in pythons.items() if version[:2] != sys.version_info[:2]}
    failed = [version for version, python in pythons.items() if not is_green(version, python, words)]
    ran_on = f"the tests ran on Python {', '.join(map(_text, pythons))}"
    _say(ran_on if pythons else "there is no other Python here")
    if failed:
        _say(f"they failed on {', '.join(map(_text, failed))}")
    return 1 if failed else 0


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def _say(text: str) -> None:
    print(f"pythons: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
