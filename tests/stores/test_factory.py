"""From what an operator writes to a store."""

import re
import sys
import time
from pathlib import Path

import pytest

from askback.errors import OperatorError
from askback.stores import MemoryStore, SQLiteStore, open_store
from askback.stores.redis import RedisStore


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
        ("redis:localhost", "two slashes and a host"),
        ("postgresql:/localhost/askback", "two slashes and a host"),
        ("mysql://localhost", "no scheme"),
        ("postgresql+asyncpg://anna:secret@localhost/askback", r"leave out \+asyncpg"),
        ("sqlite+aiosqlite:///askback.db", r"leave out \+aiosqlite"),
        ("valkey://localhost", "write redis://"),
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


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("redis://localhost", "redis://localhost:6379/0 prefix='askback'"),
        ("redis://anna:secret@[::1]:7000/3?prefix=pizzeria", "redis://[::1]:7000/3 prefix='pizzeria'"),
        ("rediss://:secret@host?ssl_cert_reqs=none&db=2", "rediss://host:6379/2 prefix='askback'"),
        ("REDIS://localhost:7000", "redis://localhost:7000/0 prefix='askback'"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=1 prefix='askback'"),
    ],
)
def test_a_redis_is_named_by_its_url_and_its_password_by_nothing(written: str, name: str):
    store = open_store(written, clock=time.time)
    assert store.reach == "network"
    assert repr(store) == f"<RedisStore {name}>"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_a_postgres_is_named_by_its_url(scheme: str):
    store = open_store(f"{scheme}://askback:secret@localhost/askback", clock=time.time)
    assert store.reach == "network"
    assert "secret" not in repr(store)


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("redis://", "host is missing"),
        ("redis://:secret@host:port", "its port is no number"),
        ("redis://:secret/secret@host", "%2F is /"),
        ("redis://secret?x@host", "%2F is /"),
        ("redis://:x[secret@host", "%2F is /"),
        ("redis://:secret@host/kitchen", "number of a database"),
        ("redis://:secret@host?db=kitchen", "Invalid value for 'db'"),
        ("redis://:secret@host?maxconnections=3", "maxconnections= is not known here. There is db, prefix"),
        (
            "redis://:secret@host?ssl_ca_certs=ca.pem",
            "ssl_ca_certs= is not known here. It goes with rediss://",
        ),
        ("rediss://:secret@host?ssl_cert_reqs=maybe", "Invalid SSL Certificate Requirements"),
        ("redis://:secret@host?prefix={a}", "without spaces and braces"),
        ("unix://", "path of a socket"),
        ("redis:/:secret@host", "two slashes"),
        ("rdis://:secret@host", "no scheme"),
    ],
)
def test_what_names_no_redis_is_met_with_advice_and_gives_no_secret_away(written: str, advice: str):
    with pytest.raises(OperatorError, match=re.escape(advice)) as raised:
        open_store(written, clock=time.time)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("written", "driver", "extra"),
    [("redis://localhost", "redis", "redis"), ("postgresql://localhost/askback", "asyncpg", "postgres")],
)
def test_without_its_driver_a_store_says_what_to_install(
    written: str, driver: str, extra: str, monkeypatch: pytest.MonkeyPatch
):
    for module in [name for name in sys.modules if name.startswith(f"askback.stores.{extra}")]:
        monkeypatch.delitem(sys.modules, module)
    for module in [name for name in sys.modules if name.partition(".")[0] == driver]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(OperatorError, match=re.escape(f'pip install "askback[{extra}]"')):
        open_store(written, clock=time.time)


@pytest.mark.parametrize("lease", [0.0, -1.0, float("inf"), float("nan")], ids=str)
def test_a_lease_in_redis_must_be_some_seconds_too(lease: float):
    with pytest.raises(OperatorError, match="such as 15"):
        RedisStore("redis://localhost", lease=lease)
