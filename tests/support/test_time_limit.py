"""A test that waits in vain: it ends, says for what, and the tests after it run as if nothing had been."""

import time

import pytest

from tests.support.paths import ROOT

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.slow


WAITING = """
import os, subprocess, sys
import anyio
import pytest

@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"

@pytest.fixture(scope="session", autouse=True)
async def kept(anyio_backend):
    yield

@pytest.fixture
def gate(tmp_path):
    os.mkfifo(tmp_path / "gate")
    yield
    open(tmp_path / "gate", "w").close()

@pytest.mark.anyio
async def test_of_an_event():
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep_forever)
        await anyio.Event().wait()

@pytest.mark.anyio
async def test_of_a_circle():
    while True:
        pass

@pytest.mark.anyio
async def test_on_the_same_loop():
    await anyio.sleep(0)

def test_of_a_program():
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(silent, stdout=subprocess.PIPE) as program:
        program.stdout.readline()

def test_that_fails_before_its_fixture_waits(gate):
    assert False
"""

TOLD = (
    "*test_of_an_event: await anyio.Event().wait()",
    "*test_of_a_circle: *",
    "*test_of_a_program: program.stdout.readline()",
    '*gate: open(tmp_path / "gate", "w").close()',
)

SECONDS = 20.0
"""For all of it, on a busy machine. What waits here waits for a minute or for good."""


def test_a_wait_in_vain_ends_in_its_own_time_and_is_told(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    pytester.makepyfile(WAITING)
    pytester.makeconftest(
        "from tests.support import time_limit\n"
        "from tests.support.time_limit import *\n"
        "time_limit.SECONDS_TO_CLEAN_UP = time_limit.SECONDS_BETWEEN = 0.5\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    began = time.monotonic()
    run = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-o", "timeout=1", "--tb=short", timeout=SECONDS
    )
    assert time.monotonic() - began < SECONDS
    run.assert_outcomes(passed=1, failed=4, errors=1)
    for line in TOLD:
        run.stdout.fnmatch_lines([line])
