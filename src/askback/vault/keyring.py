"""How a value is sealed: AES-GCM under the first key of a ring, bound to its owner and name, so that a row that was
moved to somebody else does not open (T23)."""

import json
import os
from collections.abc import Sequence
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from askback.errors import VaultUnavailable

KEY_BYTES = 32
"""AES-256."""

_VERSION = b"\x01"
_ID_BYTES, _NONCE_BYTES = 8, 12


class KeyRing:
    """The first key seals; all open."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise VaultUnavailable(
                f"A vault needs at least one key, each of exactly {KEY_BYTES} bytes. `askback vault key` makes one."
            )
        self._ciphers = {_id_of(key): AESGCM(key) for key in keys}
        self._first = _id_of(keys[0])

    def seal(self, value: bytes, *, owner: str, name: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[self._first].encrypt(nonce, value, _bound_to(owner, name))
        return _VERSION + self._first + nonce + sealed

    def open(self, row: bytes, *, owner: str, name: str) -> bytes:
        """The value; raises `VaultUnavailable` where no key of the ring opens it, or it is not this owner's."""
        key_id, nonce, sealed = _parts(row)
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise VaultUnavailable(
                "A row of the vault was sealed with a key that is not here. If the keys were changed since this server "
                "was started, start it again. If an old key was taken off too early, put it back behind the new one "
                "and run `askback vault rotate`. If it is lost, `askback vault forget` what it sealed."
            )
        try:
            return cipher.decrypt(nonce, sealed, _bound_to(owner, name))
        except InvalidTag as error:
            raise VaultUnavailable(
                "A row of the vault does not open: it was changed, or it was sealed for somebody else."
            ) from error

    def is_current(self, row: bytes) -> bool:
        """Whether a row is sealed with the first key."""
        return row[: 1 + _ID_BYTES] == _VERSION + self._first


def _parts(row: bytes) -> tuple[bytes, bytes, bytes]:
    if row[:1] != _VERSION or len(row) <= 1 + _ID_BYTES + _NONCE_BYTES:
        raise VaultUnavailable("A row of the vault is not one that this version of Askback wrote.")
    key_id, rest = row[1 : 1 + _ID_BYTES], row[1 + _ID_BYTES :]
    return key_id, rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]


def _id_of(key: bytes) -> bytes:
    return sha256(b"askback vault key\0" + key).digest()[:_ID_BYTES]


def _bound_to(owner: str, name: str) -> bytes:
    return json.dumps([owner, name]).encode()
