"""Where a vault's keys come from, in order: the environment, the desktop's keyring, a file for its owner alone."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import keyring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyring.backends.fail import Keyring as NoDesktop

from askback.errors import OperatorError, VaultUnavailable
from askback.vault.keyring import KeyRing
from askback.vault.keys import (
    HOME,
    VARIABLE,
    add_key,
    data_directory,
    find_keys,
    known_keys,
    new_key,
    read_keys,
)
from tests.support.terminal_emulator import ROOT
from tests.support.vault_keys import ring, written
from tests.vault.desktop import PLACE, Desktop

pytestmark = pytest.mark.slow

SERVERS = 3


def opens(ring: KeyRing, row: bytes) -> bool:
    try:
        return ring.open(row, owner="ada", name="token") == b"value"
    except VaultUnavailable:
        return False


def sealed(ring: KeyRing) -> bytes:
    return ring.seal(b"value", owner="ada", name="token")


@pytest.fixture
def desktop() -> Desktop:
    """The library's `set_keyring` is undone with the home."""
    desktop = Desktop()
    keyring.set_keyring(desktop)
    return desktop


def test_the_environment_comes_first_and_is_asked_alone(
    home: Path, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(VARIABLE, written("new", "old"))
    found = find_keys(is_local=True)
    assert found.is_current(sealed(ring("new")))
    assert opens(found, sealed(ring("old")))
    assert not home.exists() and not desktop.kept


@pytest.mark.parametrize("between", [" ", ",", ", ", "\n", "  \n"])
def test_keys_are_written_with_spaces_commas_or_on_lines(between: str):
    found = read_keys(between.join(written("new", "old").split()), source=VARIABLE)
    assert found.is_current(sealed(ring("new"))) and opens(found, sealed(ring("old")))


@pytest.mark.parametrize(
    "wrong",
    ["", "hunter2", written("new")[:-2], f"{written('new')} hunter2", "é" * 44, "A" * 60],
    ids=["nothing", "a password", "cut off", "one of two", "no ASCII", "too long"],
)
def test_keys_that_are_none_are_refused_without_repeating_them(wrong: str):
    with pytest.raises(VaultUnavailable, match=f"in {VARIABLE} cannot be read") as refused:
        read_keys(wrong, source=VARIABLE)
    assert "hunter2" not in str(refused.value) and written("new")[:-2] not in str(refused.value)


@given(st.lists(st.builds(new_key), min_size=1, max_size=5, unique=True))
def test_what_vault_key_prints_can_be_read(keys: list[str]):
    found = read_keys(" ".join(keys), source=VARIABLE)
    for key in keys:
        assert opens(found, sealed(read_keys(key, source=VARIABLE)))


def test_on_a_desktop_the_key_is_made_in_its_keyring_and_found_there_again(home: Path, desktop: Desktop):
    first = find_keys(is_local=True)
    assert list(desktop.kept) == ["askback/vault keys"]
    assert not (home / "vault.keys").exists()
    assert opens(find_keys(is_local=True), sealed(first))


def test_without_a_desktop_the_key_is_made_in_a_file_and_found_there_again(home: Path):
    first = find_keys(is_local=True)
    assert (home / "vault.keys").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert opens(find_keys(is_local=True), sealed(first))


def test_a_key_in_a_file_stays_good_when_a_desktop_comes(home: Path):
    row = sealed(find_keys(is_local=True))
    desktop = Desktop()
    keyring.set_keyring(desktop)
    assert opens(find_keys(is_local=True), row)
    assert not desktop.kept


def test_what_was_sealed_without_the_desktop_opens_on_it(home: Path, desktop: Desktop):
    at_the_desk = find_keys(is_local=True)
    keyring.set_keyring(NoDesktop())  # over ssh
    away = find_keys(is_local=True)
    assert not opens(away, sealed(at_the_desk))
    keyring.set_keyring(desktop)
    again = find_keys(is_local=True)
    assert again.is_current(sealed(at_the_desk)) and opens(again, sealed(away))


def test_a_keyring_that_is_locked_is_named_and_no_second_key_is_made(home: Path, desktop: Desktop):
    desktop.is_locked = True
    with pytest.raises(VaultUnavailable, match=r"KeyringLocked.*Unlock it"):
        find_keys(is_local=True)
    assert not (home / "vault.keys").exists()


def test_where_a_file_has_keys_a_locked_keyring_is_done_without(home: Path, desktop: Desktop):
    keyring.set_keyring(NoDesktop())
    row = sealed(find_keys(is_local=True))
    keyring.set_keyring(desktop)
    desktop.is_locked = True
    assert opens(find_keys(is_local=True), row)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_can_read_or_write_is_refused_with_what_to_do(home: Path, mode: int):
    find_keys(is_local=True)
    (home / "vault.keys").chmod(mode)
    with pytest.raises(VaultUnavailable, match=r"chmod 600 .*vault rotate"):
        find_keys(is_local=True)


@pytest.mark.parametrize("mode", [0o700, 0o777, 0o1777], ids=oct)
def test_a_file_of_another_users_is_not_taken_for_ones_own(
    home: Path, mode: int, monkeypatch: pytest.MonkeyPatch
):
    home.mkdir()
    home.chmod(mode)
    (home / "vault.keys").write_text(new_key())
    (home / "vault.keys").chmod(0o600)
    # Only root gives files away; that we are somebody else comes to the same.
    monkeypatch.setattr(os, "geteuid", lambda: (home / "vault.keys").stat().st_uid + 1)
    with pytest.raises(VaultUnavailable, match=f"belongs to another user.*set {HOME}"):
        find_keys(is_local=True)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o722], ids=oct)
def test_a_directory_in_which_others_write_is_refused_with_what_to_do(home: Path, mode: int):
    find_keys(is_local=True)
    home.chmod(mode)
    for _ in range(2):
        with pytest.raises(
            VaultUnavailable, match=f"others on this machine can write there.*chmod go-w {home}"
        ):
            find_keys(is_local=True)
        (home / "vault.keys").unlink(missing_ok=True)
    assert not (home / "vault.keys").exists()


def test_a_directory_in_which_others_write_and_exchange_nothing_will_do(home: Path):
    row = sealed(find_keys(is_local=True))
    home.chmod(0o1777)
    assert opens(find_keys(is_local=True), row)


def test_a_directory_that_cannot_be_made_is_named_with_the_variables_that_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv(HOME, str(tmp_path / "file" / "home"))
    with pytest.raises(VaultUnavailable, match=rf"cannot be kept in .*{HOME}.*{VARIABLE}"):
        find_keys(is_local=True)


@pytest.mark.verifies("R28")
def test_a_server_that_others_reach_needs_its_keys_in_the_environment(
    home: Path, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(VaultUnavailable, match=f"set {VARIABLE} to what `askback vault key` prints"):
        find_keys(is_local=False)
    assert not home.exists() and not desktop.kept
    monkeypatch.setenv(VARIABLE, written("new"))
    assert find_keys(is_local=False).is_current(sealed(ring("new")))


def test_whoever_only_looks_makes_no_key(home: Path, desktop: Desktop):
    assert known_keys() is None
    assert not home.exists() and not desktop.kept


PLACES: dict[str, tuple[dict[str, str], str]] = {
    "ours": ({HOME: "/srv/tools", "XDG_DATA_HOME": "/data"}, "/srv/tools"),
    "the desktop's": ({"XDG_DATA_HOME": "/data"}, "/data/askback"),
    "the usual": ({}, str(Path.home() / ".local" / "share" / "askback")),
}


@pytest.mark.parametrize("which", PLACES)
def test_what_lasts_is_in_the_users_own_directory(which: str):
    environment, place = PLACES[which]
    assert str(data_directory(environment)) == place


@pytest.mark.parametrize("where", ["tests.vault.desktop.SharedDesktop", "keyring.backends.fail.Keyring"])
def test_servers_that_start_at_once_get_one_key(home: Path, tmp_path: Path, where: str):
    around = {**os.environ, PLACE: str(tmp_path / "desktop"), "PYTHON_KEYRING_BACKEND": where}
    servers = [_started(around) for _ in range(SERVERS)]
    try:
        for server in servers:
            assert server.stdout is not None and server.stdout.readline() == "ready\n"
        for server in servers:
            assert server.stdin is not None
            server.stdin.write("go\n")
            server.stdin.flush()
        keys = [server.communicate(timeout=40)[0] for server in servers]
    finally:
        for server in servers:
            server.kill()
            server.wait()
    assert len(set(keys)) == 1 and len(keys[0]) == 17
    assert (home / "vault.keys").exists() is not (tmp_path / "desktop").exists()


def _started(around: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.vault.starting"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=around,
    )


@pytest.mark.parametrize("where", ["desktop", "file"])
def test_a_new_key_is_put_in_front_and_the_old_ones_stay_behind(home: Path, where: str):
    desktop = Desktop()
    if where == "desktop":
        keyring.set_keyring(desktop)
    rows = [sealed(find_keys(is_local=True))]
    for _ in range(2):
        add_key()
        rows.append(sealed(find_keys(is_local=True)))
    found = find_keys(is_local=True)
    assert [found.is_current(row) for row in rows] == [False, False, True]
    assert all(opens(found, row) for row in rows)
    assert (home / "vault.keys").exists() is (where == "file")
    if where == "file":
        assert (home / "vault.keys").stat().st_mode & 0o777 == 0o600


def test_where_the_environment_has_the_keys_a_new_one_must_be_put_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(VARIABLE, written("old"))
    with pytest.raises(OperatorError, match=rf"come from {VARIABLE}.*in front of the others"):
        add_key()
    assert not home.exists()


@pytest.mark.parametrize("text", ["hunter2", "", "\x00"])
def test_a_file_that_holds_no_keys_is_left_as_it_is(home: Path, text: str):
    find_keys(is_local=True)
    (home / "vault.keys").write_text(text)
    with pytest.raises(VaultUnavailable, match="cannot be read"):
        add_key()
    assert (home / "vault.keys").read_text() == text


def test_where_nobody_has_a_home_it_is_said_what_to_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(HOME, "~nobody-of-that-name/kept")
    with pytest.raises(VaultUnavailable, match=f"Set {HOME} to a directory"):
        find_keys(is_local=True)


def test_a_file_that_cannot_be_read_is_named(home: Path):
    (home / "vault.keys").mkdir(mode=0o700, parents=True)
    with pytest.raises(VaultUnavailable, match=r"vault\.keys: Is a directory"):
        find_keys(is_local=True)
