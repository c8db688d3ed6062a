"""`askback store`: tables are made and brought up to date, and a store that cannot be used says why."""

import sys
from pathlib import Path

import anyio
import pytest

from askback.stores import SQLiteStore
from askback.stores.postgres import PostgresStore
from askback.stores.postgres.schema import load_migrations
from askback.vault.keys import VARIABLE, new_key
from tests.support.command.process import Shell
from tests.support.stores.postgres import schema_of

STEPS = [str(step) for step in load_migrations()]
CANARY = "hunter2-canary"


@pytest.fixture
def shell(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Without a kitchen: nothing is called here."""
    monkeypatch.chdir(home)
    monkeypatch.delenv("ASKBACK_STORE", raising=False)
    monkeypatch.setenv(VARIABLE, new_key())  # and no desktop is asked for one
    return Shell(capsys, "")


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?schema={schema_of(tmp_path)}"


@pytest.mark.services
def test_tables_are_made_and_the_command_says_which(shell: Shell, url: str, tmp_path: Path):
    ended = shell.run("store", "migrate", "--store", url)
    assert ended.code == 0
    where = f"the schema {schema_of(tmp_path)} of postgresql://127.0.0.1:"
    assert ended.out.startswith(f"Done in {where}")
    assert [line.strip() for line in ended.out.splitlines()[1:]] == STEPS
    again = shell.run("store", "migrate", "--store", url)
    assert (again.code, again.out[: len(where) + 12]) == (0, f"Up to date: {where}")


@pytest.mark.services
@pytest.mark.parametrize("flag", ["--check", "--dry-run"])
def test_a_check_changes_nothing_and_fails_where_something_is_missing(shell: Shell, url: str, flag: str):
    for _ in range(2):
        ended = shell.run("store", "migrate", flag, "--store", url)
        assert ended.code == 1
        assert ended.out.startswith("Missing in the schema") and STEPS[0] in ended.out
    assert shell.run("store", "migrate", flag, "--json", "--store", url).json == {
        "steps": [],
        "missing": STEPS,
        "exit": 1,
    }
    assert shell.run("store", "migrate", "--json", "--store", url).json == {
        "steps": STEPS,
        "missing": [],
        "exit": 0,
    }
    assert shell.run("store", "migrate", flag, "--store", url).code == 0


@pytest.mark.services
def test_the_store_may_be_named_in_the_environment(shell: Shell, url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASKBACK_STORE", url)
    assert shell.run("store", "migrate").code == 0


@pytest.mark.services
def test_a_store_that_can_be_used_says_which_memory_it_has(shell: Shell, url: str, tmp_path: Path):
    missing = shell.run("store", "check", "--store", url)
    assert missing.code == 1
    assert "Run `askback store migrate" in missing.errors
    shell.run("store", "migrate", "--store", url)

    async def fill() -> str:
        store = PostgresStore(url)
        await store.spend("link", until=4e9)
        epoch = await store.epoch()
        await store.close()
        return epoch

    epoch = anyio.run(fill)
    ended = shell.run("store", "check", "--store", url)
    schema = schema_of(tmp_path)
    assert (
        ended.out == f"It can be used, by all that can connect. Rows: 1. Epoch: {epoch}. Schema: {schema}.\n"
    )
    assert shell.run("store", "check", "--json", "--store", url).json == {
        "reach": "network",
        "rows": 1,
        "epoch": epoch,
        "schema": schema,
        "exit": 0,
    }


@pytest.mark.services
def test_no_tables_are_made_because_somebody_looks(shell: Shell, url: str):
    for words in (("store", "check"), ("vault", "list"), ("ledger", "tail")):
        ended = shell.run(*words, "--store", url)
        assert (ended.code, ended.out) == (1, "")
        assert "Run `askback store migrate" in ended.errors
    assert shell.run("store", "migrate", "--check", "--json", "--store", url).json["missing"] == STEPS


@pytest.mark.services
def test_where_nothing_is_kept_the_place_is_said_without_the_password(shell: Shell, url: str):
    with_password = f"{url.replace('askback@', f'askback:{CANARY}@')}&password={CANARY}"
    assert CANARY in with_password.partition("?")[0]
    shell.run("store", "migrate", "--store", url)
    ended = shell.run("vault", "list", "--store", with_password)
    assert ended.code == 0
    assert ended.out.startswith("Nothing is kept in ...@127.0.0.1:") and CANARY not in ended.out


def test_a_server_that_is_not_there_fails_without_the_password(shell: Shell):
    url = f"postgresql://anna:{CANARY}@127.0.0.1:1/tools"
    for words in (("migrate",), ("migrate", "--check"), ("migrate", "--json"), ("check",)):
        ended = shell.run("store", *words, "--store", url)
        assert ended.code == 1
        said = ended.out + ended.errors
        assert "postgresql://127.0.0.1:1/tools cannot be used" in said
        assert CANARY not in said


@pytest.mark.parametrize("store", ["sqlite:///tools.db", "memory:", "redis://127.0.0.1:1/0"])
def test_other_stores_have_nothing_to_migrate(shell: Shell, store: str, home: Path):
    ended = shell.run("store", "migrate", "--store", store)
    assert ended.code == 0
    assert "nothing to migrate" in ended.out
    assert not (home / "tools.db").exists()


def test_a_file_can_be_checked_as_well_and_is_not_made_by_looking(shell: Shell, home: Path):
    ended = shell.run("store", "check", "--store", "sqlite:///tools.db")
    assert ended.code == 2 and "There is no file tools.db" in ended.errors
    assert not (home / "tools.db").exists()
    anyio.run(SQLiteStore(home / "tools.db").epoch)
    ended = shell.run("store", "check", "--store", "sqlite:///tools.db")
    assert ended.code == 0
    assert ended.out.startswith("It can be used, by all processes of this machine. Rows: 0. Epoch: ")


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("migrate",), "Which store? Name it with --store, or in ASKBACK_STORE."),
        (("migrate", "--store", "mysql://db"), "names no store"),
        (("migrate", "--store", "postgresql://db/x?shema=y"), "does not know shema"),
        (("check", "--store", "memory:"), "Name a store that lasts"),
    ],
)
def test_what_names_no_store_is_met_with_advice(shell: Shell, words: tuple[str, ...], advice: str):
    ended = shell.run("store", *words)
    assert ended.code == 2
    assert advice in ended.errors


def test_without_the_extra_it_says_how_to_get_it(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("askback.stores.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    ended = shell.run("store", "migrate", "--store", "postgresql://db.example/tools")
    assert ended.code == 2
    assert 'pip install "askback[postgres]"' in ended.errors
