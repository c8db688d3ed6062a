"""AES-GCM, the one way in which Askback encrypts: rows of the vault, long journals, messages between workers."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES, TAG_BYTES = 12, 16


class NotAuthentic(Exception):
    """A sealed text was changed, or another key sealed it."""


class AEADCipher:
    """Seals and opens texts with one key.

    A random nonce is put before each sealed text. With `number`, the number is the nonce and is not written down: the
    key must never seal two texts under one number.
    """

    def __init__(self, key: bytes) -> None:
        self._aead = AESGCM(key)

    def seal(self, text: bytes, *, number: int | None = None, bound_to: bytes = b"") -> bytes:
        """The sealed text, which opens only with the same number and `bound_to`."""
        if number is not None:
            return self._aead.encrypt(_nonce(number), text, bound_to)
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, text, bound_to)

    def open(self, sealed: bytes, *, number: int | None = None, bound_to: bytes = b"") -> bytes:
        """The text; raises `NotAuthentic`."""
        nonce = sealed[:NONCE_BYTES] if number is None else _nonce(number)
        try:
            return self._aead.decrypt(nonce, sealed[NONCE_BYTES:] if number is None else sealed, bound_to)
        except (InvalidTag, ValueError) as error:
            raise NotAuthentic from error


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE_BYTES, "big")
