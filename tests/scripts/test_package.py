"""What is published: a wheel with every file of the package, and a core that needs no extra."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.terminal_emulator import Emulator

pytestmark = pytest.mark.slow

SOURCE = ROOT / "src"

CLIENT = ["ada_url", "prompt_toolkit", "publicsuffixlist"]
"""What the `client` extra brings and the core does not."""


HIDDEN = f"import sys; sys.modules.update(dict.fromkeys({CLIENT!r}))"
WITHOUT_EXTRA = [sys.executable, "-c", f"{HIDDEN}; from askback.cli import main; sys.exit(main())"]
"""`askback` as where the extra was never installed."""


def without_the_client_extra(*words: str) -> subprocess.CompletedProcess[str]:
    """Run it with these words, away from any terminal."""
    return subprocess.run(
        [*WITHOUT_EXTRA, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_wheel_holds_every_file_of_the_package(tmp_path: Path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("askback/")}
    files = {str(file.relative_to(SOURCE)) for file in (SOURCE / "askback").rglob("*") if file.is_file()}
    assert held == {file for file in files if "__pycache__" not in file}
    assert "askback/client/desk/page/index.html" in held


def test_the_demo_plays_itself_without_the_client_extra():
    shown = without_the_client_extra("demo")
    assert shown.returncode == 0, shown.stderr
    assert "2026-07-28" in shown.stdout


def test_at_a_terminal_the_demo_says_why_it_plays_itself():
    terminal = Emulator([*WITHOUT_EXTRA, "demo"], columns=200, rows=60)
    try:
        terminal.until("A guest answers for you, because the forms are not installed. Install it with: pip")
        terminal.until("The same result on all three")
    finally:
        terminal.close()
    assert "This command needs" not in terminal.text


@pytest.mark.parametrize("command", ["call", "desk"])
def test_a_command_that_needs_the_client_extra_says_how_to_get_it(command: str):
    said = without_the_client_extra(command, "https://inn.example/mcp")
    assert said.returncode == 2
    assert 'pip install "askback[client]"' in said.stderr
    assert said.stderr.count("\n") == 1
