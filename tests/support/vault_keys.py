"""Keys for tests, each known by a name."""

import base64
from hashlib import sha256

from askback.vault.keyring import KeyRing


def key(name: str) -> bytes:
    return sha256(name.encode()).digest()


def written(*names: str) -> str:
    """As operators write them."""
    return " ".join(base64.urlsafe_b64encode(key(name)).decode() for name in names)


def ring(*names: str) -> KeyRing:
    return KeyRing([key(name) for name in names])
