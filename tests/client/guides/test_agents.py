"""The guides for agent libraries by others pass their own tests, in the environment that `make guides` makes."""

import subprocess
import sys

import pytest

from tests.support.omission import leave_out
from tests.support.paths import ROOT

pytestmark = pytest.mark.guides

AGENTS = ROOT / "examples" / "hosts" / "agents"
ENVIRONMENT = ROOT / ".build" / "guides"


@pytest.fixture
def python() -> str:
    if not (ENVIRONMENT / "made-for" / "guides").exists():
        leave_out("The libraries of the guides are not installed. Run `make guides`.")
    return str(ENVIRONMENT / "bin" / "python")


@pytest.mark.parametrize("library", ["ag2", "langchain", "pydantic_ai"])
def test_the_stories_of_the_inn_are_told_by(library: str, python: str):
    # Their warnings are theirs to mend.
    options = ["-q", "-p", "no:cacheprovider", "-W", "default"]
    done = subprocess.run(
        [python, "-m", "pytest", *options, str(AGENTS / f"test_{library}.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_guides_fit_the_types_of_their_libraries(python: str):
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--project", str(AGENTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stdout
