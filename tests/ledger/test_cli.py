"""`askback ledger`: read, verified, exported and trimmed from a shell; what others wrote cannot move the terminal."""

import base64
import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from askback.ledger import Ledger, LedgerEntry
from askback.ledger.keys import VARIABLE, LedgerKeyRing
from askback.stores import SQLiteStore
from tests.ledger.books import KEY, OTHER, THEN, believe_names_of_keys, check, entry
from tests.support.command.process import Shell
from tests.support.defence import with_and_without

pytestmark = pytest.mark.verifies("T24")

CALL = "17-8d41c07be21f90aa-3f2"
FILE = Path("tools.db")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("ASKBACK_STORE", f"sqlite:///{FILE}")
    monkeypatch.setenv(VARIABLE, KEY)
    return Shell(capsys, "")


def fill(
    entries: Sequence[LedgerEntry],
    *,
    keys: Sequence[str | bytes] = (KEY,),
    at: float = THEN,
    file: Path = FILE,
) -> None:
    """What a server has written before the command begins, each entry in an append of its own."""

    async def write() -> None:
        store = SQLiteStore(file)
        ledger = Ledger(store, keys, keep=None, clock=lambda: at)
        for one in entries:
            await ledger.write(one)
        await store.close()

    anyio.run(write)


def tamper(statement: str, *values: object) -> None:
    with closing(sqlite3.connect(FILE)) as file, file:
        file.execute(statement, values)


TOLD = {"kind": "tool", "target": "order", "place": "size", "question": "q-77aa01"}

STORY = [
    entry(
        CALL,
        **TOLD,
        caller="ada",
        client="example-client 1.0",
        revision="2026-07-28",
        arguments="9f" * 32,
        message="Which size?\nSmall ones are out.",
        channel="form",
        asks={"type": "object"},
    ),
    entry(
        CALL,
        **TOLD,
        event="answered",
        at=THEN + 40,
        message=None,
        action="accept",
        digest="ab" * 32,
        word="client",
    ),
    entry(CALL, kind="tool", target="order", place="charge", event="spent", at=THEN + 41, message=None),
]

TAILED = """\
     2  2027-01-15 08:00:00  17-8d41c0  cafe/order  asked [size] "Which size? Small ones are out." (form)
     3  2027-01-15 08:00:40  17-8d41c0  cafe/order  answered [size] accept on the client's word
     4  2027-01-15 08:00:41  17-8d41c0  cafe/order  spent [charge]
"""

WRAPPED = """\
\x1b[2m     2  2027-01-15 08:00:00  17-8d41c0  cafe/order  \x1b[0masked [size] "Which size?
                                                      Small ones are out."
                                                      (form)
\x1b[2m     3  2027-01-15 08:00:40  17-8d41c0  cafe/order  \x1b[0manswered [size] accept on
                                                      the client's word
\x1b[2m     4  2027-01-15 08:00:41  17-8d41c0  cafe/order  \x1b[0mspent [charge]
\x1b[2m     5  2027-01-15 08:00:00  17-8d41c0  cafe/order  \x1b[0mspent: round 1
"""

SHOWN = f"""\
call {CALL}
  server     cafe
  tool       order
  caller     ada
  client     example-client 1.0
  revision   2026-07-28
  arguments  {"9f" * 32}
2027-01-15 08:00:00  asked [size] "Which size? Small ones are out." (form)
    asks: {{"type": "object"}}
    question: q-77aa01
2027-01-15 08:00:40  answered [size] accept on the client's word
    digest: {"ab" * 32}
    question: q-77aa01
2027-01-15 08:00:41  spent [charge]
"""


def test_the_last_lines_are_shown(shell: Shell):
    fill(STORY)
    ended = shell.run("ledger", "tail", "-n", "3")
    assert (ended.code, ended.out, ended.errors) == (0, TAILED, "")
    first, second, *_ = shell.run("ledger", "tail").out.splitlines()
    assert first.startswith("     1  2027-01-15 08:00:00  ") and first.index("the writer ") == second.index(
        "asked "
    )


def test_on_a_terminal_what_happened_is_wrapped_under_itself_and_the_rest_steps_back(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    fill([*STORY, entry(CALL, kind="tool", target="order", event="spent", message=None, reason="round 1")])
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert shell.run("ledger", "tail", "-n", "4").out == WRAPPED
    monkeypatch.setenv("NO_COLOR", "1")
    assert shell.run("ledger", "tail", "-n", "4").out == re.sub(r"\x1b\[\d+m", "", WRAPPED)
    monkeypatch.setenv("COLUMNS", "60")
    assert (
        "  cafe/order\n        answered [size] accept on the client's word\n"
        in shell.run("ledger", "tail").out
    )


def test_what_comes_is_shown_until_somebody_ends_it(shell: Shell):
    fill(STORY)
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-m",
        "askback.cli",
        "ledger",
        "tail",
        "--follow",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as following:
        assert following.stdout is not None
        shown = [following.stdout.readline() for _ in range(4)]
        assert "".join(shown[1:]) == TAILED
        fill([entry("one-more")])
        assert "the writer" in following.stdout.readline()
        assert "one-more" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 130


@pytest.mark.parametrize("name", [CALL, CALL[:6], "q-77aa01"])
def test_one_call_is_told_as_a_story(shell: Shell, name: str):
    fill([entry("another"), *STORY, STORY[0]])
    ended = shell.run("ledger", "show", name)
    assert (ended.code, ended.out, ended.errors) == (0, SHOWN, "")


def test_a_name_that_fits_none_or_several_calls_is_told(shell: Shell):
    fill([*STORY, entry("17-8d41ff")])
    assert shell.run("ledger", "show", "zz").code == 1
    ended = shell.run("ledger", "show", "17-8d41")
    assert (ended.code, ended.out) == (1, "")
    assert CALL in ended.errors and "17-8d41ff" in ended.errors and "Type more" in ended.errors


def test_without_keys_it_can_be_read_and_that_it_is_unverified_is_said(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    fill(STORY)
    monkeypatch.delenv(VARIABLE)
    for words in (["tail"], ["show", CALL], ["guards"]):
        ended = shell.run("ledger", *words)
        assert ended.code == 0 and ("Which size?" in ended.out) is (words != ["guards"])
        assert "None of this is verified: there are no keys here." in ended.errors
    for words in (["verify"], ["heads"], ["trim", "--keep", "1"]):
        ended = shell.run("ledger", *words)
        assert ended.code == 2 and f"Set {VARIABLE}" in ended.errors


def test_with_keys_a_line_whose_seal_does_not_fit_is_marked(shell: Shell):
    fill(STORY)
    tamper("UPDATE ledger SET line = replace(line, 'accept', 'cancel') WHERE number = 3")
    tamper("UPDATE ledger SET line = CAST(line AS BLOB)")
    assert "cancel on the client's word  (its seal does not fit" in shell.run("ledger", "tail").out
    assert "(its seal does not fit" in shell.run("ledger", "show", CALL).out


HOSTILE = "\x1b]0;owned\x07\x9b2J\u202edlrow\r\nYou won"


@pytest.mark.parametrize(
    "words",
    [["tail"], ["show", "\x1b[1m"], ["export"], ["verify"], ["guards"], ["guards", "--json"]],
    ids=" ".join,
)
def test_nothing_that_others_wrote_moves_the_terminal(shell: Shell, words: list[str]):
    names = ("server", "kind", "target", "caller", "client", "place", "message", "reason", "rule", "word")
    told: dict[str, Any] = dict.fromkeys(names, HOSTILE)
    fill(
        [
            entry(
                "\x1b[1m",
                **told,
                event="guarded",
                answer=HOSTILE,
                asks={HOSTILE: 1},
                facts={HOSTILE: [HOSTILE]},
            )
        ]
    )
    ended = shell.run("ledger", *words)
    assert ended.code == 0
    assert all(line.isprintable() for line in (ended.out + ended.errors).splitlines())
    assert not {"\x1b", "\x9b", "\u202e", "\r"} & {*ended.out}


def test_a_sound_ledger_verifies_and_the_limits_of_that_are_said(shell: Shell):
    fill(STORY)
    ended = shell.run("ledger", "verify")
    assert (ended.code, ended.out) == (0, "The ledger is as it was written: 4 lines, 1 to 4, by 1 writer.\n")
    assert "Only an earlier head shows" in ended.errors


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "UPDATE ledger SET line = replace(line, 'size', 'sice') WHERE number = 2",
            "- line 2: its seal does not fit",
        ),
        ("DELETE FROM ledger WHERE number = 3", "- line 3: it is missing."),
        (
            "INSERT INTO ledger (line) VALUES ('{}')",
            "- line 5: this is no line of the ledger (it has no seal).",
        ),
        ("DELETE FROM ledger WHERE number < 3", "- line 3: the ledger begins here, and no mark says"),
    ],
    ids=["changed", "missing", "put in", "cut"],
)
def test_a_ledger_that_somebody_touched_does_not(shell: Shell, statement: str, told: str):
    fill(STORY)
    tamper(statement)
    ended = shell.run("ledger", "verify")
    assert ended.code == 1
    assert ended.out.startswith("The ledger is not as it was written: ")
    assert told in ended.out
    heads = shell.run("ledger", "heads")
    assert (heads.code, heads.out) == (1, "")
    assert "No head was made" in heads.errors


def test_a_cut_off_end_is_noticed_against_a_head(shell: Shell):
    fill(STORY)
    head = shell.run("ledger", "heads")
    assert head.code == 0
    Path("head.json").write_text(head.out)
    assert "compared with the head of" in shell.run("ledger", "verify", "--head", "head.json").out
    tamper("DELETE FROM ledger WHERE number = 4")
    assert shell.run("ledger", "verify").code == 0
    ended = shell.run("ledger", "verify", "--head", "head.json")
    assert ended.code == 1
    assert "- The ledger ends with line 3, and had 4 when the head was made." in ended.out
    assert "had 4 lines when the head was made, and 3 are left." in ended.out


def test_what_is_no_head_is_not_taken_for_one(shell: Shell):
    fill(STORY)
    Path("head.json").write_text("{}")
    for name, told in (("head.json", "This is not the head of a ledger"), ("typo.json", "cannot be read")):
        ended = shell.run("ledger", "verify", "--head", name)
        assert ended.code == 2 and told in ended.errors


def test_an_export_is_json_lines_that_can_be_verified_anywhere(shell: Shell):
    fill(STORY)
    ended = shell.run("ledger", "export")
    assert ended.code == 0
    exported = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["number"] for line in exported] == [1, 2, 3, 4]
    assert exported[2]["e"]["action"] == "accept"
    rows = [
        (line.pop("number"), raw)
        for line, raw in zip(exported, map(unnumbered, ended.out.splitlines()), strict=True)
    ]
    assert check(rows).is_sound


def unnumbered(line: str) -> bytes:
    return ("{" + line.partition(",")[2]).encode()


def test_an_export_can_begin_later_and_go_to_a_new_file(shell: Shell):
    fill(STORY)
    assert shell.run("ledger", "export", "--after", "2").out.count("\n") == 2
    assert shell.run("ledger", "export", "--since", "2027-01-15T08:00:41").out.count("\n") == 1
    assert shell.run("ledger", "export", "--since", "2027-01-16").out == ""
    assert shell.run("ledger", "export", "--out", "lines.jsonl").out == ""
    assert Path("lines.jsonl").read_text().count("\n") == 4
    assert shell.run("ledger", "export", "--out", "lines.jsonl").code == 2


def test_what_is_no_line_is_left_out_of_an_export_and_that_is_said(shell: Shell):
    fill(STORY)
    tamper("INSERT INTO ledger (line) VALUES ('{}')")
    ended = shell.run("ledger", "export")
    assert (ended.code, ended.out.count("\n")) == (1, 4)
    assert "Line 5 is left out: it has no seal." in ended.errors


def test_old_lines_go_when_they_are_told_to(shell: Shell):
    long_ago = 1_000_000_000.0
    fill([entry("old", at=long_ago)], at=long_ago)
    fill(STORY)
    head = shell.run("ledger", "heads").out
    Path("head.json").write_text(head)
    ended = shell.run("ledger", "trim", "--keep", "1000")
    assert (ended.code, ended.out) == (0, "2 lines older than 1000 days went.\n")
    assert shell.run("ledger", "verify", "--head", "head.json").code == 0
    assert "old lines go, those before 3" in shell.run("ledger", "tail").out
    assert shell.run("ledger", "trim", "--keep", "1000").out == "No line is older than 1000 days.\n"


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["trim", "--keep", "0"], "'0' is not a number of days: write 400"),
        (["trim", "--keep", "-1"], "'-1' is not a number of days"),
        (["trim", "--keep", "soon"], "'soon' is not a number of days"),
        (["tail", "-n", "all"], "'all' is not a number of lines: write 20"),
        (["export", "--since", "monday"], "'monday' is not a date or time: write 2026-11-01"),
    ],
)
def test_what_cannot_be_followed_is_met_with_what_to_write(shell: Shell, words: list[str], advice: str):
    ended = shell.run("ledger", *words)
    assert ended.code == 2 and advice in ended.errors


@with_and_without
def test_a_ledger_under_the_forged_name_of_a_key_does_not_pass_for_that_of_a_lost_key(
    is_defended: bool, shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        believe_names_of_keys(monkeypatch)
    fill(STORY)
    id, strange = LedgerKeyRing([KEY]).first.id, LedgerKeyRing([OTHER]).first.id
    tamper("UPDATE ledger SET line = replace(line, ?, ?)", f'"k":"{id}"', f'"k":"{strange}"')
    ended, shown = shell.run("ledger", "verify"), shell.run("ledger", "tail").out
    assert ended.code == 1
    assert ("is not as it was written" in ended.out) is is_defended
    assert ("could not be verified as a whole" in ended.out) is not is_defended
    assert ("its key is not here" in shown) is not is_defended


def test_a_forged_name_of_a_key_is_called_forgery_and_not_a_missing_key(shell: Shell):
    fill(STORY)
    id, strange = LedgerKeyRing([KEY]).first.id, LedgerKeyRing([OTHER]).first.id
    tamper("UPDATE ledger SET line = replace(line, ?, ?) WHERE number = 3", f'"k":"{id}"', f'"k":"{strange}"')
    ended = shell.run("ledger", "verify")
    assert ended.code == 1 and "is not as it was written: 1 problem" in ended.out
    assert "line 3" in ended.out and "the name is forged" in ended.out and "not here: put" not in ended.out
    shown = shell.run("ledger", "tail").out
    assert "(its seal does not fit" in shown and "its key is not here" not in shown


def test_keys_come_from_a_file_or_the_environment(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    fill(STORY)
    fill(STORY, keys=[OTHER])
    ended = shell.run("ledger", "verify")
    assert ended.code == 1 and "could not be verified as a whole: 1 problem" in ended.out
    assert shell.run("ledger", "tail").out.count("(not verified: its key is not here)") == 4
    Path("keys").write_text(f"{OTHER}\n\n{KEY}\n")
    assert shell.run("ledger", "verify", "--keys-file", "keys").code == 0
    monkeypatch.setenv(VARIABLE, "too-short")
    ended = shell.run("ledger", "verify")
    assert ended.code == 2 and "too-short" not in ended.errors
    assert shell.run("ledger", "verify", "--keys-file", "typo").code == 2


def test_a_key_that_is_no_text_is_written_in_base64(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    key = bytes(range(32))
    fill(STORY, keys=[key])
    monkeypatch.setenv(VARIABLE, f"base64:{base64.b64encode(key).decode()}")
    assert shell.run("ledger", "verify").code == 0
    monkeypatch.setenv(VARIABLE, "base64:no!")
    assert shell.run("ledger", "verify").code == 2


STORES = {
    "": "Which store?",
    "memory:": "Name a store that lasts.",
    "sqlite:///typo.db": "There is no file typo.db. ",
    "mongo://": "names no store",
}


@pytest.mark.parametrize("store", STORES)
def test_a_store_that_is_none_is_told(shell: Shell, store: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASKBACK_STORE", store)
    ended = shell.run("ledger", "tail")
    assert (ended.code, ended.out) == (2, "")
    assert STORES[store] in ended.errors
    assert not Path("typo.db").exists()
