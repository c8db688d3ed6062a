"""`askback call` in a real terminal: a person answers, reads, and leaves."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.command.process import KITCHEN, Open

pytestmark = pytest.mark.slow


@pytest.mark.verifies("R47", "R49", "R55", "T14")
def test_missing_arguments_and_questions_are_answered_on_the_same_kind_of_form(
    screen: Open, kitchen_url: str
):
    terminal = screen("call", kitchen_url, "serve", "--label", "kitchen")
    terminal.ready("kitchen asks", "for: 1 missing argument of tool serve", "│ Ask before it is served.")
    assert "askback" not in terminal.text
    terminal.type("soup")
    terminal.send()
    terminal.ready("kitchen asks", "for: tool serve", "Serve soup?")
    terminal.type("y")
    terminal.send()
    terminal.until("soup served")
    assert terminal.ended() == 0


@pytest.mark.verifies("R48")
def test_no_is_an_answer_and_the_command_has_done_its_work(screen: Open, kitchen_url: str):
    terminal = screen("call", kitchen_url, "serve", "dish=soup")
    terminal.ready("Serve soup?")
    terminal.press("decline")
    terminal.until("soup kept")
    assert terminal.ended() == 0


def test_arguments_that_nobody_fills_in_end_with_four(screen: Open, kitchen_url: str):
    terminal = screen("call", kitchen_url, "serve", columns=40)
    terminal.ready("for: 1 missing argument of tool serve")
    terminal.press("cancel")
    terminal.until("so the\ntool was not called.")
    assert terminal.ended() == 4


def test_what_a_form_cannot_show_is_typed_as_json_until_it_is(screen: Open, kitchen_url: str):
    terminal = screen("call", kitchen_url, "plate")
    terminal.ready("JSON object")
    terminal.type("soup")
    terminal.send()
    terminal.ready("for: 1 missing argument, which did not fit yet, of tool plate", "Not yet JSON object.")
    terminal.press(*["backspace"] * 4)
    terminal.type('{"name": "soup", "spices": []}')
    terminal.send()
    terminal.until('"name": "soup"')
    assert terminal.ended() == 0


@pytest.mark.verifies("T15")
@pytest.mark.parametrize("started", [True, False], ids=["started", "over HTTP"])
def test_while_the_server_works_one_line_says_so_and_ctrl_c_ends_it_all(
    screen: Open, kitchen_url: str, tmp_path: Path, started: bool
):
    mark = tmp_path / "mark"
    target = KITCHEN if started else kitchen_url
    terminal = screen("call", target, "cook", f"mark={mark}", "--label", "kitchen")
    terminal.until("kitchen works, ", " 1 of 1,000,000 stirring ␛]0;stolen␇")
    assert terminal.screen.title == ""
    assert sum("works" in line for line in terminal.lines) == 1
    assert sum("鍋" in line for line in terminal.lines) == 1
    terminal.press("cancel")
    terminal.until("Interrupted.")
    assert terminal.ended() == 130
    assert "works" not in terminal.text
    terminal.until_that(mark.exists, "the server to be told")


def test_a_long_path_gives_way_to_what_the_server_says(screen: Open, tmp_path: Path):
    folder = tmp_path / f"Büro {'with a long name ' * 8}"
    folder.mkdir()
    kitchen = shutil.copy(KITCHEN, folder)
    terminal = screen("call", kitchen, "cook")
    terminal.until("…kitchen.py works, ", ": 1 of 1,000,000 stirring ␛]0;stolen␇")
    terminal.press("cancel")
    assert terminal.ended() == 130


def test_a_server_that_only_starts_is_not_said_to_work(screen: Open, tmp_path: Path):
    (tmp_path / "slow.py").write_text("import sys\nfor line in sys.stdin: pass")
    terminal = screen(
        "call", shlex.join([sys.executable, str(tmp_path / "slow.py")]), "cook", "--label", "slow"
    )
    terminal.until("slow starts, ")
    terminal.press("cancel")
    terminal.until("Interrupted.")
    assert terminal.ended() == 130


def test_results_go_where_the_shell_sends_them_while_questions_stay(
    screen: Open, kitchen_url: str, tmp_path: Path
):
    out = tmp_path / "out.json"
    terminal = screen("call", kitchen_url, "serve", "dish=soup", "--json", out=out)
    terminal.ready("Serve soup?")
    terminal.press("decline")
    assert terminal.ended() == 0
    assert '"action": "decline", "by": "person"' in out.read_text()


def test_line_by_line_for_screen_readers(screen: Open, kitchen_url: str):
    terminal = screen("call", kitchen_url, "serve", "dish=soup", "--plain", columns=40)
    terminal.until("Serve soup?", "\n>")
    terminal.press("cancel")
    terminal.until("soup kept")
    assert terminal.ended() == 0
    assert b"\x1b[?1049h" not in terminal.bytes
