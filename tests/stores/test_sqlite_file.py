"""The file of a SQLite store: whose it is, who may read it, and what happens when it cannot be used."""

import os
import resource
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from askback.errors import StoreUnavailable
from askback.stores import EpochChanged, Finished, Granted, SQLiteStore
from askback.stores.sqlite import file

FAR = 4e9
"""A time beyond all tests."""

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "askback.db"


@contextmanager
def unprivileged() -> Generator[None]:
    """Permissions mean nothing to root: act as a user who owns nothing."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def content(path: Path) -> bytes:
    return path.read_bytes()


def move(path: Path, name: str) -> Path:
    return path.replace(path.with_name(name))


async def finish(store: SQLiteStore, key: str) -> None:
    claim = await store.claim(key, until=FAR)
    assert isinstance(claim, Granted)
    assert await store.record(claim, key.encode())


async def test_only_its_owner_can_read_the_file_and_its_companions(path: Path):
    store = SQLiteStore(path)
    await store.put("anna", "token", b"sealed")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == {"askback.db": 0o600, "askback.db-wal": 0o600, "askback.db-shm": 0o600}
    await store.close()


async def test_what_was_kept_is_there_for_the_next_process(path: Path):
    before = SQLiteStore(path)
    await finish(before, "order")
    await before.append(b"line")
    await before.close()
    after = SQLiteStore(path)
    assert await after.claim("order", until=FAR) == Finished(b"order")
    assert await after.append(b"another") == 2
    await after.close()


async def test_a_directory_that_is_missing_is_named_and_waited_for(tmp_path: Path):
    store = SQLiteStore(tmp_path / "missing" / "askback.db")
    with pytest.raises(StoreUnavailable, match="missing does not exist"):
        await store.count()
    (tmp_path / "missing").mkdir()
    assert await store.count() == 0
    await store.close()


async def test_a_file_that_is_no_database_is_left_alone(path: Path):
    write(path, b"Dear diary, " * 100)
    store = SQLiteStore(path)
    with pytest.raises(StoreUnavailable, match="not a database") as raised:
        await store.claim("order", until=FAR)
    assert "Name another file" in raised.value.advice
    assert content(path) == b"Dear diary, " * 100
    os.unlink(path)
    await finish(store, "order")
    await store.close()


async def test_a_database_of_another_program_is_left_alone(path: Path):
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE songs (title TEXT)")
    before = content(path)
    store = SQLiteStore(path)
    with pytest.raises(StoreUnavailable, match="belongs to another program"):
        await store.claim("order", until=FAR)
    await store.close()
    assert content(path) == before


async def test_a_file_of_a_newer_version_is_left_alone(path: Path):
    store = SQLiteStore(path)
    await store.count()
    await store.close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 7")
    with pytest.raises(StoreUnavailable, match=f"number 7, .* knows {len(file.STEPS)}") as raised:
        await store.count()
    assert "upgrade" in raised.value.advice
    await store.close()


async def test_a_file_of_an_older_version_is_brought_up_to_date(path: Path):
    with closing(sqlite3.connect(path)) as older:
        for statement in file.STEPS[0]:
            older.execute(statement)
        older.execute("INSERT INTO ledger (line) VALUES ('line')")
        older.execute(f"PRAGMA application_id = {file.APPLICATION}")
        older.execute("PRAGMA user_version = 1")
        older.commit()
    store = SQLiteStore(path)
    assert await store.append(b"another") == 2
    assert await store.epoch() != ""
    await store.close()


async def test_a_file_that_was_made_anew_is_another_memory(path: Path):
    store = SQLiteStore(path)
    epoch = await store.epoch()
    await store.close()
    assert await SQLiteStore(path).epoch() == epoch
    os.unlink(path)
    anew = SQLiteStore(path)
    assert await anew.claim("order", turn=1, until=FAR, epoch=epoch) == EpochChanged()
    assert await anew.epoch() != epoch
    await anew.close()


async def test_a_directory_nobody_may_write_to_is_named_with_what_to_do():
    place = Path(tempfile.mkdtemp())
    os.chmod(place, 0o555)
    try:
        with unprivileged():
            store = SQLiteStore(place / "askback.db")
            with pytest.raises(StoreUnavailable, match="Permission denied") as raised:
                await store.count()
        assert "write to the file and to its directory" in raised.value.advice
        await store.close()
    finally:
        os.chmod(place, 0o755)
        shutil.rmtree(place)


async def test_a_file_nobody_may_write_to_is_refused_until_somebody_may():
    place = Path(tempfile.mkdtemp())
    os.chmod(place, 0o755)
    path = place / "askback.db"
    try:
        store = SQLiteStore(path)
        await finish(store, "order")
        await store.close()
        os.chmod(path, 0o444)
        with unprivileged(), pytest.raises(StoreUnavailable) as raised:
            await store.claim("drink", until=FAR)
        assert "write to the file and to its directory" in raised.value.advice
        os.chmod(path, 0o600)
        await finish(store, "drink")
        await store.close()
    finally:
        shutil.rmtree(place)


async def test_a_file_that_is_moved_away_is_missed_and_when_it_is_back_all_is_well(path: Path):
    store = SQLiteStore(path)
    await finish(store, "order")
    away = move(path, "away.db")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="was there and is gone"):
            await store.claim("order", until=FAR)
    assert "askback.db" not in os.listdir(path.parent)
    move(away, path.name)
    assert await store.claim("order", until=FAR) == Finished(b"order")
    await finish(store, "drink")
    await store.close()


async def test_a_file_that_is_gone_after_the_first_call_is_not_made_anew(path: Path):
    store = SQLiteStore(path)
    await store.count()
    os.unlink(path)
    with pytest.raises(StoreUnavailable, match="was there and is gone"):
        await store.claim("order", until=FAR)
    assert "askback.db" not in os.listdir(path.parent)
    await store.close()


async def test_a_file_that_is_moved_away_is_missed_even_by_a_store_that_was_closed(path: Path):
    store = SQLiteStore(path)
    await finish(store, "order")
    await store.close()
    os.unlink(path)
    with pytest.raises(StoreUnavailable, match="was there and is gone"):
        await store.claim("order", until=FAR)
    await store.close()
    begun_anew = SQLiteStore(path)
    await finish(begun_anew, "order")
    await begun_anew.close()


async def test_an_empty_file_does_not_pass_for_the_one_that_was_there(path: Path):
    store = SQLiteStore(path)
    await finish(store, "order")
    away = move(path, "away.db")
    write(path, b"")
    with pytest.raises(StoreUnavailable, match="replaced by an empty one"):
        await store.claim("order", until=FAR)
    move(away, path.name)
    assert await store.claim("order", until=FAR) == Finished(b"order")
    await store.close()


async def test_a_lock_that_is_held_too_long_is_an_error_and_no_longer_once_it_is_free(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file, "BUSY_TIMEOUT", 0.05)
    store = SQLiteStore(path)
    await finish(store, "order")
    with closing(sqlite3.connect(path, isolation_level=None)) as shell:
        shell.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="database is locked") as raised:
            await store.claim("drink", until=FAR)
        assert "a shell left in a transaction" in raised.value.advice
        shell.execute("ROLLBACK")
    await finish(store, "drink")
    await store.close()


async def test_a_disk_without_room_is_an_error_and_no_longer_once_there_is_room(path: Path):
    store = SQLiteStore(path)
    claim = await store.claim("order", until=FAR)
    assert isinstance(claim, Granted)
    _soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(StoreUnavailable) as raised:
            await store.record(claim, bytes(1_000_000))
        assert "by itself" in raised.value.advice
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_soft, hard))
    assert await store.record(claim, bytes(1_000_000))
    assert await store.claim("order", until=FAR) == Finished(bytes(1_000_000))
    await store.close()


async def test_what_has_expired_goes_by_itself_as_calls_come_in(path: Path):
    now = [1000.0]
    store = SQLiteStore(path, clock=lambda: now[0])
    for number in range(200):
        await store.spend(f"key {number}", until=1060.0)
    now[0] = 2000.0
    with anyio.fail_after(10), closing(sqlite3.connect(path)) as shell:
        while shell.execute("SELECT count(*) FROM spent").fetchone() != (0,):
            await store.get("anybody", "anything")
            await anyio.lowlevel.checkpoint()
    await store.close()
