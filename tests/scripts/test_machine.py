"""What a script in the front of a terminal does with the program it runs."""

import signal
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

INNER = "import signal; print('runs', flush=True); signal.pause()"
OUTER = f"""
import sys
from scripts.machine import run_in_front
code = run_in_front([sys.executable, "-c", {INNER!r}])
print("tidies up", flush=True)
sys.exit(code)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_script_that_is_terminated_ends_its_program_and_tidies_up(number: signal.Signals):
    with subprocess.Popen(
        [sys.executable, "-c", OUTER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == "runs\n"
        script.send_signal(number)
        # To the end: both hold the pipe, so both are gone.
        assert script.stdout.read() == "tidies up\n"
        assert script.wait(10) == 128 + signal.SIGTERM
