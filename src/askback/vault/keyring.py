"""How the vault encrypts: AES-GCM under the first key of a ring. A value is bound to its owner and name, so a row that
was moved to another owner does not open (T23)."""

import json
from collections.abc import Sequence
from hashlib import sha256

from askback.errors import VaultUnavailable
from askback.model.aead import AEADCipher, NotAuthentic

KEY_BYTES = 32
"""AES-256."""

_VERSION = b"\x01"
_ID_BYTES = 8


class KeyRing:
    """The first key seals; all open."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise VaultUnavailable(
                f"A vault needs at least one key, each of exactly {KEY_BYTES} bytes. `askback vault key` makes one."
            )
        self._ciphers = {_VERSION + _id_of(key): AEADCipher(key) for key in keys}
        self._current = next(iter(self._ciphers))

    def seal(self, value: bytes, *, owner: str, name: str) -> bytes:
        sealed = self._ciphers[self._current].seal(value, bound_to=_bound_to(owner, name))
        return self._current + sealed

    def open(self, row: bytes, *, owner: str, name: str) -> bytes:
        """The value. Raises `VaultUnavailable` if no key of the ring opens it, or if it belongs to another owner."""
        if not row.startswith(_VERSION):
            raise VaultUnavailable("A row of the vault is not one that this version of Askback wrote.")
        cipher = self._ciphers.get(row[: 1 + _ID_BYTES])
        if cipher is None:
            raise VaultUnavailable(
                "A row of the vault was sealed with a key that is not here. If the keys were changed since this server "
                "was started, start it again. If an old key was taken off too early, put it back behind the new one "
                "and run `askback vault rotate`. If it is lost, `askback vault forget` what it sealed."
            )
        try:
            return cipher.open(row[1 + _ID_BYTES :], bound_to=_bound_to(owner, name))
        except NotAuthentic as error:
            raise VaultUnavailable(
                "A row of the vault does not open: it was changed, or it was sealed for another owner."
            ) from error

    def is_current(self, row: bytes) -> bool:
        """Whether a row is sealed with the first key."""
        return row.startswith(self._current)


def _id_of(key: bytes) -> bytes:
    return sha256(b"askback vault key\0" + key).digest()[:_ID_BYTES]


def _bound_to(owner: str, name: str) -> bytes:
    return json.dumps([owner, name]).encode()
