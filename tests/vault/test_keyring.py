"""How values are sealed: for one owner, under one name, with one key."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from askback.errors import VaultUnavailable
from askback.stores import Store
from askback.vault import keyring
from askback.vault.keyring import KEY_BYTES, KeyRing
from askback.vault.vault import Vault, VaultItem
from tests.support.vault_keys import ring

TEXTS = st.text(max_size=20)


@given(value=st.binary(max_size=200), owner=TEXTS, name=TEXTS)
def test_what_is_sealed_opens_for_its_owner_under_its_name(value: bytes, owner: str, name: str):
    keys = ring("key")
    assert keys.open(keys.seal(value, owner=owner, name=name), owner=owner, name=name) == value


@pytest.mark.verifies("T23")
@given(sealed_for=st.tuples(TEXTS, TEXTS), opened_as=st.tuples(TEXTS, TEXTS))
def test_and_for_nobody_else_and_under_no_other_name(sealed_for: tuple[str, str], opened_as: tuple[str, str]):
    assume(sealed_for != opened_as)
    keys = ring("key")
    row = keys.seal(b"value", owner=sealed_for[0], name=sealed_for[1])
    with pytest.raises(VaultUnavailable, match="sealed for another owner"):
        keys.open(row, owner=opened_as[0], name=opened_as[1])


WEATHER, BANK = VaultItem("secret", "weather key"), VaultItem("secret", "bank password")

MOVES = {
    "to another owner": ("eve", WEATHER),
    "to another name": ("ada", BANK),
    "to another kind": ("ada", VaultItem("connection", "weather key")),
}


async def is_read_by(vault: Vault, owner: str, item: VaultItem) -> bool:
    """A thief who can write to the database puts Ada's row where it suits them, and has the server open it."""
    await vault.put("ada", WEATHER, {"value": "ada's"})
    row = await vault.store.get("askback/vault/weather/ada", WEATHER.row)
    assert row is not None
    await vault.store.put(f"askback/vault/weather/{owner}", item.row, row)
    try:
        kept = await vault.get(owner, item)
    except VaultUnavailable:
        return False
    return kept is not None and kept.values == {"value": "ada's"}


def bound_to_nobody(owner: str, name: str) -> bytes:
    return b""


@pytest.mark.verifies("T23", "R28")
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("defended", [True, False], ids=["as it is", "without the defence"])
async def test_a_row_that_was_moved_does_not_open(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, move: str, defended: bool
):
    if not defended:
        monkeypatch.setattr(keyring, "_bound_to", bound_to_nobody)
    owner, item = MOVES[move]
    assert await is_read_by(vault, owner, item) is not defended


@pytest.mark.verifies("T23")
def test_a_row_that_was_changed_anywhere_does_not_open():
    keys = ring("key")
    row = keys.seal(b"value", owner="ada", name="token")
    for place in range(len(row)):
        changed = row[:place] + bytes([row[place] ^ 1]) + row[place + 1 :]
        with pytest.raises(VaultUnavailable):
            keys.open(changed, owner="ada", name="token")
    for length in range(len(row)):
        with pytest.raises(VaultUnavailable):
            keys.open(row[:length], owner="ada", name="token")


def test_the_same_value_is_never_sealed_alike():
    keys = ring("key")
    assert len({keys.seal(b"value", owner="ada", name="token") for _ in range(100)}) == 100


@pytest.mark.parametrize("keys", [[], [b"short"], [bytes(KEY_BYTES), bytes(KEY_BYTES + 1)]])
def test_keys_of_another_length_are_refused_with_where_to_get_one(keys: list[bytes]):
    with pytest.raises(VaultUnavailable, match="`askback vault key` makes one"):
        KeyRing(keys)


async def test_without_its_key_a_vault_says_what_to_do(vault: Vault):
    await vault.put("ada", WEATHER, {"value": "ada's"})
    with pytest.raises(VaultUnavailable, match="put it back behind the new one"):
        await Vault(vault.store, ring("another")).for_server("weather").get("ada", WEATHER)


async def rows_of(store: Store) -> dict[tuple[str, str], bytes | None]:
    return {pair: await store.get(*pair) for pair in await store.rows(prefix="")}


@pytest.mark.verifies("T23", "R28")
async def test_no_row_of_the_store_holds_a_value_or_a_reason_in_the_clear(vault: Vault):
    await vault.put("ada", WEATHER, {"user": "ada@home", "value": "hunter2"})
    await vault.put("ada", BANK, {"value": "hunter2"})
    kept = await vault.get("ada", BANK)
    assert kept is not None
    await vault.reject("ada", BANK, "no account of that kind", version=kept.version)
    rows = await rows_of(vault.store)
    assert len(rows) == 2
    for row in rows.values():
        assert row is not None
        assert not any(word in row for word in (b"hunter2", b"ada@home", b"account"))
