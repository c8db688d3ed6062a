"""SIGTERM and SIGHUP: the terminal is as it was, no server is left behind, and the exit code tells which it was."""

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.support.command.process import KITCHEN, Open

pytestmark = pytest.mark.slow

DEAF = """
import os, signal, sys
from pathlib import Path
Path(sys.argv[1]).write_text(str(os.getpid()))
while True:
    signal.pause()
"""
"""A server that reads nothing, so that the end of its input does not end it."""

SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("plain", "number"), list(zip([True, False], SIGNALS, strict=True)), ids=["plain", "full screen"]
)
def test_a_question_is_taken_off_the_screen(
    screen: Open, kitchen_url: str, plain: bool, number: signal.Signals
):
    terminal = screen(
        "call", kitchen_url, "serve", "dish=soup", *(["--plain"] if plain else []), hears_hang_up=True
    )
    before = terminal.modes
    terminal.until("Serve soup?", "\n>" if plain else "Decline")
    assert terminal.modes != before
    terminal.signal(number)
    terminal.until(number.name)
    assert terminal.ended() == SIGNALS[number]
    assert terminal.modes == before
    screens = 0 if plain else 1
    assert [terminal.bytes.count(code) for code in (b"\x1b[?1049h", b"\x1b[?1049l")] == [screens, screens]


def test_at_a_desk_the_line_that_is_typed_is_let_go(screen: Open, kitchen_url: str):
    terminal = screen("desk", "--no-open", kitchen_url, hears_hang_up=True)
    before = terminal.modes
    terminal.until("askback>")
    terminal.signal(signal.SIGTERM)
    assert terminal.ended() == 143
    assert terminal.modes == before
    assert "Traceback" not in terminal.text


def test_a_server_that_reads_nothing_is_not_left_behind(screen: Open, tmp_path: Path):
    mark, deaf = tmp_path / "pid", tmp_path / "deaf.py"
    deaf.write_text(DEAF)
    terminal = screen("call", shlex.join([sys.executable, str(deaf), str(mark)]), hears_hang_up=True)
    terminal.until_that(lambda: mark.exists() and mark.read_text() != "", "the server to start")
    terminal.signal(signal.SIGTERM)
    assert terminal.ended() == SIGNALS[signal.SIGTERM]
    assert not is_alive(int(mark.read_text()))


def test_a_call_that_runs_is_called_off(screen: Open, tmp_path: Path):
    mark = tmp_path / "mark"
    terminal = screen("call", KITCHEN, "cook", f"mark={mark}", hears_hang_up=True)
    terminal.until("works, ", "stirring")
    terminal.signal(signal.SIGTERM)
    assert terminal.ended() == 143
    assert mark.exists()


def test_a_command_whose_terminal_is_closed_ends_in_order(screen: Open, tmp_path: Path):
    mark = tmp_path / "mark"
    terminal = screen("call", KITCHEN, "cook", f"mark={mark}", hears_hang_up=True)
    terminal.until("works, ", "stirring")
    terminal.hang_up()
    assert terminal.ended() == 129
    assert mark.exists()


def test_a_command_that_is_to_outlive_its_terminal_does(screen: Open, kitchen_url: str):
    terminal = screen("call", kitchen_url, "serve", "dish=soup")
    terminal.ready("Serve soup?")
    terminal.signal(signal.SIGHUP)
    terminal.press("decline")
    terminal.until("soup kept")
    assert terminal.ended() == 0
