"""The key ring: the first key seals, all open, and `rotate` seals with the first what others have sealed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.errors import VaultUnavailable
from askback.stores import MemoryStore
from askback.testing.store_contract.base import HOUR, Clock
from askback.vault.vault import RotationResult, Vault, VaultItem
from tests.support.vault_keys import ring

TOKEN = VaultItem("secret", "token")


def with_keys(vault: Vault, *names: str) -> Vault:
    """The same vault in the hands of a server with these keys."""
    return Vault(vault.store, ring(*names), clock=vault.clock).for_server("weather")


async def value_of(vault: Vault, owner: str = "ada", item: VaultItem = TOKEN) -> str | None:
    kept = await vault.get(owner, item)
    return None if kept is None else kept.values["value"]


async def test_a_key_is_replaced_step_by_step_and_nothing_is_lost(vault: Vault):
    old = with_keys(vault, "old")
    for owner in ("ada", "bob"):
        await old.put(owner, TOKEN, {"value": f"{owner}'s"})
    both = with_keys(vault, "new", "old")
    assert await value_of(both) == "ada's"
    assert await both.rotate() == RotationResult(sealed=2, unopened=0)
    assert await both.rotate() == RotationResult(sealed=0, unopened=0)
    new = with_keys(vault, "new")
    assert [await value_of(new, "ada"), await value_of(new, "bob")] == ["ada's", "bob's"]
    with pytest.raises(VaultUnavailable):
        await value_of(old)


async def test_what_is_put_after_the_change_is_sealed_with_the_new_key_at_once(vault: Vault):
    await with_keys(vault, "new", "old").put("ada", TOKEN, {"value": "fresh"})
    assert await value_of(with_keys(vault, "new")) == "fresh"


async def test_rotating_changes_neither_the_time_nor_the_version(vault: Vault, clock: Clock):
    old = with_keys(vault, "old")
    await old.put("ada", TOKEN, {"value": "ada's"}, until=clock.hence(HOUR))
    before = await old.get("ada", TOKEN)
    both = with_keys(vault, "new", "old")
    clock.advance(60)
    await both.rotate()
    assert await both.get("ada", TOKEN) == before
    clock.advance(HOUR)
    assert await value_of(both) is None


async def test_rows_that_no_key_opens_are_counted_and_left_as_they_are(vault: Vault):
    await with_keys(vault, "lost").put("ada", TOKEN, {"value": "ada's"})
    await with_keys(vault, "old").put("bob", TOKEN, {"value": "bob's"})
    assert await with_keys(vault, "new", "old").rotate() == RotationResult(sealed=1, unopened=1)
    assert await value_of(with_keys(vault, "lost")) == "ada's"


class Interrupted(MemoryStore):
    """Something else happens to each row just after it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Vault | None = None

    async def get(self, owner: str, name: str) -> bytes | None:
        row = await super().get(owner, name)
        if self.meanwhile is not None:
            vault, self.meanwhile = self.meanwhile, None
            await self.happen(vault)
        return row

    async def happen(self, vault: Vault) -> None:
        """What a server does meanwhile."""


class PutAnew(Interrupted):
    async def happen(self, vault: Vault) -> None:
        await vault.put("ada", TOKEN, {"value": "refreshed"})


class Forgotten(Interrupted):
    async def happen(self, vault: Vault) -> None:
        await vault.forget("ada", TOKEN)


@pytest.mark.parametrize(("kind", "left"), [(PutAnew, "refreshed"), (Forgotten, None)])
async def test_what_a_server_does_meanwhile_stands(kind: type[Interrupted], left: str | None):
    store = kind()
    old, both = Vault(store, ring("old")), Vault(store, ring("new", "old"))
    await old.put("ada", TOKEN, {"value": "former"})
    store.meanwhile = old
    assert (await both.rotate()).sealed == 0
    assert await value_of(both) == left


async def test_more_rows_than_one_page_of_the_store_are_all_rotated(vault: Vault):
    old = with_keys(vault, "old")
    for number in range(250):
        await old.put(f"owner {number % 7}", VaultItem("secret", f"token {number}"), {"value": "x"})
    assert (await with_keys(vault, "new", "old").rotate()).sealed == 250
    assert len(await with_keys(vault, "new").list_items()) == 250


NAMES = st.sampled_from(["one", "two", "three", "four"])


@given(
    rows=st.dictionaries(st.tuples(st.sampled_from("abc"), st.text(max_size=5)), NAMES, max_size=10),
    keys=st.lists(NAMES, min_size=1, max_size=4, unique=True),
)
async def test_after_a_rotation_the_first_key_opens_all_that_any_key_of_the_ring_opened(
    rows: dict[tuple[str, str], str], keys: list[str]
):
    store = MemoryStore()
    for (owner, name), sealed_with in rows.items():
        await Vault(store, ring(sealed_with)).put(owner, VaultItem("secret", name), {"value": name})
    rotated = await Vault(store, ring(*keys)).rotate()
    opened = [one for one in rows.values() if one in keys]
    assert rotated.sealed == sum(one != keys[0] for one in opened)
    assert rotated.unopened == len(rows) - len(opened)
    first = Vault(store, ring(keys[0]))
    for (owner, name), sealed_with in rows.items():
        if sealed_with in keys:
            assert await value_of(first, owner, VaultItem("secret", name)) == name
