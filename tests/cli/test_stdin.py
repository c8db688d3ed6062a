"""Standard input that is no pipe and no terminal: a file, /dev/null, or closed by the shell."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def askback(*words: str, redirected: str) -> subprocess.CompletedProcess[str]:
    """Run it from a shell, with its input redirected."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "askback.cli", *words],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_lines_of_a_desk_may_be_those_of_a_file(kitchen_url: str, tmp_path: Path):
    (tmp_path / "lines.txt").write_text("weigh grams=1\nburn")
    ended = askback(
        "desk", "--no-open", kitchen_url, redirected=f"< {shlex.quote(str(tmp_path / 'lines.txt'))}"
    )
    assert "1 g, precise: False\n" in ended.stdout
    assert "burnt" in ended.stdout
    assert ended.returncode == 1


@pytest.mark.parametrize("redirected", ["< /dev/null", "<&-"])
def test_a_desk_without_lines_has_done_its_work(kitchen_url: str, redirected: str):
    ended = askback("desk", "--no-open", kitchen_url, redirected=redirected)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr.startswith("The desk is ready")
    assert ended.stderr.count("\n") == 1


def test_a_call_without_input_says_that_nobody_can_be_asked(kitchen_url: str):
    ended = askback("call", kitchen_url, "serve", "dish=soup", redirected="<&-")
    assert ended.returncode == 4
    assert "Nobody can be asked here: standard input is not a terminal." in ended.stderr
