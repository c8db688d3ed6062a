"""From what an operator writes to a store."""

import time
from pathlib import Path

import pytest

from askback.errors import OperatorError
from askback.stores import MemoryStore, SQLiteStore, open_store


@pytest.mark.parametrize("written", [None, "memory:"])
def test_without_a_word_it_is_memory(written: str | None):
    assert isinstance(open_store(written, clock=time.time), MemoryStore)


def test_a_store_is_taken_as_it_is():
    store = MemoryStore()
    assert open_store(store, clock=time.time) is store


async def test_an_absolute_path_has_four_slashes(tmp_path: Path):
    store = open_store(f"sqlite:///{tmp_path}/askback.db", clock=time.time)
    assert isinstance(store, SQLiteStore)
    assert await store.count() == 0
    await store.close()
    assert (tmp_path / "askback.db").is_file()


async def test_a_relative_path_has_three_and_is_fixed_when_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///askback.db", clock=time.time)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert await store.count() == 0
    await store.close()
    assert (tmp_path / "askback.db").is_file()


def test_nothing_is_opened_before_it_is_used(tmp_path: Path):
    open_store(f"sqlite:///{tmp_path}/askback.db", clock=time.time)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("sqlite:", "three slashes"),
        ("sqlite://", "three slashes"),
        ("sqlite:///", "three slashes"),
        ("sqlite://askback.db", "three slashes"),
        ("askback.db", "no scheme"),
        ("redis://localhost", "no redis store in this version"),
        ("postgresql://localhost/askback", "no postgresql store in this version"),
        ("", "no scheme"),
    ],
)
def test_what_names_no_store_is_met_with_advice(written: str, advice: str):
    with pytest.raises(OperatorError, match=advice) as raised:
        open_store(written, clock=time.time)
    assert "sqlite:///relative/path.db" in str(raised.value)


@pytest.mark.parametrize("path", [":memory:", ""])
def test_a_database_without_a_file_is_refused(path: str):
    with pytest.raises(OperatorError, match="MemoryStore"):
        SQLiteStore(path)


def test_a_uri_in_place_of_a_path_is_refused():
    with pytest.raises(OperatorError, match="path alone"):
        SQLiteStore("file:askback.db?mode=memory")


@pytest.mark.parametrize("lease", [0.0, -1.0, float("inf"), float("nan")], ids=str)
def test_a_lease_must_be_some_seconds(lease: float):
    with pytest.raises(OperatorError, match="such as 15"):
        SQLiteStore("askback.db", lease=lease)
