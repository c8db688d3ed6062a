"""What a vault keeps, for how long, and what it says of it."""

from pathlib import Path

import pytest

from askback.stores import MemoryStore, SQLiteStore
from askback.testing.store_contract.base import HOUR, Clock
from askback.vault.factory import open_vault
from askback.vault.vault import MAX_REASON_LENGTH, REASON_KEPT, ItemSummary, Vault, VaultItem
from tests.support.vault_keys import ring

KEY = VaultItem("secret", "weather key")


def keyless(vault: Vault) -> Vault:
    """The same room, for whoever has other keys."""
    return Vault(vault.store, ring("another"), clock=vault.clock).for_server("weather")


async def version_of(vault: Vault) -> str:
    kept = await vault.get("ada", KEY)
    assert kept is not None
    return kept.version


async def test_what_was_kept_for_a_time_is_gone_after_it(vault: Vault, clock: Clock):
    await vault.put("ada", KEY, {"value": "1"}, until=clock.hence(HOUR))
    clock.advance(HOUR - 1)
    assert await vault.get("ada", KEY) is not None
    clock.advance(1)
    assert await vault.get("ada", KEY) is None
    assert await vault.list_items() == []
    assert not await vault.forget("ada", KEY)


@pytest.mark.verifies("T23")
async def test_whoever_can_write_to_the_store_makes_nothing_last_longer(vault: Vault, clock: Clock):
    await vault.put("ada", KEY, {"value": "1"}, until=clock.hence(HOUR))
    row = await vault.store.get("askback/vault/weather/ada", KEY.row)
    assert row is not None
    await vault.store.put("askback/vault/weather/ada", KEY.row, row)
    assert await vault.get("ada", KEY) is not None
    clock.advance(HOUR)
    assert await vault.get("ada", KEY) is None


async def test_what_is_taken_back_makes_room_for_what_was_there_for_the_rest_of_its_time(
    vault: Vault, clock: Clock
):
    until = clock.hence(HOUR)
    await vault.put("ada", KEY, {"value": "1"}, until=until)
    clock.advance(60)
    put = await vault.put_for_now("ada", KEY, {"value": "2"})
    assert await vault.take_back("ada", KEY, put)
    kept = await vault.get("ada", KEY)
    assert kept is not None and kept.values == {"value": "1"}
    assert (kept.put_at, kept.until) == (clock() - 60, until)
    assert not await vault.take_back("ada", KEY, put)
    clock.advance(HOUR - 60)
    assert await vault.get("ada", KEY) is None and await vault.list_items() == []


async def test_what_is_taken_back_leaves_nothing_where_nothing_was_or_its_time_is_over(
    vault: Vault, clock: Clock
):
    assert await vault.take_back("ada", KEY, await vault.put_for_now("ada", KEY, {"value": "1"}))
    assert await vault.list_items() == []
    await vault.put("ada", KEY, {"value": "1"}, until=clock.hence(HOUR))
    put = await vault.put_for_now("ada", KEY, {"value": "2"})
    clock.advance(HOUR)
    assert await vault.take_back("ada", KEY, put)
    assert await vault.list_items() == []


async def test_what_came_since_is_not_taken_back(vault: Vault):
    put = await vault.put_for_now("ada", KEY, {"value": "1"})
    later = await vault.put_for_now("ada", KEY, {"value": "2"})
    assert not await vault.take_back("ada", KEY, put)
    assert await version_of(vault) == later.version


async def test_what_no_key_opens_is_in_nobodys_way(vault: Vault):
    await keyless(vault).put("ada", KEY, {"value": "1"})
    put = await vault.put_for_now("ada", KEY, {"value": "2"})
    assert await version_of(vault) == put.version
    assert await vault.take_back("ada", KEY, put)
    assert await vault.list_items() == []


async def test_what_came_later_is_not_forgotten_for_what_was_there_before(vault: Vault):
    await vault.put("ada", KEY, {"value": "1"})
    former = await version_of(vault)
    await vault.put("ada", KEY, {"value": "1"})
    assert not await vault.forget("ada", KEY, version=former)
    await vault.reject("ada", KEY, "It was wrong.", version=former)
    assert await vault.rejection_reason("ada", KEY) == ""
    assert await vault.forget("ada", KEY, version=await version_of(vault))
    assert not await vault.forget("ada", KEY)


class TypedMeanwhile(MemoryStore):
    """Somebody types a new value just after the old one was looked at."""

    vault: Vault | None = None

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        if self.vault is not None:
            await self.vault.put("ada", KEY, {"value": "2"})
        return await super().replace(owner, name, former, value, until=until)


async def test_a_value_typed_at_the_moment_the_old_one_is_rejected_stays():
    store = TypedMeanwhile()
    vault = store.vault = Vault(store, ring("key"))
    await vault.put("ada", KEY, {"value": "1"})
    await vault.reject("ada", KEY, "It was wrong.", version=await version_of(vault))
    kept = await vault.get("ada", KEY)
    assert kept is not None and kept.values == {"value": "2"}
    assert await vault.rejection_reason("ada", KEY) == ""


REASONS = {
    "as it is": ("401 for hunter2/é", "401 for …"),
    "in an address": ("GET https://api.example/?key=hunter2%2F%C3%A9", "GET https://api.example/?key=…"),
    "with another that it holds": ("hunter2/é and hunter", "… and …"),
}


@pytest.mark.parametrize("where", REASONS)
async def test_a_reason_is_kept_without_the_values_in_it(vault: Vault, where: str):
    said, told = REASONS[where]
    await vault.put("ada", KEY, {"user": "hunter", "value": "hunter2/é", "more": ""})
    await vault.reject("ada", KEY, said, version=await version_of(vault))
    assert await vault.get("ada", KEY) is None
    assert await vault.rejection_reason("ada", KEY) == told
    assert await vault.rejection_reason("bob", KEY) == ""


async def test_a_reason_is_short_and_forgotten_in_time_and_with_the_next_value(vault: Vault, clock: Clock):
    for _ in range(2):
        await vault.put("ada", KEY, {"value": "1"})
        assert await vault.rejection_reason("ada", KEY) == ""
        await vault.reject("ada", KEY, "No. " * 1000, version=await version_of(vault))
        assert len(await vault.rejection_reason("ada", KEY)) == MAX_REASON_LENGTH
    clock.advance(REASON_KEPT)
    assert await vault.rejection_reason("ada", KEY) == ""


async def test_a_reason_whose_key_is_gone_is_no_reason_to_stop(vault: Vault):
    await vault.put("ada", KEY, {"value": "1"})
    await vault.reject("ada", KEY, "It was wrong.", version=await version_of(vault))
    assert await keyless(vault).rejection_reason("ada", KEY) == ""


async def test_notes_tell_names_and_times_of_one_owner_or_all(vault: Vault, clock: Clock):
    github, until = VaultItem("connection", "github"), clock.hence(HOUR)
    await vault.put("ada", KEY, {"value": "1"})
    clock.advance(60)
    await vault.put("ada", github, {"access_token": "2"}, until=until)
    await vault.put("adam", KEY, {"value": "3"})
    adas = [
        ItemSummary("weather", "ada", github, clock(), until),
        ItemSummary("weather", "ada", KEY, clock() - 60, None),
    ]
    assert await vault.list_items("ada") == adas
    assert await vault.list_items() == [*adas, ItemSummary("weather", "adam", KEY, clock(), None)]
    assert await vault.list_items("ad") == []


class Watched(MemoryStore):
    """Tells whose rows were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_of: set[str] = set()

    async def get(self, owner: str, name: str) -> bytes | None:
        self.read_of.add(owner)
        return await super().get(owner, name)


@pytest.mark.parametrize("server", ["weather", ""], ids=["in a room", "in all"])
async def test_to_list_what_one_owner_has_nothing_of_others_is_read(server: str):
    store = Watched()
    vault = Vault(store, ring("key"))
    room = vault.for_server("weather")
    for owner in ("ad", "ada", "adam", "bob", "weather/ada"):
        await room.put(owner, KEY, {"value": owner})
    store.read_of.clear()
    found = await (room if server else vault).list_items("ada")
    assert [note.owner for note in found] == ["ada"]
    assert store.read_of == {"askback/vault/weather/ada"}


async def test_what_no_key_opens_is_listed_all_the_same_and_can_be_forgotten(vault: Vault):
    await vault.put("ada", KEY, {"value": "1"})
    locked = keyless(vault)
    assert await locked.list_items() == [ItemSummary("weather", "ada", KEY, None, None)]
    assert await locked.forget("ada", KEY)
    assert await locked.list_items() == []


@pytest.mark.verifies("R28", "T23")
async def test_the_embedded_vault_is_for_its_owner_alone_and_its_file_tells_nothing(home: Path, clock: Clock):
    vault = open_vault(MemoryStore(clock=clock), is_local=True, clock=clock)
    await vault.put("ada", KEY, {"value": "hunter2-canary"})
    modes = modes_in(home)
    assert modes["home"] == 0o700
    assert modes["vault.db"] == modes["vault.keys"] == 0o600
    assert b"hunter2-canary" not in written_in(home)
    await vault.store.close()
    assert b"hunter2-canary" not in written_in(home)
    assert b"weather key" in written_in(home)


def modes_in(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in (folder, *folder.iterdir())}


def written_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_a_store_that_lasts_is_the_vault_and_no_file_is_made(home: Path, tmp_path: Path, clock: Clock):
    store = SQLiteStore(tmp_path / "tools.db", clock=clock)
    vault = open_vault(store, is_local=True, clock=clock)
    assert vault.store is store
    assert not (home / "vault.db").exists()
    await store.close()


async def test_what_one_server_kept_the_next_one_finds(clock: Clock):
    first = open_vault(MemoryStore(clock=clock), is_local=True, clock=clock)
    await first.put("ada", KEY, {"value": "1"})
    await first.store.close()
    second = open_vault(MemoryStore(clock=clock), is_local=True, clock=clock)
    kept = await second.get("ada", KEY)
    assert kept is not None and kept.values == {"value": "1"}
    assert "'1'" not in repr(kept)
    await second.store.close()


@pytest.mark.verifies("T23")
async def test_what_was_typed_for_one_server_is_not_there_for_another(vault: Vault, clock: Clock):
    weather, bank = vault.for_server("weather"), vault.for_server("bank/weather")
    await weather.put("ada", KEY, {"value": "1"})
    assert await bank.get("ada", KEY) is None
    assert await bank.list_items() == []
    assert not await bank.forget("ada", KEY)
    assert await weather.list_items("ada") == [ItemSummary("weather", "ada", KEY, clock(), None)]
    await bank.put("ada", KEY, {"value": "2"})
    whole = Vault(vault.store, ring("key"), clock=clock)
    assert [note.server for note in await whole.list_items()] == ["bank/weather", "weather"]
