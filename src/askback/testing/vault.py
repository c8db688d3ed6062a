"""A filled vault, for tests of tools that ask for secrets."""

import time
from collections.abc import Mapping
from secrets import token_bytes

from askback.model.owners import LOCAL
from askback.stores import MemoryStore
from askback.vault.keyring import KEY_BYTES, KeyRing
from askback.vault.vault import Vault, VaultItem


async def filled_vault(server: str, secrets: Mapping[str, str | Mapping[str, str]]) -> Vault:
    """A vault in memory with these secrets: `Askback(server, vault=await filled_vault(...))`.

    Args:
        server: the name of the server that will ask; each server has its own secrets.
        secrets: values by name; for a secret with several fields, a mapping of these.
    """
    vault = Vault(MemoryStore(clock=time.time), KeyRing([token_bytes(KEY_BYTES)]))
    room = vault.for_server(server)
    for name, value in secrets.items():
        await room.put(
            LOCAL, VaultItem("secret", name), {"value": value} if isinstance(value, str) else value
        )
    return vault
