"""Runs the tests from a folder with a long name, blanks and letters outside ASCII, as somebody's clone may lie in one.

    python -m scripts.odd_folder [pytest's own words]

That folder holds a copy of this one, since a link would be seen through, and an environment whose Python lies there
too and finds its libraries here. What the tests start, they start from there; where they keep things for a while is
such a folder as well. It all costs a second, so the whole run may as well be there.
"""

import locale
import os
import shutil
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from scripts.machine import BUILD, run_in_front

ROOT = BUILD.parent

NAME = "Żółw und Söhne, a folder of a company with a long name & everything that people put into one"

FOR_A_WHILE = "für askback "
"""Begins the name of the folder for what is temporary: with a blank, and short, since sockets lie in it."""

LEFT_HERE = shutil.ignore_patterns(".git", ".venv", ".build", "__pycache__", ".*_cache", ".hypothesis")


def main() -> int:
    with temporary_folder() as temporary:
        command = [python_of(copy_of(ROOT)), "-m", "pytest", *sys.argv[1:]]
        # Empty unsets it: compiled files of the copy stay in the copy, also those of what the tests start.
        environment = os.environ | {"TMPDIR": temporary, "PYTHONDONTWRITEBYTECODE": ""}
        return run_in_front(command, cwd=BUILD / NAME, env=environment)


def copy_of(root: Path) -> Path:
    """What stands there now, and what was built there."""
    place = BUILD / NAME
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(root, place, ignore=LEFT_HERE, symlinks=True)
    (place / ".build").symlink_to(BUILD)
    return place


def python_of(place: Path) -> str:
    """Of an environment in that folder, which finds the package there and all else in ours."""
    home = place / ".venv"
    venv.create(home, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    lines = f"{place / 'src'}\n{sysconfig.get_path('purelib')}\n"
    (packages / "elsewhere.pth").write_text(lines, encoding=locale.getencoding())  # as Python reads it
    return str(home / "bin" / "python")


@contextmanager
def temporary_folder() -> Generator[str]:
    """Others may pass through it: where we are root, the services run as nobody."""
    with tempfile.TemporaryDirectory(prefix=FOR_A_WHILE, ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        yield folder


if __name__ == "__main__":
    sys.exit(main())
