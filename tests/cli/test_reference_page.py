"""The page on the command line says what the commands do."""

import re
import shlex
from importlib.metadata import version

import pytest

from askback.cli import COMMANDS
from askback.cli.console import Exit
from tests.support.command.process import Shell
from tests.support.docs_pages import DOCS, table

PAGE = DOCS / "reference" / "command-line.md"
OPTIONS = table(PAGE, "option", "of", "meaning")


def test_every_exit_code_has_its_row():
    assert [int(code) for code, _ in table(PAGE, "code", "means")] == list(Exit)


@pytest.mark.parametrize("command", ["call", "desk", "demo"])
def test_every_option_has_its_row(shell: Shell, command: str):
    told = set(re.findall(r"^  (--[a-z-]+)", shell.run(command, "--help").out, re.MULTILINE))
    listed = {name for row in OPTIONS if command in row[1] for name in re.findall(r"--[a-z-]+", row[0])}
    assert listed == told


def test_the_command_on_the_page_about_policies_follows_the_rules_there(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    page = (DOCS / "how-to" / "policy.md").read_text()
    (command,) = re.findall(r"^askback (call .*)$", page, re.MULTILINE)
    monkeypatch.chdir(DOCS.parent)
    ended = shell.run(*shlex.split(command))
    assert (ended.code, ended.out) == (0, "Order 1: Margherita, water, tip 0\n")


def test_without_a_command_the_commands_are_listed(shell: Shell):
    ended = shell.run()
    assert (ended.code, ended.errors) == (0, "")
    assert all(f"\n    {name} " in ended.out for name in COMMANDS)


def test_the_version_is_told(shell: Shell):
    assert shell.run("--version").out == f"askback {version('askback')}\n"


def test_a_command_that_there_is_not_is_misuse(shell: Shell):
    ended = shell.run("cal")
    assert ended.code == 2
    assert "invalid choice: 'cal'" in ended.errors
