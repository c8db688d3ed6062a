"""What pyright and mypy say of a forgotten `await` and of an answer as a truth value: what the page says."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.docs_pages import DOCS, code_of, table

pytestmark = [pytest.mark.slow, pytest.mark.verifies("T34")]

PAGE = DOCS / "how-to" / "answers.md"
CHECKERS = ["pyright", "pyright, strict", "mypy", "mypy, with both settings"]
ROWS = table(PAGE, "you write", *CHECKERS)

BEFORE = """\
from askback import ask, confirm


def delete() -> str:
    return "deleted"
"""

Found = dict[int, set[str]]
"""The rules that a checker names, by line."""


def write(file: Path) -> list[int]:
    """Every mistake of the table in a body of its own; gives the lines that they are in."""
    text, lines = BEFORE, list[int]()
    for number, (code, *_) in enumerate(ROWS):
        text += f"\n\nasync def body_{number}() -> str:\n    {code_of(code)}\n"
        lines.append(text.count("\n"))
        text += "" if code_of(code).startswith("return") else '    return ""\n'
    file.write_text(text)
    return lines


def run(folder: Path, *command: str) -> str:
    checked = subprocess.run(
        [sys.executable, "-m", *command, "wrong.py"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert checked.returncode in {0, 1}, checked.stdout + checked.stderr
    return checked.stdout


def pyright(mode: str) -> Callable[[Path], Found]:
    def check(folder: Path) -> Found:
        (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": mode}))
        found: Found = {}
        for one in json.loads(run(folder, "pyright", "--outputjson", "--pythonpath", sys.executable))[
            "generalDiagnostics"
        ]:
            found.setdefault(one["range"]["start"]["line"] + 1, set()).add(one["rule"])
        return found

    return check


def mypy(settings: str) -> Callable[[Path], Found]:
    def check(folder: Path) -> Found:
        (folder / "mypy.ini").write_text(f"[mypy]\n{settings}")
        found: Found = {}
        for one in map(json.loads, run(folder, "mypy", "--output", "json").splitlines()):
            if one["severity"] == "error":
                found.setdefault(one["line"], set()).add(one["code"])
        return found

    return check


CHECKS: dict[str, Callable[[Path], Found]] = {
    "pyright": pyright("standard"),
    "pyright, strict": pyright("strict"),
    "mypy": mypy(""),
    "mypy, with both settings": mypy("warn_unreachable = true\nenable_error_code = truthy-bool\n"),
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_type_checker_says_of_each_mistake_what_the_page_says(checker: str, tmp_path: Path) -> None:
    lines = write(tmp_path / "wrong.py")
    found = CHECKS[checker](tmp_path)
    column = CHECKERS.index(checker) + 1
    said = {row[0]: set(re.findall(r"`([\w-]+)`", row[column])) for row in ROWS}
    assert {row[0]: found.get(line, set()) for row, line in zip(ROWS, lines, strict=True)} == said


def test_the_page_says_that_mypy_is_silent_where_it_is() -> None:
    silent = [row[0] for row in ROWS if row[3] == "nothing"]
    assert len(silent) == 8 and "warn_unreachable = true" in PAGE.read_text()
