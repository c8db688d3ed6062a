"""The seal of what workers send each other: without the keys nobody can read, change or repeat it.

A request is one sealed text. Its response is a row of frames, each sealed with its number, so that none can be left
out, moved, or taken from another response. Both sides add random bytes to the key of a response: no key is used twice.
"""

import hmac
from collections.abc import Iterator, Sequence
from enum import IntEnum
from secrets import token_bytes
from typing import NamedTuple

from askback.model.aead import TAG_BYTES, AEADCipher, NotAuthentic

PURPOSE = b"askback workers 1"
"""With the version of this format. Workers with another version cannot open it, and say so."""

SALT_BYTES = 16
LENGTH_BYTES = 4
"""Bytes before each frame that give its length."""

MAX_FRAME_BYTES = 262_144
"""A length is read before the seal is checked, so a forged one must not make the reader wait for more."""


class FrameKind(IntEnum):
    """What a frame of a response says."""

    HERE = 1
    """The worker has the session and begins the request. With its name, and the time on its clock."""
    STRANGER = 2
    """Another worker, or one without such a session. Nothing was done."""
    LATE = 3
    """The request came too late to be begun. Nothing was done."""
    HEARTBEAT = 4
    """The request is still being served."""
    START = 5
    """Status and headers."""
    BODY = 6
    END = 7


class Frame(NamedTuple):
    kind: FrameKind
    payload: bytes


class NotSealed(Exception):
    """It does not come from a worker with our keys, or was changed on the way."""


class SealedRequest(NamedTuple):
    """A request for another worker, or of one, with what the keys of its response are made from."""

    text: bytes
    sealed: bytes
    secret: bytes
    salt: bytes


class ForwardingKeys:
    """The keys that all workers share: the first seals, all open."""

    def __init__(self, keys: Sequence[bytes | bytearray | str]) -> None:
        raw = (key.encode() if isinstance(key, str) else bytes(key) for key in keys)
        self._secrets = tuple(hmac.digest(key, PURPOSE, "sha256") for key in raw)

    def has(self, request: SealedRequest) -> bool:
        """Whether the request was sealed with one of these keys."""
        return request.secret in self._secrets

    def seal(self, text: bytes) -> SealedRequest:
        secret, salt = self._secrets[0], token_bytes(SALT_BYTES)
        sealed = _cipher(secret, b"question", salt).seal(text, number=0)
        return SealedRequest(text, salt + sealed, secret, salt)

    def open(self, sealed: bytes) -> SealedRequest | None:
        """None for what was sealed with other keys."""
        salt = sealed[:SALT_BYTES]
        for secret in self._secrets:
            try:
                text = _cipher(secret, b"question", salt).open(sealed[SALT_BYTES:], number=0)
            except NotAuthentic:
                continue
            return SealedRequest(text, sealed, secret, salt)
        return None


class FrameWriter:
    """Seals the frames of one response, in order."""

    def __init__(self, request: SealedRequest) -> None:
        self._prefix = token_bytes(SALT_BYTES)
        self._cipher = _cipher(request.secret, b"answer", request.salt + self._prefix)
        self._number = 0

    def frame(self, kind: FrameKind, payload: bytes = b"") -> bytes:
        sealed = self._cipher.seal(bytes([kind]) + payload, number=self._number)
        self._number, prefix, self._prefix = self._number + 1, self._prefix, b""
        return prefix + len(sealed).to_bytes(LENGTH_BYTES, "big") + sealed

    def body(self, payload: bytes) -> bytes:
        """As many frames as the length needs."""
        pieces = (payload[at : at + MAX_FRAME_BYTES] for at in range(0, len(payload), MAX_FRAME_BYTES))
        return b"".join(self.frame(FrameKind.BODY, piece) for piece in pieces)


class FrameReader:
    """Opens the frames of one response as their bytes come in."""

    def __init__(self, request: SealedRequest) -> None:
        self._request = request
        self._cipher: AEADCipher | None = None
        self._number = 0
        self._buffer = bytearray()

    def read(self, piece: bytes) -> Iterator[Frame]:
        """All frames that are complete now. Raises `NotSealed`."""
        self._buffer += piece
        if self._cipher is None and len(self._buffer) >= SALT_BYTES:
            salt = self._request.salt + self._take(SALT_BYTES)
            self._cipher = _cipher(self._request.secret, b"answer", salt)
        while self._cipher is not None and len(self._buffer) >= LENGTH_BYTES:
            length = int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
            if length > MAX_FRAME_BYTES + 1 + TAG_BYTES:
                raise NotSealed
            if len(self._buffer) < LENGTH_BYTES + length:
                return
            sealed = self._take(LENGTH_BYTES + length)[LENGTH_BYTES:]
            try:
                text = self._cipher.open(sealed, number=self._number)
                frame = Frame(FrameKind(text[0]), text[1:])
            except (NotAuthentic, ValueError, IndexError) as error:
                raise NotSealed from error
            self._number += 1
            yield frame

    def _take(self, length: int) -> bytes:
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken


def _cipher(secret: bytes, purpose: bytes, salt: bytes) -> AEADCipher:
    return AEADCipher(hmac.digest(secret, purpose + b" " + salt, "sha256"))
