"""`askback approvals`: what holds for longer than one call is listed and revoked, and nothing else is touched."""

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer

from askback import Askback, guard
from askback.model.owners import LOCAL, owner_from_claims, owner_from_name
from askback.runtime.approvals import Approval, Approvals, Scope
from askback.stores import SQLiteStore
from askback.testing import Run, accept, decline, run_tool
from tests.support.command.process import Shell
from tests.support.docs_pages import DOCS

FILE = Path("tools.db")

ADA, BOB = (str(owner_from_claims({"iss": "https://id.example", "sub": name})) for name in ("ada", "bob"))

THEN = 1_700_000_000.0
"""2023-11-14 22:13 UTC: the command itself goes by the real clock."""

LONG = 2_400_000_000.0
"""Seconds: until 2099."""

PAY = Scope(ADA, "shop", "pay", "g1", "k1")
PAY_BOB = PAY._replace(owner=BOB)
DROP = Scope(ADA, "shop", "drop", "g2", "k2")
OURS = Scope(LOCAL, "files", "drop", "g2", "k2")


@pytest.fixture
def shell(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("ASKBACK_STORE", f"sqlite:///{FILE}")
    return Shell(capsys, "")


def grant(
    *scopes: Scope, seconds: float = LONG, covers: str = "pay, to bob", message: str = "Send 120 euro to bob?"
) -> None:
    """What people have approved before the command begins."""

    async def fill() -> None:
        store = SQLiteStore(FILE, clock=lambda: THEN)
        approvals = Approvals(store, clock=lambda: THEN)
        for number, scope in enumerate(scopes):
            call = f"{number:x}-8d41c07be21f90aa-3f2"
            await approvals.grant(
                scope,
                seconds=seconds,
                covers=covers,
                message=message,
                call=call,
                place=scope.name,
                remembered=60.0,
                word="client",
            )
        await store.put("askback/other", "secret", b"kept")
        await store.close()

    anyio.run(fill)


def held(scopes: Sequence[Scope]) -> list[bool]:
    """What a server finds now."""

    async def look() -> list[Approval | None]:
        store = SQLiteStore(FILE, clock=lambda: THEN + 1)
        approvals = Approvals(store, clock=lambda: THEN + 1)
        found = [await approvals.find(scope) for scope in scopes]
        assert await store.get("askback/other", "secret") == b"kept"
        await store.close()
        return found

    return [one is not None for one in anyio.run(look)]


ALL = (PAY, PAY_BOB, DROP, OURS)

LISTED = f"""\
ada at https://id.example
  {PAY.name[:12]}  shop/pay  since 2023-11-14 22:13, until 2099-12-03 16:53
      covers: pay, to bob
      asked: "Send 120 euro to bob?"
      given in call 0-8d41c0 on the client's word
bob at https://id.example
  {PAY_BOB.name[:12]}  shop/pay  since 2023-11-14 22:13, until 2099-12-03 16:53
      covers: pay, to bob
      asked: "Send 120 euro to bob?"
      given in call 1-8d41c0 on the client's word
"""


def test_the_list_says_for_whom_what_it_covers_and_until_when(shell: Shell):
    grant(PAY, PAY_BOB)
    ended = shell.run("approvals", "list")
    assert (ended.code, ended.out, ended.errors) == (0, LISTED, "")


def test_for_programs_it_is_one_json_object(shell: Shell):
    grant(PAY)
    ended = shell.run("approvals", "list", "--json")
    assert ended.code == ended.json["exit"] == 0
    assert ended.json["approvals"] == [
        {
            "id": PAY.name,
            "caller": ADA,
            "whose": "ada at https://id.example",
            "server": "shop",
            "tool": "pay",
            "covers": "pay, to bob",
            "message": "Send 120 euro to bob?",
            "since": "2023-11-14T22:13:20+00:00",
            "until": "2099-12-03T16:53:20+00:00",
            "call": "0-8d41c07be21f90aa-3f2",
            "word": "client",
        }
    ]


def test_what_is_over_is_not_listed_and_cannot_be_revoked(shell: Shell):
    grant(PAY, seconds=60)
    ended = shell.run("approvals", "list")
    assert (ended.code, ended.out) == (0, "No approval holds in tools.db.\n")
    assert shell.run("approvals", "revoke", "--all").code == 1


CHOICES: dict[str, list[bool]] = {
    PAY.name: [False, True, True, True],
    PAY.name[:12]: [False, True, True, True],
    f"{PAY.name[:12]} {OURS.name[:12]}": [False, True, True, False],
    "--caller ada": [False, True, False, True],
    "--caller local": [True, True, True, False],
    "--tool drop": [True, True, False, False],
    "--tool drop --server files": [True, True, True, False],
    "--tool pay --caller bob": [True, False, True, True],
    f"{PAY.name[:12]} --caller ada": [False, True, True, True],
    "--all": [False, False, False, False],
}


@pytest.mark.parametrize("words", CHOICES)
def test_revoking_takes_those_that_are_meant_and_says_which(shell: Shell, words: str):
    grant(*ALL)
    ended = shell.run("approvals", "revoke", *words.split())
    gone = [scope for scope, stays in zip(ALL, CHOICES[words], strict=True) if not stays]
    assert held(ALL) == CHOICES[words]
    counted = "1 approval" if len(gone) == 1 else f"{len(gone)} approvals"
    assert ended.code == 0 and ended.out.startswith(f"Revoked, so it is asked again: {counted}.\n")
    assert {*re.findall(r"^  ([0-9a-f]{12})  ", ended.out, re.MULTILINE)} == {one.name[:12] for one in gone}


REFUSED: dict[str, tuple[int, str]] = {
    "": (2, "Which approvals?"),
    "--all --tool pay": (2, "leave out --all, or all other choices"),
    "zz": (1, "No approval called zz holds in tools.db: none was revoked."),
    "--caller eve": (1, "No approval of eve holds"),
    "--caller https://id.example": (1, "No approval of https://id.example holds"),
    f"{PAY.name} --caller bob": (1, f"No approval called {PAY.name} of bob holds"),
    "--tool PAY": (1, "No approval for PAY holds"),
    "--store memory:": (2, "by its own server alone"),
    "--all --store sqlite:///typo.db": (2, "There is no file typo.db"),
    "--all --store mysql://x": (2, "begins with no scheme"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_means_none_revokes_none(shell: Shell, words: str):
    code, told = REFUSED[words]
    grant(*ALL)
    ended = shell.run("approvals", "revoke", *words.split())
    assert (ended.code, ended.out) == (code, "") and told in ended.errors
    assert held(ALL) == [True] * 4
    assert not Path("typo.db").exists()


def test_an_id_that_fits_several_revokes_none(shell: Shell):
    scopes = [PAY._replace(key=f"k{number}") for number in range(40)]
    grant(*scopes)
    first = scopes[0].name[0]
    ended = shell.run("approvals", "revoke", first)
    assert ended.code == 2 and f"approvals begin with '{first}'. Type more" in ended.errors
    assert all(held(scopes))


def test_of_several_ids_the_one_that_is_none_is_said(shell: Shell):
    grant(*ALL)
    ended = shell.run("approvals", "revoke", PAY.name[:12], "zz")
    assert ended.code == 1 and "No approval is called zz." in ended.errors
    assert held(ALL) == [False, True, True, True]


def test_for_programs_what_was_revoked_is_one_json_object(shell: Shell):
    grant(*ALL)
    ended = shell.run("approvals", "revoke", "--tool", "drop", "--json")
    assert (ended.code, ended.json["exit"]) == (0, 0)
    assert {one["id"] for one in ended.json["revoked"]} == {DROP.name, OURS.name}
    again = shell.run("approvals", "revoke", "--tool", "drop", "--json")
    assert (again.code, again.json) == (1, {"revoked": [], "exit": 1})
    wrong = shell.run("approvals", "revoke", "--json")
    assert (wrong.code, wrong.json["error"]["kind"]) == (2, "Misused")


def test_what_a_server_was_told_for_an_hour_is_asked_again_once_it_is_revoked(shell: Shell):
    @guard("Pay {to}?", offers=[timedelta(hours=1)])
    async def pay(to: str) -> str:
        return f"paid {to}"

    def call(*answers: Any) -> Run:
        server: MCPServer[Any] = MCPServer("shop")
        server.add_tool(pay)
        Askback(server, keys=[b"a key of the tests' own, 32 bytes"], store=f"sqlite:///{FILE}", caller=ada)
        return anyio.run(partial(run_tool, server, "pay", {"to": "bob"}, list(answers)))

    assert call(accept(decision="for 3600")).text == call().text == "paid bob"
    listed = shell.run("approvals", "list", "--json").json["approvals"]
    assert [(one["whose"], one["server"], one["tool"], one["message"]) for one in listed] == [
        ("ada", "shop", "pay", "Pay bob?")
    ]
    assert shell.run("approvals", "revoke", "--caller", "ada", "--tool", "pay").code == 0
    again = call(decline())
    assert len(again.asked) == 1 and "was not run" in again.text


def ada(_: object) -> str:
    """Whoever calls."""
    return "ada"


def test_a_store_must_be_named(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ASKBACK_STORE")
    ended = shell.run("approvals", "list")
    assert ended.code == 2 and "with --store, or in ASKBACK_STORE" in ended.errors


def test_a_store_that_cannot_be_used_fails_with_its_own_words(shell: Shell):
    Path("notes.txt").write_text("buy milk\n" * 100)
    for verb in (["list"], ["revoke", "--all"]):
        ended = shell.run("approvals", *verb, "--store", "sqlite:///notes.txt", "--json")
        assert (ended.code, ended.json["error"]["kind"]) == (1, "StoreUnavailable")


def test_a_password_in_the_address_is_not_printed(shell: Shell):
    ended = shell.run("approvals", "list", "--store", "redis://ann:hunter2@127.0.0.1:1/0")
    assert ended.code == 1 and "hunter2" not in ended.errors + ended.out


@pytest.mark.verifies("T15")
def test_names_and_questions_cannot_move_the_terminal(shell: Shell):
    hostile = "pay\x1b]0;mine\x07\u202e\nYou won"
    scope = Scope(owner_from_name(hostile), hostile, hostile, "g", "k")
    grant(scope, covers=hostile, message=hostile)
    for words in (
        ["list"],
        ["list", "--tool", hostile + "!"],
        ["revoke", hostile],
        ["revoke", "--tool", hostile],
    ):
        ended = shell.run("approvals", *words)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ended.out + ended.errors)
        assert "\nYou won" not in ended.out + ended.errors


@pytest.mark.parametrize("verb", ["list", "revoke"])
def test_every_option_has_its_row_on_the_page_of_commands(shell: Shell, verb: str):
    page = (DOCS / "reference" / "command-line.md").read_text()
    section = page.partition("## Approvals\n")[2].partition("\n## ")[0]
    options = re.findall(r"^  (--[a-z-]+)", shell.run("approvals", verb, "--help").out, re.MULTILINE)
    assert options and all(f"`{option}" in section for option in options)
