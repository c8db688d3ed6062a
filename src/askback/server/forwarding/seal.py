"""What workers say to each other, sealed: without the keys nobody reads it, changes it, or says it again as new.

A question is one text. Its answer is a row of frames, each sealed with its number, so that none can be left out, put
elsewhere, or come from another answer. Both sides give chance to the key of an answer: no key seals two.
"""

import hmac
from collections.abc import Iterator, Sequence
from enum import IntEnum
from secrets import token_bytes
from typing import NamedTuple

from askback.model.aead import TAG_BYTES, AEADCipher, NotAuthentic

PURPOSE = b"askback workers 1"
"""With the number of this way of speaking: workers of another do not understand each other, and say so."""

SALT = 16
LENGTH = 4
"""Bytes before each frame that tell how long it is."""

MAX_FRAME_BYTES = 262_144
"""Bytes. A length is read before the seal is looked at, so it may not make anybody wait for more."""


class FrameKind(IntEnum):
    """What a frame of an answer is."""

    HERE = 1
    """This is the worker, and what the clock of its machine says; what was asked is begun."""
    STRANGER = 2
    """Not the worker that is meant, or it has no such session. Nothing was done."""
    LATE = 3
    """It came too late to be begun. Nothing was done."""
    HEARTBEAT = 4
    """Still at it."""
    START = 5
    """Status and headers."""
    BODY = 6
    END = 7


class Frame(NamedTuple):
    kind: FrameKind
    payload: bytes


class NotSealed(Exception):
    """It was not said by a worker with our keys, or not all of it."""


class ForwardingKeys:
    """The keys of all workers: the first seals, all open."""

    def __init__(self, keys: Sequence[bytes | bytearray | str]) -> None:
        raw = (key.encode() if isinstance(key, str) else bytes(key) for key in keys)
        self._secrets = tuple(hmac.digest(key, PURPOSE, "sha256") for key in raw)

    def has(self, heard: "ReceivedRequest") -> bool:
        """Whether it was sealed with one of these."""
        return heard.secret in self._secrets

    def seal(self, text: bytes) -> "SentRequest":
        salt = token_bytes(SALT)
        sealed = _cipher(self._secrets[0], b"question", salt).seal(text, number=0)
        return SentRequest(salt + sealed, self._secrets[0], salt)

    def open(self, sealed: bytes) -> "ReceivedRequest | None":
        """None for what was sealed with none of the keys."""
        salt, rest = sealed[:SALT], sealed[SALT:]
        for secret in self._secrets:
            try:
                return ReceivedRequest(_cipher(secret, b"question", salt).open(rest, number=0), secret, salt)
            except NotAuthentic:
                continue
        return None


class SentRequest(NamedTuple):
    """A question of ours, under way."""

    sealed: bytes
    secret: bytes
    salt: bytes

    def reader(self) -> "FrameReader":
        return FrameReader(self)


class ReceivedRequest(NamedTuple):
    """A question of another worker."""

    text: bytes
    secret: bytes
    salt: bytes

    def writer(self) -> "FrameWriter":
        return FrameWriter(self)


class FrameWriter:
    """Seals the frames of one answer, in order."""

    def __init__(self, heard: ReceivedRequest) -> None:
        salt = token_bytes(SALT)
        self._cipher = _cipher(heard.secret, b"answer", heard.salt + salt)
        self._number = 0
        self._first = salt

    def frame(self, kind: FrameKind, payload: bytes = b"") -> bytes:
        sealed = self._cipher.seal(bytes([kind]) + payload, number=self._number)
        self._number, first, self._first = self._number + 1, self._first, b""
        return first + len(sealed).to_bytes(LENGTH, "big") + sealed

    def body(self, payload: bytes) -> bytes:
        """As many frames as it takes."""
        pieces = (payload[at : at + MAX_FRAME_BYTES] for at in range(0, len(payload), MAX_FRAME_BYTES))
        return b"".join(self.frame(FrameKind.BODY, piece) for piece in pieces)


class FrameReader:
    """Opens the frames of one answer as their bytes come in."""

    def __init__(self, asked: SentRequest) -> None:
        self._asked = asked
        self._cipher: AEADCipher | None = None
        self._number = 0
        self._buffer = bytearray()

    def read(self, piece: bytes) -> Iterator[Frame]:
        """All frames that are whole now; raises `NotSealed`."""
        self._buffer += piece
        if self._cipher is None and len(self._buffer) >= SALT:
            self._cipher = _cipher(self._asked.secret, b"answer", self._asked.salt + self._take(SALT))
        while self._cipher is not None and len(self._buffer) >= LENGTH:
            length = int.from_bytes(self._buffer[:LENGTH], "big")
            if length > MAX_FRAME_BYTES + 1 + TAG_BYTES:
                raise NotSealed
            if len(self._buffer) < LENGTH + length:
                return
            yield self._opened(self._cipher, self._take(LENGTH + length)[LENGTH:])

    def _take(self, length: int) -> bytes:
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken

    def _opened(self, cipher: AEADCipher, sealed: bytes) -> Frame:
        try:
            text = cipher.open(sealed, number=self._number)
            self._number += 1
            return Frame(FrameKind(text[0]), text[1:])
        except (NotAuthentic, ValueError, IndexError) as error:
            raise NotSealed from error


def _cipher(secret: bytes, purpose: bytes, salt: bytes) -> AEADCipher:
    return AEADCipher(hmac.digest(secret, purpose + b" " + salt, "sha256"))
