"""What a person consented to before is remembered, and nothing goes wrong when it cannot be."""

import fcntl
import json
import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from askback.client.consent import KnownSites, path_of_user
from askback.client.consent import sites as sites_module
from askback.client.consent.sites import MAX_DOMAINS, MAX_SERVERS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "askback" / "sites.json"


def test_a_consented_site_is_known_to_the_next_program(path: Path):
    KnownSites(path).remember("shop", "github.com")
    assert KnownSites(path).before("shop") == {"github.com"}
    assert KnownSites(path).before("another") == frozenset()


def test_without_a_file_it_is_known_as_long_as_the_program_runs():
    sites = KnownSites(None)
    sites.remember("shop", "github.com")
    assert sites.before("shop") == {"github.com"}
    assert KnownSites(None).before("shop") == frozenset()


def test_only_its_owner_can_read_it(path: Path):
    KnownSites(path).remember("shop", "github.com")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.fixture
def kept(tmp_path: Path, path: Path) -> Path:
    """A file elsewhere that stands in the place of ours, as people who carry their settings around have it."""
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "elsewhere" / "kept.json")
    return tmp_path / "elsewhere" / "kept.json"


def test_a_link_in_its_place_stays_a_link(path: Path, kept: Path):
    for domain in ("github.com", "example.com"):
        KnownSites(path).remember("shop", domain)
    assert path.is_symlink()
    assert KnownSites(kept).before("shop") == KnownSites(path).before("shop") == {"github.com", "example.com"}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_behind_a_link_it_is_the_broken_file_that_is_set_aside(path: Path, kept: Path):
    kept.parent.mkdir()
    kept.write_text("{")
    KnownSites(path).remember("shop", "github.com")
    assert path.is_symlink()
    assert kept.with_suffix(".broken").read_text() == "{"
    assert KnownSites(path).before("shop") == {"github.com"}


def test_a_link_that_leads_to_itself_is_no_error(path: Path):
    path.parent.mkdir(parents=True)
    path.symlink_to(path)
    assert KnownSites(path).before("shop") == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b'{"sites": []}',
        b'{"sites": {"a": "b"}}',
        b'{"sites": {"a": [1]}}',
        b"\xff\xfe",
        b"[" * 99_999,
    ],
    ids=lambda text: repr(text[:24]),
)
def test_a_broken_file_is_set_aside_and_a_new_one_begun(
    path: Path, text: bytes, caplog: pytest.LogCaptureFixture
):
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    sites = KnownSites(path)
    assert sites.before("shop") == frozenset()
    assert "is no list of sites" in caplog.text
    sites.remember("shop", "github.com")
    assert KnownSites(path).before("shop") == {"github.com"}
    assert path.with_suffix(".broken").read_bytes() == text


def test_a_place_that_cannot_be_written_costs_only_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "file").write_text("")
    sites = KnownSites(tmp_path / "file" / "sites.json")
    with caplog.at_level(logging.WARNING):
        sites.remember("shop", "github.com")
    assert "cannot be written" in caplog.text


def test_a_server_that_sends_everywhere_does_not_fill_the_disk(path: Path):
    sites = KnownSites(path)
    for number in range(MAX_DOMAINS + 5):
        sites.remember("shop", f"{number}.example")
    assert len(sites.before("shop")) == MAX_DOMAINS
    assert f"{MAX_DOMAINS + 4}.example" in sites.before("shop")


def test_the_oldest_servers_are_forgotten_first(path: Path):
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"sites": {str(number): ["a.example"] for number in range(MAX_SERVERS)}}))
    sites = KnownSites(path)
    sites.remember("new", "b.example")
    assert not sites.before("0") and sites.before("1") and sites.before("new")


def test_writers_at_the_same_time_lose_nothing(path: Path):
    def write(number: int) -> None:
        KnownSites(path).remember("shop", f"{number}.example")  # a lock of its own, as in another program

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, range(40)))
    assert len(KnownSites(path).before("shop")) == 40


def test_a_lock_that_is_never_given_back_stops_nobody(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sites_module, "LOCK_PAUSE_SECONDS", 0)
    path.parent.mkdir(parents=True)
    with path.with_suffix(".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        KnownSites(path).remember("shop", "github.com")
    assert KnownSites(path).before("shop") == {"github.com"}


def test_nothing_but_the_list_and_its_lock_is_left_behind(path: Path):
    KnownSites(path).remember("shop", "github.com")
    assert {file.name for file in path.parent.iterdir()} <= {"sites.json", "sites.lock"}


def test_it_is_kept_where_the_system_keeps_what_programs_remember(tmp_path: Path):
    assert path_of_user({"XDG_STATE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}) == (
        tmp_path / "askback" / "sites.json"
    )
    assert path_of_user({}).parts[-2:] == ("askback", "sites.json")


@pytest.mark.verifies("T30")
@pytest.mark.parametrize("relative", ["state", ".", "../state", ""])
def test_a_relative_place_is_ignored_since_a_cloned_folder_could_hold_it(relative: str):
    assert path_of_user({"XDG_STATE_HOME": relative, "LOCALAPPDATA": relative}) == path_of_user({})
