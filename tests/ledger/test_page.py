"""What the page on the ledger shows is what the commands print, one after the other. `…` is what differs each time."""

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from askback.ledger import Event, LedgerEntry
from tests.ledger.guarded import GUARDED
from tests.ledger.test_cli import FILE, STORY, fill
from tests.ledger.test_cli import shell as shell
from tests.support.command.process import Shell
from tests.support.docs_pages import DOCS, blocks, code_of, table

PAGE = DOCS / "how-to" / "ledger.md"


def commands() -> Iterator[tuple[str, str]]:
    """Each with what it prints."""
    for block in blocks(PAGE, "console"):
        for part in block.text.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def run(shell: Shell, command: str) -> str:
    program, *words = shlex.split(command)
    if program == "sqlite3":
        with closing(sqlite3.connect(words[0])) as file, file:
            file.execute(words[1])
        return ""
    if ">" not in words:
        return shell.run(*words).out
    Path(words[-1]).write_text(shell.run(*words[:-2]).out)
    return ""


@pytest.mark.verifies("T24")
def test_the_page_shows_what_is_printed(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "120")
    fill(STORY)
    fill(GUARDED, file=Path("shop.db"))
    assert str(FILE) in PAGE.read_text()
    seen: set[str] = set()
    for command, printed in commands():
        expected = ".*?".join(map(re.escape, printed.split("…")))
        out = run(shell, command)
        assert re.fullmatch(expected, out, re.DOTALL), f"{command}\n{out}"
        seen.add(command.split()[2])
    assert verbs(shell) - seen == {"trim"}


def verbs(shell: Shell) -> set[str]:
    return set(re.findall(r"^    ([a-z]+) ", shell.run("ledger", "--help").out, re.MULTILINE))


def test_every_field_of_an_entry_is_on_the_page():
    listed = {
        name for row in table(PAGE, "with each", "what it is") for name in re.findall(r"`(\w+)`", row[0])
    }
    assert {field.name for field in fields(LedgerEntry)} - listed == {"event", "cut", "more"}


def test_every_event_is_on_the_page():
    assert [code_of(row[0]) for row in table(PAGE, "event", "what happened")] == [*get_args(Event)]


def test_every_option_has_its_row_on_the_page_of_commands(shell: Shell):
    listed = (DOCS / "reference" / "command-line.md").read_text().partition("## The ledger\n")[2]
    for verb in verbs(shell):
        for option in re.findall(r"^  (--?[a-z-]+)", shell.run("ledger", verb, "--help").out, re.MULTILINE):
            assert option == "-h" or f"`{option}" in listed, f"{verb} {option}"
