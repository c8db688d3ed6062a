"""`askback vault`: what is kept is listed and forgotten, keys are made and replaced, and no value is ever shown."""

import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path

import anyio
import keyring
import pytest
from keyring.backends.fail import Keyring as NoDesktop

from askback.model.owners import LOCAL, owner_from_claims, owner_from_name
from askback.stores import SQLiteStore
from askback.vault import Vault, read_keys
from askback.vault.factory import embedded_file
from askback.vault.keys import HOME, VARIABLE, find_keys, known_keys
from askback.vault.vault import VaultItem
from tests.scripts.test_package import HIDDEN
from tests.support.command.process import Open, Shell
from tests.support.vault_keys import written

pytestmark = pytest.mark.slow

WEATHER, GITHUB = VaultItem("secret", "weather key"), VaultItem("connection", "github")
ADA, BOB = (str(owner_from_claims({"iss": "https://id.example", "sub": name})) for name in ("ada", "bob"))
CANARY = "hunter2-canary"

THEN = 1_800_000_000.0
"""2027-01-15 08:00 UTC."""

FAR = 4_102_444_800.0
"""2100-01-01 00:00 UTC: the command itself goes by the real clock."""


@pytest.fixture(autouse=True)
def place(home: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Where the vault would be; not made yet. There is no desktop."""
    monkeypatch.setenv(HOME, str(home / "kept"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("TZ", "UTC")
    before = keyring.get_keyring()
    keyring.set_keyring(NoDesktop())
    yield home / "kept"
    keyring.set_keyring(before)


@pytest.fixture
def shell(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Without a kitchen: nothing is called here."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "100")
    return Shell(capsys, "")


def filled(
    work: Callable[[Vault], Awaitable[None]], file: Path | None = None, keys: str | None = None
) -> None:
    """What servers have kept before the command begins."""
    ring = find_keys(is_local=True) if keys is None else read_keys(keys, source="here")

    async def fill() -> None:
        store = SQLiteStore(file or embedded_file(), clock=lambda: THEN)
        await work(Vault(store, ring, clock=lambda: THEN).for_server("tools"))
        await store.close()

    anyio.run(fill)


async def everybody(vault: Vault) -> None:
    await vault.put(LOCAL, WEATHER, {"value": CANARY})
    await vault.put(LOCAL, GITHUB, {"access_token": CANARY}, until=FAR)
    await vault.put(ADA, WEATHER, {"value": CANARY})
    await vault.put(BOB, WEATHER, {"value": CANARY})


async def mine(vault: Vault) -> None:
    await vault.put(LOCAL, WEATHER, {"value": CANARY})


LISTED = """\
ada at https://id.example
  secret  weather key  for tools  since 2027-01-15 08:00
bob at https://id.example
  secret  weather key  for tools  since 2027-01-15 08:00
the user of this computer
  connection  github       for tools  since 2027-01-15 08:00, until 2100-01-01 00:00
  secret      weather key  for tools  since 2027-01-15 08:00
"""


@pytest.mark.verifies("R28")
def test_the_list_says_for_whom_what_since_when_and_until_when(shell: Shell, place: Path):
    filled(everybody)
    ended = shell.run("vault", "list")
    assert (ended.code, ended.out, ended.errors) == (0, LISTED, "")
    assert CANARY not in ended.out


def test_for_programs_it_is_one_json_object(shell: Shell):
    filled(everybody)
    ended = shell.run("vault", "list", "--json")
    assert ended.code == ended.json["exit"] == 0
    assert ended.json["kept"][2] == {
        "server": "tools",
        "owner": LOCAL,
        "whose": "the user of this computer",
        "kind": "connection",
        "name": "github",
        "since": "2027-01-15T08:00:00+00:00",
        "until": "2100-01-01T00:00:00+00:00",
        "opens": True,
    }
    assert len(ended.json["kept"]) == 4
    assert CANARY not in ended.out


def test_where_nothing_was_ever_kept_a_look_makes_nothing(shell: Shell, place: Path):
    ended = shell.run("vault", "list")
    assert (ended.code, ended.out) == (0, f"Nothing is kept in {place / 'vault.db'}.\n")
    assert shell.run("vault", "list", "--json").json == {"kept": [], "exit": 0}
    assert shell.run("vault", "forget", "weather key", "--yes").code == 1
    assert shell.run("vault", "rotate").code == 2
    assert not place.exists()


def test_another_store_is_named_as_a_server_names_it(shell: Shell, home: Path):
    filled(mine, home / "tools.db")
    for store in ("sqlite:///tools.db", f"sqlite:///{home / 'tools.db'}"):
        assert "weather key" in shell.run("vault", "list", "--store", store).out
    assert shell.run("vault", "forget", "weather key", "--yes", "--store", "sqlite:///tools.db").code == 0
    assert shell.run("vault", "list", "--store", "sqlite:///tools.db").out == "Nothing is kept in tools.db.\n"


STORES = {
    "sqlite:///typo.db": "There is no file typo.db. ",
    "sqlite://tools.db": "three slashes",
    "mysql://cache": "begins with no scheme",
    "memory:": "by its own server alone",
    "tools.db": "begins with no scheme",
}


@pytest.mark.parametrize("verb", [["list"], ["forget", "weather key"], ["rotate"]], ids=lambda verb: verb[0])
@pytest.mark.parametrize("store", STORES)
def test_a_store_that_is_not_there_is_misuse_and_is_not_made(
    shell: Shell, home: Path, verb: list[str], store: str
):
    filled(mine)
    ended = shell.run("vault", *verb, "--store", store)
    assert ended.code == 2 and STORES[store] in ended.errors and ended.out == ""
    assert not (home / "typo.db").exists()


def test_a_file_that_is_no_store_fails_with_the_stores_own_words(shell: Shell, home: Path):
    filled(mine)
    (home / "notes.txt").write_text("buy milk\n" * 100)
    ended = shell.run("vault", "list", "--store", "sqlite:///notes.txt", "--json")
    assert ended.code == ended.json["exit"] == 1
    assert ended.json["error"]["kind"] == "StoreUnavailable"
    assert "file is not a database" in ended.json["error"]["message"]


@pytest.mark.parametrize("place", ["redis://127.0.0.1:1/0", "postgresql://127.0.0.1:1/tools"])
def test_a_store_that_does_not_answer_fails_with_its_own_words_and_without_the_password(
    shell: Shell, place: str
):
    filled(mine)
    ended = shell.run("vault", "list", "--store", place.replace("//", f"//ann:{CANARY}@"))
    assert (ended.code, ended.out) == (1, "")
    assert f"The store {place} cannot be used: " in ended.errors
    assert CANARY not in ended.errors


def test_keys_that_cannot_be_read_are_said(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    filled(mine)
    monkeypatch.setenv(VARIABLE, "nonsense")
    ended = shell.run("vault", "list")
    assert ended.code == 1 and f"in {VARIABLE} cannot be read" in ended.errors


def test_forgetting_takes_that_one_and_no_other(shell: Shell):
    filled(everybody)
    ended = shell.run("vault", "forget", "weather key", "--owner", "ada", "--yes")
    told = "Forgotten: the secret 'weather key' of ada at https://id.example for tools, since 2027-01-15 08:00.\n"
    assert (ended.code, ended.out, ended.errors) == (0, told, "")
    assert shell.run("vault", "list").out == LISTED.partition("bob")[1] + LISTED.partition("bob")[2]
    assert shell.run("vault", "forget", "weather key", "--owner", "ada", "--yes").code == 2


@pytest.mark.parametrize("whose", [LOCAL, "the user of this computer"])
def test_whose_it_is_can_be_said_as_the_list_says_it(shell: Shell, whose: str):
    filled(everybody)
    assert shell.run("vault", "forget", "weather key", "--owner", whose, "--yes").code == 0


def test_of_a_connection_it_is_said_that_the_provider_knows_nothing(shell: Shell):
    filled(everybody)
    ended = shell.run("vault", "forget", "github", "--yes")
    assert ended.code == 0 and "The provider was not told" in ended.errors


async def alike(vault: Vault) -> None:
    for owner, item in (
        (ADA, VaultItem("secret", "github")),
        (ADA, GITHUB),
        (BOB, VaultItem("secret", "github")),
    ):
        await vault.put(owner, item, {"value": CANARY})


DOUBTS: dict[str, tuple[list[str], str, int]] = {
    "nothing said": ([], "3 things are called 'github'. Say which, with --kind and --owner:", 3),
    "whose": (["--owner", "ada"], "2 things are called 'github'. Say which, with --kind:", 2),
    "which": (["--kind", "secret"], "2 things are called 'github'. Say which, with --owner:", 2),
    "nobody's": (["--owner", "eve"], "Nothing called 'github' fits these options. There is:", 3),
    "a part of a name": (["--owner", "ad"], "Nothing called 'github' fits these options. There is:", 3),
    "only an issuer": (["--owner", "https://id.example"], "Nothing called", 3),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_where_several_could_be_meant_they_are_listed_and_all_stay(shell: Shell, doubt: str):
    options, told, count = DOUBTS[doubt]
    filled(alike)
    ended = shell.run("vault", "forget", "github", "--yes", *options)
    assert ended.code == 2 and ended.errors.startswith(told)
    assert len(re.findall(r"^  the (?:secret|connection) 'github' of ", ended.errors, re.MULTILINE)) == count
    assert len(shell.run("vault", "list", "--json").json["kept"]) == 3


def test_what_is_not_there_is_said(shell: Shell, place: Path):
    filled(everybody)
    ended = shell.run("vault", "forget", "wether key", "--yes")
    assert ended.code == 1
    assert (
        f"Nothing is called 'wether key' in {place / 'vault.db'}. See `askback vault list`." in ended.errors
    )


def test_without_a_terminal_nobody_can_agree(shell: Shell):
    filled(mine)
    ended = shell.run("vault", "forget", "weather key")
    assert ended.code == 2 and "Add --yes." in ended.errors
    assert "weather key" in shell.run("vault", "list").out


@pytest.mark.parametrize(
    ("typed", "told", "is_kept"),
    [("y", "Forgotten: ", False), ("Yes", "Forgotten: ", False), ("", "Nothing was forgotten.", True)],
)
def test_at_a_terminal_somebody_is_asked_first(
    screen: Open, shell: Shell, typed: str, told: str, is_kept: bool
):
    filled(mine)
    terminal = screen("vault", "forget", "weather key")
    terminal.until("Forget the secret 'weather key' of the user of this computer", "[y/N]")
    terminal.type(typed)
    terminal.press("enter")
    terminal.until(told)
    assert terminal.ended() == 0
    assert ("weather key" in shell.run("vault", "list").out) is is_kept


def test_ctrl_c_is_a_no_too(screen: Open, shell: Shell):
    filled(mine)
    terminal = screen("vault", "forget", "weather key")
    terminal.until("[y/N]")
    terminal.press("cancel")
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.text
    assert "weather key" in shell.run("vault", "list").out


def test_a_list_fits_into_forty_columns(screen: Open):
    filled(everybody)
    terminal = screen("vault", "list", columns=40)
    terminal.until("ada at https://id.example", "2100-01-01 00:00", "the user of this computer")
    assert terminal.ended() == 0


@pytest.mark.verifies("T15")
def test_names_cannot_move_the_terminal(shell: Shell):
    hostile = "key\x1b]0;mine\x07\u202e"

    async def work(vault: Vault) -> None:
        await vault.put(owner_from_name(hostile), VaultItem("secret", hostile), {"value": "1"})

    filled(work)
    for words in (["list"], ["forget", hostile], ["forget", hostile, "--yes"], ["forget", hostile]):
        ended = shell.run("vault", *words)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ended.out + ended.errors)


def test_a_new_key_is_printed_alone_for_a_pipe(shell: Shell):
    first, second = shell.run("vault", "key"), shell.run("vault", "key")
    assert first.code == 0 and first.errors == "" and first.out != second.out
    assert read_keys(first.out, source="here")


@pytest.mark.verifies("T23")
def test_keys_are_replaced_as_the_guide_says(shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch):
    filled(everybody, home / "tools.db", written("old"))
    store = ("--store", "sqlite:///tools.db")
    new = shell.run("vault", "key").out.strip()
    monkeypatch.setenv(VARIABLE, f"{new} {written('old')}")
    ended = shell.run("vault", "rotate", *store)
    assert (ended.code, ended.out) == (0, "4 rows were sealed with the first key.\n")
    assert "the others can be removed" in ended.errors
    monkeypatch.setenv(VARIABLE, new)
    assert shell.run("vault", "list", *store).out == LISTED
    assert shell.run("vault", "rotate", *store).out == "0 rows were sealed with the first key.\n"


def test_rows_that_no_key_opens_are_told_and_can_be_forgotten(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
):
    filled(mine, home / "tools.db", written("lost"))
    store = ("--store", "sqlite:///tools.db")
    monkeypatch.setenv(VARIABLE, written("new"))
    ended = shell.run("vault", "rotate", *store)
    assert ended.code == 1 and "1 row was left as before" in ended.errors
    assert "secret  weather key  for tools  no key here opens it" in shell.run("vault", "list", *store).out
    assert not shell.run("vault", "list", "--json", *store).json["kept"][0]["opens"]
    assert shell.run("vault", "forget", "weather key", "--yes", *store).code == 0


def test_without_any_key_it_can_still_be_listed_and_forgotten_and_none_is_made(shell: Shell, home: Path):
    filled(mine, home / "tools.db", written("elsewhere"))
    store = ("--store", "sqlite:///tools.db")
    assert "no key here opens it" in shell.run("vault", "list", *store).out
    assert shell.run("vault", "forget", "weather key", "--yes", *store).code == 0
    assert known_keys() is None


@pytest.mark.parametrize(
    "words", [[], ["forget"], ["lst"], ["list", "more"], ["forget", "key", "--kind", "x"]]
)
def test_what_cannot_be_followed_is_misuse(shell: Shell, words: list[str]):
    ended = shell.run("vault", *words)
    assert ended.code == 2 and "usage: askback vault" in ended.errors


def test_help_fits_into_eighty_columns(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["-h"], ["list", "-h"], ["forget", "-h"], ["rotate", "-h"], ["key", "-h"]):
        ended = shell.run("vault", *words)
        assert ended.code == 0 and max(map(len, ended.out.splitlines())) <= 80


def test_it_needs_no_extra_but_what_every_server_has():
    filled(mine)
    pages = "sys.modules.update(dict.fromkeys(['authlib', 'itsdangerous', 'jinja2', 'joserfc', 'keyring']))"
    code = f"{HIDDEN}; {pages}; from askback.cli import main; sys.exit(main())"
    said = subprocess.run(
        [sys.executable, "-c", code, "vault", "list"],
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
        env={**os.environ, "TZ": "UTC"},
    )
    assert said.returncode == 0, said.stderr
    assert "secret  weather key  for tools  since 2027-01-15 08:00" in said.stdout


def test_on_this_machine_one_command_replaces_the_key(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    filled(everybody)
    ended = shell.run("vault", "rotate", "--new-key")
    assert (ended.code, ended.out) == (0, "4 rows were sealed with the first key.\n")
    assert shell.run("vault", "list").out == LISTED
    monkeypatch.setenv(VARIABLE, written("old"))
    ended = shell.run("vault", "rotate", "--new-key")
    assert ended.code == 2 and f"come from {VARIABLE}" in ended.errors
